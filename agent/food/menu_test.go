package food

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/text"
)

// fakeMenu is a small canteen on 2026-11-29, a Sunday.
type fakeMenu struct {
	dishes []Dish
	err    error
}

func canteen() *fakeMenu {
	every := []int{1, 2, 3, 4, 5, 6, 7}
	dish := func(id, name, en, category string, fen int64, stock int, spicy, veg bool, days []int, allergens, tags []string) Dish {
		return Dish{
			ID: id, Name: name, NameEn: en, Category: category, PriceFen: fen, Price: text.Yuan(fen), Stock: stock,
			Spicy: spicy, Vegetarian: veg, Weekdays: days, Allergens: allergens, Tags: tags,
		}
	}
	return &fakeMenu{dishes: []Dish{
		dish("food-001", "水煮牛肉", "Sichuan boiled beef", "meat", 3200, 20, true, false, every, []string{"大豆"}, []string{"川菜", "麻辣"}),
		dish("food-002", "宫保鸡丁", "Kung pao chicken", "meat", 2600, 20, true, false, every, []string{"花生"}, []string{"川菜"}),
		dish("food-003", "清蒸鲈鱼", "Steamed sea bass", "seafood", 3800, 10, false, false, every, []string{"鱼"}, []string{"清淡"}),
		dish("food-004", "番茄炒蛋", "Tomato and egg", "vegetable", 1600, 30, false, true, every, []string{"鸡蛋"}, nil),
		dish("food-005", "清炒时蔬", "Stir-fried greens", "vegetable", 1400, 30, false, true, every, nil, []string{"清淡"}),
		dish("food-006", "麻婆豆腐", "Mapo tofu", "vegetable", 1800, 25, true, false, every, []string{"大豆"}, nil),
		dish("food-007", "米饭", "Steamed rice", "staple", 200, 60, false, true, every, nil, nil),
		dish("food-008", "土豆烧牛肉", "Braised beef with potatoes", "meat", 2800, 0, false, false, every, nil, nil),
		dish("food-009", "冬瓜排骨汤", "Winter melon and rib soup", "soup", 2200, 20, false, false, every, nil, []string{"清淡"}),
		dish("food-010", "酸梅汤", "Plum juice", "drink", 600, 40, false, true, every, nil, nil),
		dish("food-011", "三杯鸡", "Three-cup chicken", "meat", 2700, 4, false, false, every, nil, nil),
		dish("food-012", "鱼香肉丝", "Fish-fragrant shredded pork", "meat", 2400, 20, false, false, every, nil, nil),
		dish("food-013", "红烧肉", "Red-braised pork belly", "meat", 3000, 20, false, false, []int{1, 3}, nil, nil),
		dish("food-014", "扬州炒饭", "Yangzhou fried rice", "staple", 1500, 20, false, false, []int{2}, []string{"鸡蛋"}, nil),
	}}
}

func (m *fakeMenu) Day(_ context.Context, day string) (Day, error) {
	if m.err != nil {
		return Day{}, m.err
	}
	out := Day{Date: "2026-11-29", Weekday: 7, WeekdayZh: "星期日", WeekdayEn: "Sunday"}
	switch day {
	case "", "today":
	case "tomorrow", "明天":
		out = Day{Date: "2026-11-30", Weekday: 1, WeekdayZh: "星期一", WeekdayEn: "Monday"}
	default:
		return Day{}, fault.New(fault.Invalid, "day %q is not a day", day)
	}
	for _, d := range m.dishes {
		for _, n := range d.Weekdays {
			if n == out.Weekday {
				out.Dishes = append(out.Dishes, d)
			}
		}
	}
	return out, nil
}

func (m *fakeMenu) All(context.Context) ([]Dish, error) { return m.dishes, m.err }

type caller func(name string, args any) (json.RawMessage, error)

func (c caller) CallTool(_ context.Context, name string, args any) (json.RawMessage, error) {
	return c(name, args)
}

func TestMCPMenu(t *testing.T) {
	t.Parallel()
	var calls []string
	menu := NewMenu(caller(func(name string, args any) (json.RawMessage, error) {
		raw, err := json.Marshal(args)
		calls = append(calls, name+string(raw))
		return json.RawMessage(`{"date":"2026-11-29","weekday":7,"dishes":[{"id":"food-001","name":"水煮牛肉","priceFen":3200}],"total":1}`), err
	}))
	day, err := menu.Day(t.Context(), "")
	if err != nil || day.Weekday != 7 || day.Dishes[0].PriceFen != 3200 {
		t.Errorf("day: got %+v, %v", day, err)
	}
	if _, err := menu.Day(t.Context(), "tomorrow"); err != nil {
		t.Error(err)
	}
	if all, err := menu.All(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("all: got %+v, %v", all, err)
	}
	want := []string{`list_menu_by_day{}`, `list_menu_by_day{"day":"tomorrow"}`, `search_food_catalog{"limit":50}`}
	for i := range want {
		if calls[i] != want[i] {
			t.Errorf("call %d: got %s, want %s", i, calls[i], want[i])
		}
	}
	broken := NewMenu(caller(func(string, any) (json.RawMessage, error) {
		return nil, fault.Wrap(errors.New("dial"), fault.Unavailable, "the catalog cannot be reached")
	}))
	if _, err := broken.Day(t.Context(), ""); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("broken: got %v", err)
	}
}
