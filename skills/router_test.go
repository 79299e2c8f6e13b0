package skills_test

import (
	"strings"
	"testing"

	"agentmesh/skills"
)

func builtin(t *testing.T) []skills.Manifest {
	t.Helper()
	all, err := skills.Builtin(false)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// names lists the routed skills by the last word of their ids.
func names(routed []skills.Routed) string {
	var out []string
	for _, r := range routed {
		out = append(out, strings.TrimPrefix(r.ID, "builtin."))
	}
	return strings.Join(out, " ")
}

const (
	all     = "basics food_service weather memory"
	canteen = "basics food_service"
	weather = "basics weather"
	memory  = "basics memory"
	suiting = "basics food_service memory"
)

// TestRoute_SampleQuestions holds every sample question of the requirements (D-18 to D-28), as it stands
// there and in other words. A question that needs two skills must get both.
func TestRoute_SampleQuestions(t *testing.T) {
	t.Parallel()
	tests := []struct{ rule, message, want string }{
		{"D-18", "你是谁？", all},
		{"D-18", "Who are you?", all},
		{"D-19", "现在几点？", all},
		{"D-19", "What time is it?", all},
		{"D-20", "今天食堂有什么菜？", canteen},
		{"D-20", "What is on the canteen's menu today?", canteen},
		{"D-20", "What dishes are there today?", canteen},
		{"D-21", "水煮牛肉多少钱，还有库存吗？", canteen},
		{"D-21", "How much is the Sichuan boiled beef, and is any left?", canteen},
		{"D-21", "Is food-001 still in stock?", canteen},
		{"D-22", "上海未来三天天气怎么样？", weather},
		{"D-22", "What will the weather be like in Shanghai for the next three days?", weather},
		{"D-22", "Do I need an umbrella in Hangzhou tomorrow?", weather},
		{"D-23", "记住我不吃辣。", memory},
		{"D-23", "Remember that I don't eat spicy things.", "basics food_service memory"},
		{"D-23", "Remember: nothing spicy for me.", memory},
		{"D-23", "我对花生过敏", memory},
		{"D-23", "I’m allergic to peanuts", memory},
		{"D-24", "结合我的偏好推荐一道菜。", suiting},
		{"D-24", "Recommend a dish that fits my preferences.", suiting},
		{"D-25", "今天上海天气怎么样，食堂有什么适合我的菜？", all},
		{"D-25", "How is the weather in Shanghai today, and which canteen dishes suit me?", all},
		{"D-26", "帮我订一份水煮牛肉。", canteen},
		{"D-26", "Order one Sichuan boiled beef for me.", canteen},
		{"D-26", "I'd like to order one boiled beef, please.", canteen},
		{"D-27", "今天上海天气怎么样，食堂有什么适合我的菜？如果有水煮牛肉，再帮我订一份。", all},
		{"D-27", "How's the weather in Shanghai today, and what in the canteen suits me? If there is boiled beef, order one for me too.", all},
		{"D-28", "水煮牛肉还有几份", canteen},
		{"D-28", "How many portions of boiled beef are left", canteen},
		{"D-28", "帮我推荐一道菜", suiting},
		{"D-28", "Recommend me a dish", suiting},
		{"D-28", "上海天气怎么样，今天食堂吃什么", "basics food_service weather"},
		{"D-28", "What's the weather like in Shanghai, and what's for lunch today?", "basics food_service weather"},
		{"D-56", "I like sweet things", memory},
		{"D-56", "I do not like coriander", memory},
		{"D-56", "忘掉我不吃辣这件事", memory},
	}
	for _, tt := range tests {
		t.Run(tt.rule+"/"+tt.message, func(t *testing.T) {
			t.Parallel()
			routed := skills.Route(builtin(t), tt.message, nil)
			if got := names(routed); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			for _, r := range routed {
				if r.Reason == "" {
					t.Errorf("%s has no reason", r.ID)
				}
			}
		})
	}
}

func TestRoute_Words(t *testing.T) {
	t.Parallel()
	manifests := []skills.Manifest{
		{ID: "on", AlwaysOn: true},
		{ID: "fix", Routing: skills.Routing{Keywords: []string{"patch", "hot fix", "don't break", "修补"}}},
		{ID: "other", Routing: skills.Routing{Keywords: []string{"other"}}},
	}
	tests := []struct {
		name, message string
		matches       bool
	}{
		{"whole_word", "please patch it", true},
		{"any_case", "PATCH!", true},
		{"at_both_ends", "patch", true},
		{"beside_chinese", "请patch一下", true},
		{"inside_another_word", "dispatch a patcher", false},
		{"second_occurrence_counts", "dispatch the patch", true},
		{"beside_a_digit", "patch2", false},
		{"several_words", "a hot fix now", true},
		{"words_apart", "a hot new fix", false},
		{"typographic_apostrophe", "DON’T break it", true},
		{"chinese_anywhere", "我要修补一下", true},
		{"chinese_apart", "修了再补", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := "on fix other" // the fall-back
			if tt.matches {
				want = "on fix"
			}
			if got := names(skills.Route(manifests, tt.message, nil)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestRoute_FallsBackToThePreviousTurn(t *testing.T) {
	t.Parallel()
	previous := []string{"builtin.basics", "builtin.weather"}
	for message, want := range map[string]string{"那明天呢？": weather, "And tomorrow?": weather, "今天的菜单": canteen} {
		if got := names(skills.Route(builtin(t), message, previous)); got != want {
			t.Errorf("%s: got %q, want %q", message, got, want)
		}
	}
	if got := names(skills.Route(builtin(t), "那明天呢？", []string{"builtin.basics"})); got != all {
		t.Errorf("only basics before: got %q, want all", got)
	}
}

// TestRoute_OffIsOff: a skill that is not enabled never comes out, whatever the message and the turn
// before say (D-29).
func TestRoute_OffIsOff(t *testing.T) {
	t.Parallel()
	var on []skills.Manifest
	for _, m := range builtin(t) {
		if m.ID != "builtin.weather" {
			on = append(on, m)
		}
	}
	for message, want := range map[string]string{
		"上海天气怎么样": suiting, "上海天气怎么样，今天食堂吃什么": canteen, "那明天呢": suiting,
	} {
		if got := names(skills.Route(on, message, []string{"builtin.weather"})); got != want {
			t.Errorf("%s: got %q, want %q", message, got, want)
		}
	}
	if got := skills.Route(nil, "今天的菜单", nil); len(got) != 0 {
		t.Errorf("got %q out of nothing", names(got))
	}
}
