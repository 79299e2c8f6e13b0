package food

import (
	"fmt"
	"strings"
	"testing"

	"agentmesh/app/platform/fault"
)

func itemsText(items []orderItem) string {
	var out []string
	for _, i := range items {
		n := "?"
		if i.Quantity != nil {
			n = i.Quantity.String()
		}
		text := i.Dish + "*" + n
		if i.Note != "" {
			text += "(" + i.Note + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestUnderstand(t *testing.T) {
	t.Parallel()
	dishes := canteen().dishes
	for _, c := range []struct{ text, skill, items string }{
		// order-numbers
		{"帮我订一份水煮牛肉", SkillPlace, "水煮牛肉*1"},
		{"1份水煮牛肉", SkillPlace, "水煮牛肉*1"},
		{"来两份水煮牛肉", SkillPlace, "水煮牛肉*2"},
		{"米饭俩", SkillPlace, "米饭*2"},
		{"水煮牛肉，仨", SkillPlace, "水煮牛肉*3"},
		{"十二份米饭", SkillPlace, "米饭*12"},
		{"要二十份米饭", SkillPlace, "米饭*20"},
		{"来一打酸梅汤", SkillPlace, "酸梅汤*12"},
		{"再来一份水煮牛肉", SkillPlace, "水煮牛肉*1"},
		{"点一份水煮牛肉", SkillPlace, "水煮牛肉*1"},
		{"我想吃水煮牛肉", SkillPlace, "水煮牛肉*1"},
		{"水煮牛肉x2", SkillPlace, "水煮牛肉*2"},
		{"水煮牛肉2份，米饭3碗", SkillPlace, "水煮牛肉*2 米饭*3"},
		{"两份水煮牛肉一碗米饭", SkillPlace, "水煮牛肉*2 米饭*1"},
		{"水煮牛肉和米饭各两份", SkillPlace, "水煮牛肉*2 米饭*2"},
		{"一份水煮牛肉、两碗米饭，还有一杯酸梅汤", SkillPlace, "水煮牛肉*1 米饭*2 酸梅汤*1"},
		{"来一份三杯鸡", SkillPlace, "三杯鸡*1"},
		{"三杯鸡两份", SkillPlace, "三杯鸡*2"},
		{"food-001 两份", SkillPlace, "水煮牛肉*2"},
		{"水煮牛肉和米饭，各两份", SkillPlace, "水煮牛肉*2 米饭*2"},
		// order-without
		{"水煮牛肉不要辣", SkillPlace, "水煮牛肉*1(不要辣)"},
		{"宫保鸡丁不要花生", SkillPlace, "宫保鸡丁*1(不要花生)"},
		{"一份水煮牛肉，一碗米饭，米饭不要了", SkillPlace, "水煮牛肉*1"},
		{"水煮牛肉一份，不要米饭", SkillPlace, "水煮牛肉*1"},
		{"来一份宫保鸡丁，不要花生和葱，再来两碗米饭", SkillPlace, "宫保鸡丁*1(不要花生和葱) 米饭*2"},
		{"订一份少辣的水煮牛肉", SkillPlace, "水煮牛肉*1(少辣)"},
		{"水煮牛肉要两份，多放点香菜，谢谢", SkillPlace, "水煮牛肉*2(多放点香菜)"},
		// names that we do not know go on to the search, which names what there is
		{"来一份佛跳墙", SkillPlace, "佛跳墙*1"},
		{"来份牛肉", SkillPlace, "份牛肉*1"},
		{"帮我点两份牛肉，不要辣", SkillPlace, "牛肉*2(不要辣)"},
		// English
		{"Order one Sichuan boiled beef please", SkillPlace, "水煮牛肉*1"},
		{"I'd like two kung pao chicken without peanuts and three bowls of steamed rice", SkillPlace, "宫保鸡丁*2(without peanuts) 米饭*3"},
		{"a Mapo tofu and a dozen steamed rice", SkillPlace, "麻婆豆腐*1 米饭*12"},
		{"Can I get 2 boiled beef, no spice?", SkillPlace, "boiled beef*2(no spice)"},
		{"Tomato and egg x3", SkillPlace, "番茄炒蛋*3"},
		{"order two mapo tofu, no steamed rice", SkillPlace, "麻婆豆腐*2"},
		{"kung pao chicken and steamed rice, two each", SkillPlace, "宫保鸡丁*2 米饭*2"},
		{"hi, can I have the Mapo tofu and the Steamed rice? thanks", SkillPlace, "麻婆豆腐*1 米饭*1"},
		{"no peanuts in the kung pao chicken please", SkillPlace, "宫保鸡丁*1(no peanuts)"},
		{"不要花生的宫保鸡丁来一份", SkillPlace, "宫保鸡丁*1(不要花生)"},
		{"我不吃辣，来一份番茄炒蛋", SkillPlace, "番茄炒蛋*1(我不吃辣)"},
		{"来一份宫保鸡丁，我对花生过敏", SkillPlace, "宫保鸡丁*1(我对花生过敏)"},
		{"order one Kung pao chicken, I'm allergic to peanuts", SkillPlace, "宫保鸡丁*1(I'm allergic to peanuts)"},
		{"来一份没有花生的宫保鸡丁", SkillPlace, "宫保鸡丁*1(没有花生)"},
		{"来一份微辣水煮牛肉", SkillPlace, "水煮牛肉*1(微辣)"},
		{"来一份宫保鸡丁花生不要", SkillPlace, "宫保鸡丁*1(花生不要)"},
		{"order two mild Mapo tofu", SkillPlace, "麻婆豆腐*2(mild)"},
		{"来一份水煮牛肉打包", SkillPlace, "水煮牛肉*1(打包)"},
		{"中午订两份三杯鸡和两份米饭，米饭不要了，加一份麻婆豆腐", SkillPlace, "三杯鸡*2 麻婆豆腐*1"},
		{"不要米饭了，换成一份扬州炒饭", SkillPlace, "扬州炒饭*1"},
		{"帮我下单：宫保鸡丁 ×2（少盐），米饭 ×1", SkillPlace, "宫保鸡丁*2(少盐) 米饭*1"},
		// other skills
		{"两份水煮牛肉多少钱？", SkillQuote, "水煮牛肉*2"},
		{"How much are three steamed rice?", SkillQuote, "米饭*3"},
		{"结合我的偏好推荐一道菜", SkillRecommend, ""},
		{"今天吃什么好", SkillRecommend, ""},
		{"What should I eat today?", SkillRecommend, ""},
		{"今天有什么菜？", SkillMenu, ""},
		{"不要订餐，只看看菜单", SkillMenu, ""},
		{"Don't order anything, just show me the menu", SkillMenu, ""},
		{"show me the menu for monday", SkillMenu, ""},
	} {
		in := understand(c.text, dishes)
		if in.err != nil || in.question != "" {
			t.Errorf("%s: got error %v, question %q", c.text, in.err, in.question)
		}
		if in.skill != c.skill || itemsText(in.order.Items) != c.items {
			t.Errorf("%s: got %s %s, want %s %s", c.text, in.skill, itemsText(in.order.Items), c.skill, c.items)
		}
	}
}

func TestUnderstand_asksOrRefuses(t *testing.T) {
	t.Parallel()
	dishes := canteen().dishes
	for _, c := range []struct {
		text string
		asks bool
		code fault.Code
	}{
		{"来两三份水煮牛肉", true, ""},
		{"订几份米饭", true, ""},
		{"a few steamed rice please", true, ""},
		{"我要点餐", true, ""},
		{"你好", true, ""},
		{"hello", true, ""},
		{"来半份水煮牛肉", false, fault.Invalid},
		{"水煮牛肉2.5份", false, fault.Invalid},
		{"订-1份水煮牛肉", false, fault.Invalid},
		{"half a kung pao chicken please", false, fault.Invalid},
	} {
		in := understand(c.text, dishes)
		if (in.question != "") != c.asks || c.code != "" && fault.CodeOf(in.err) != c.code || c.code == "" && in.err != nil {
			t.Errorf("%s: got question %q, error %v, items %s", c.text, in.question, in.err, itemsText(in.order.Items))
		}
	}
}

func TestUnderstand_unknownDayIsNotToday(t *testing.T) {
	t.Parallel()
	for text, day := range map[string]string{
		"周八的菜单": "周八", "星期八有什么菜": "星期八", "2月30日的菜单": "2月30日", "2026-13-45的菜单": "2026-13-45", "上周五的菜单": "上周五",
		"show me the menu for Blursday": "blursday", "show me the menu for next Monday": "next monday", "今天的菜单": "", "菜单": "", "today's menu": "",
	} {
		if in := understand(text, nil); in.skill != SkillMenu || in.day != day {
			t.Errorf("%s: got %s on %q, want %q", text, in.skill, in.day, day)
		}
	}
}

func TestUnderstand_recommendation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, day, limit string }{
		{"推荐一道菜", "", "1"},
		{"明天推荐两个菜", "明天", "2"},
		{"推荐几道菜", "", "<nil>"},
		{"Recommend three dishes for tomorrow", "tomorrow", "3"},
		{"下周一吃什么", "下周一", "<nil>"},
		{"suggest a dish", "", "1"},
		{"推荐十道菜", "", "5"},
	} {
		in := understand(c.text, nil)
		limit := "<nil>"
		if in.wish.Limit != nil {
			limit = in.wish.Limit.String()
		}
		if got := fmt.Sprint(in.wish.Day, "|", limit); got != c.day+"|"+c.limit {
			t.Errorf("%s: got %s, want %s|%s", c.text, got, c.day, c.limit)
		}
	}
}
