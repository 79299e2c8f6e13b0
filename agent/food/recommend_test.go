package food

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"agentmesh/app/platform/fault"
)

func TestRecommend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		args          recommendArguments
		first         string                // the first pick, if one must be it
		never, always func(Dish, Pick) bool // of every pick
	}{
		{name: "not_spicy", args: recommendArguments{Preferences: []string{"用户不吃辣"}, Limit: numberOf(5)}, never: func(d Dish, _ Pick) bool { return d.Spicy }},
		{name: "not_spicy_en", args: recommendArguments{Preferences: []string{"does not eat spicy food"}, Limit: numberOf(5)}, never: func(d Dish, _ Pick) bool { return d.Spicy }},
		{name: "vegetarian", args: recommendArguments{Preferences: []string{"素食"}, Limit: numberOf(5)}, always: func(d Dish, _ Pick) bool { return d.Vegetarian }},
		{name: "allergy", args: recommendArguments{Preferences: []string{"allergic to peanuts"}, Limit: numberOf(5)}, never: func(d Dish, _ Pick) bool { return d.Name == "宫保鸡丁" }},
		{name: "likes_fish", args: recommendArguments{Preferences: []string{"喜欢吃鱼"}}, first: "清蒸鲈鱼"},
		{name: "likes_chicken", args: recommendArguments{Preferences: []string{"likes chicken, no spicy"}, Limit: numberOf(1)}, first: "三杯鸡"},
		{name: "in_stock", args: recommendArguments{Preferences: []string{"喜欢土豆"}, Limit: numberOf(5)}, never: func(d Dish, _ Pick) bool { return d.Stock == 0 }},
		{name: "query_soup", args: recommendArguments{Query: "来点汤"}, first: "冬瓜排骨汤", always: func(d Dish, _ Pick) bool { return d.isOf("汤") }},
		{name: "query_spicy", args: recommendArguments{Query: "something spicy"}, always: func(d Dish, _ Pick) bool { return d.Spicy }},
		{name: "query_beef", args: recommendArguments{Query: "牛肉"}, always: func(d Dish, _ Pick) bool { return d.isOf("牛肉") }},
		{name: "query_without", args: recommendArguments{Query: "不要鱼", Limit: numberOf(5)}, never: func(d Dish, _ Pick) bool { return d.isOf("鱼") }},
		{name: "light", args: recommendArguments{Preferences: []string{"口味清淡"}, Limit: numberOf(2)}, never: func(d Dish, _ Pick) bool { return d.Spicy }},
	} {
		r, err := recommend(t.Context(), canteen(), c.args)
		if err != nil || len(r.Recommendations) == 0 || r.Date != "2026-11-29" || r.Weekday != 7 {
			t.Errorf("%s: got %+v, %v", c.name, r, err)
			continue
		}
		if c.first != "" && r.Recommendations[0].Dish.Name != c.first {
			t.Errorf("%s: first is %s, want %s", c.name, r.Recommendations[0].Dish.Name, c.first)
		}
		for _, p := range r.Recommendations {
			if c.never != nil && c.never(p.Dish, p) || c.always != nil && !c.always(p.Dish, p) || p.Reason == "" || p.ReasonEn == "" {
				t.Errorf("%s: must not be picked: %+v", c.name, p)
			}
		}
	}
}

func TestRecommend_avoided(t *testing.T) {
	t.Parallel()
	r, err := recommend(t.Context(), canteen(), recommendArguments{Preferences: []string{"不吃辣", "对花生过敏"}})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(r.Avoided, func(a Avoided) bool { return a.ID == "food-001" })
	if at < 0 || r.Avoided[at].Reason != "您不吃辣，这道菜是辣的" || r.Avoided[at].ReasonEn != "You do not eat spicy food; this dish is spicy" {
		t.Errorf("boiled beef: got %+v", r.Avoided)
	}
	at = slices.IndexFunc(r.Avoided, func(a Avoided) bool { return a.ID == "food-002" })
	if at < 0 || r.Avoided[at].ReasonEn != "You are allergic to peanut; this dish contains it" {
		t.Errorf("kung pao chicken: got %+v", r.Avoided)
	}
	nothing, err := recommend(t.Context(), canteen(), recommendArguments{Preferences: []string{"吃素"}, Query: "牛肉"})
	raw, _ := json.Marshal(nothing.Recommendations)
	if err != nil || string(raw) != "[]" {
		t.Errorf("vegetarian beef: got %s, %v", raw, err)
	}
}

func TestRecommend_sameDaySamePicks(t *testing.T) {
	t.Parallel()
	one, err := recommend(t.Context(), canteen(), recommendArguments{})
	if err != nil || len(one.Recommendations) != 3 {
		t.Fatalf("got %+v, %v", one, err)
	}
	again, _ := recommend(t.Context(), canteen(), recommendArguments{})
	if !reflect.DeepEqual(one, again) {
		t.Error("two answers for one day")
	}
	differs := false
	for _, date := range []string{"2026-12-01", "2026-12-02", "2026-12-03", "2026-12-04", "2026-12-05"} {
		differs = differs || pick(slices.Clone(canteen().dishes), taste{}, date, 3)[0].ID != one.Recommendations[0].Dish.ID
	}
	if !differs {
		t.Error("every day the same dish")
	}
}

func TestRecommend_refuses(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"0", "6", "1.5", "-1"} {
		n := json.Number(limit)
		if _, err := recommend(t.Context(), canteen(), recommendArguments{Limit: &n}); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("limit %s: got %v", limit, err)
		}
	}
	if _, err := recommend(t.Context(), canteen(), recommendArguments{Day: "someday"}); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("day: got %v", err)
	}
	tomorrow, err := recommend(t.Context(), canteen(), recommendArguments{Day: "tomorrow"})
	if err != nil || tomorrow.Date != "2026-11-30" {
		t.Errorf("tomorrow: got %+v, %v", tomorrow, err)
	}
}
