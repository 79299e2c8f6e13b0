package food

import (
	"fmt"
	"strings"
	"testing"
)

func (t taste) String() string {
	var out []string
	for _, flag := range []struct {
		on   bool
		name string
	}{{t.noSpicy, "noSpicy"}, {t.likesSpicy, "likesSpicy"}, {t.vegetarian, "vegetarian"}, {t.light, "light"}} {
		if flag.on {
			out = append(out, flag.name)
		}
	}
	for _, list := range []struct {
		name  string
		terms []string
	}{{"allergic", t.allergies}, {"avoid", t.avoid}, {"like", t.like}} {
		if len(list.terms) > 0 {
			out = append(out, fmt.Sprint(list.name, list.terms))
		}
	}
	return strings.Join(out, " ")
}

func TestTasteOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"用户不吃辣":                                     "noSpicy",
		"我不能吃辣":                                     "noSpicy",
		"怕辣":                                        "noSpicy",
		"不怕辣":                                       "",
		"不太能吃辣的":                                    "noSpicy",
		"不喜欢太辣的菜":                                   "noSpicy",
		"来点不辣的":                                     "noSpicy",
		"喜欢吃辣":                                      "likesSpicy",
		"无辣不欢":                                      "likesSpicy",
		"不吃辣和香菜":                                    "noSpicy avoid[香菜]",
		"不吃香菜、葱、蒜":                                  "avoid[香菜 葱 蒜]",
		"不吃香菜，葱":                                    "avoid[香菜 葱]",
		"吃素":                                        "vegetarian",
		"我是素食者":                                     "vegetarian",
		"我不是素食者":                                    "",
		"不吃肉":                                       "vegetarian",
		"对花生过敏":                                     "allergic[花生]",
		"对花生和虾过敏":                                   "allergic[花生 虾]",
		"用户花生过敏":                                    "allergic[花生]",
		"对花生不过敏":                                    "",
		"对海鲜过敏，喜欢牛肉":                                "allergic[海鲜] like[牛肉]",
		"我喜欢吃鱼和豆腐":                                  "like[鱼 豆腐]",
		"口味清淡":                                      "light",
		"爱吃牛肉，但不吃羊肉":                                "avoid[羊肉] like[牛肉]",
		"does not eat spicy food":                   "noSpicy",
		"The user doesn't eat spicy food":           "noSpicy",
		"no spicy":                                  "noSpicy",
		"I can’t handle spicy food":                 "noSpicy",
		"nothing spicy please":                      "noSpicy",
		"loves spicy food":                          "likesSpicy",
		"vegetarian":                                "vegetarian",
		"I am not a vegetarian":                     "",
		"I'm vegan":                                 "vegetarian avoid[鸡蛋 奶制品]",
		"doesn't eat meat":                          "vegetarian",
		"allergic to peanuts":                       "allergic[peanuts]",
		"I am allergic to peanuts, shrimp and milk": "allergic[peanuts shrimp milk]",
		"has a peanut allergy":                      "allergic[peanut]",
		"not allergic to peanuts":                   "",
		"lactose intolerant":                        "allergic[lactose]",
		"likes beef and tofu":                       "like[beef tofu]",
		"likes fish but does not eat pork or lamb":  "avoid[pork lamb] like[fish]",
		"does not eat spicy food and is allergic to nuts": "noSpicy allergic[nuts]",
		"prefers light food":                              "light",
		"avoids cilantro":                                 "avoid[cilantro]",
		"":                                                "",
		"喜欢下午三点开会":                                        "like[下午三点开会]",
	} {
		if got := tasteOf([]string{text}).String(); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	if got := tasteOf([]string{"不吃辣", "能吃辣"}).String(); got != "" {
		t.Errorf("the later one wins: got %q", got)
	}
}

func TestDish_isOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dish, term string
		want       bool
	}{
		{"鱼香肉丝", "鱼", false},
		{"鱼香肉丝", "猪肉", true},
		{"番茄炒蛋", "鸡肉", false},
		{"番茄炒蛋", "egg", true},
		{"宫保鸡丁", "peanuts", true},
		{"宫保鸡丁", "坚果", true},
		{"清蒸鲈鱼", "seafood", true},
		{"清蒸鲈鱼", "fish", true},
		{"麻婆豆腐", "豆制品", true},
		{"水煮牛肉", "beef", true},
		{"米饭", "rice", true},
		{"米饭", "花生", false},
		{"土豆烧牛肉", "豆腐", false},
		{"冬瓜排骨汤", "汤", true},
		{"酸梅汤", "汤", false},
		{"水煮牛肉", "猪肉", false},
	} {
		for _, d := range canteen().dishes {
			if d.Name == c.dish && d.isOf(c.term) != c.want {
				t.Errorf("%s is %s: got %v", c.dish, c.term, !c.want)
			}
		}
	}
}
