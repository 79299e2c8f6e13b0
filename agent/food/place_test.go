package food

import (
	"encoding/json"
	"strings"
	"testing"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/text"
)

func orderOf(t *testing.T, raw string) orderArguments {
	t.Helper()
	var args orderArguments
	if err := json.Unmarshal([]byte(raw), &args); err != nil {
		t.Fatal(err)
	}
	return args
}

func TestPlace(t *testing.T) {
	t.Parallel()
	args := orderOf(t, `{"items":[
		{"dish":"food-001","quantity":1,"note":"不要辣"},
		{"dish":"STEAMED RICE","quantity":2},
		{"dish":"水煮牛肉","quantity":1,"note":"少油"},
		{"dish":"kung pao","quantity":1},
		{"dish":"来一份番茄炒蛋吧","quantity":3.0}],"note":" 快一点 "}`)
	got, err := quote(t.Context(), canteen(), args)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(got.Order)
	want := `{"lines":[` +
		`{"dishId":"food-001","name":"水煮牛肉","nameEn":"Sichuan boiled beef","quantity":2,"unitFen":3200,"amountFen":6400,"note":"1×不要辣；1×少油"},` +
		`{"dishId":"food-007","name":"米饭","nameEn":"Steamed rice","quantity":2,"unitFen":200,"amountFen":400,"note":""},` +
		`{"dishId":"food-002","name":"宫保鸡丁","nameEn":"Kung pao chicken","quantity":1,"unitFen":2600,"amountFen":2600,"note":""},` +
		`{"dishId":"food-004","name":"番茄炒蛋","nameEn":"Tomato and egg","quantity":3,"unitFen":1600,"amountFen":4800,"note":""}],` +
		`"totalFen":14200,"total":"142.00","date":"2026-11-29","note":"快一点"}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
	placed, _, err := place(t.Context(), canteen(), args)
	again, _ := json.Marshal(placed)
	if err != nil || string(again) != want {
		t.Errorf("placed is not what was quoted: %s, %v", again, err)
	}
	if flat, _ := json.Marshal(got); !strings.HasPrefix(string(flat), `{"lines":`) || !strings.Contains(string(flat), `"warnings":[]`) {
		t.Errorf("quote: got %s", flat)
	}
}

func TestQuote_warnings(t *testing.T) {
	t.Parallel()
	q, err := quote(t.Context(), canteen(), orderOf(t, `{"items":[{"dish":"水煮牛肉","quantity":1},{"dish":"米饭","quantity":1},{"dish":"宫保鸡丁","quantity":1}],
		"preferences":["用户不吃辣","对花生过敏"]}`))
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(q.Warnings)
	want := `[{"code":"spicy","dishId":"food-001","text":"水煮牛肉：您不吃辣，这道菜是辣的","textEn":"Sichuan boiled beef: You do not eat spicy food; this dish is spicy"},` +
		`{"code":"allergen","dishId":"food-002","text":"宫保鸡丁：您对花生过敏，这道菜含花生","textEn":"Kung pao chicken: You are allergic to peanut; this dish contains it"},` +
		`{"code":"spicy","dishId":"food-002","text":"宫保鸡丁：您不吃辣，这道菜是辣的","textEn":"Kung pao chicken: You do not eat spicy food; this dish is spicy"}]`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
}

func TestQuote_refuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args string
		code       fault.Code
		says       []string
	}{
		{"empty", `{"items":[]}`, fault.Invalid, []string{"empty"}},
		{"no_items", `{}`, fault.Invalid, []string{"empty"}},
		{"zero", `{"items":[{"dish":"水煮牛肉","quantity":0}]}`, fault.Invalid, []string{"水煮牛肉", "0", "20"}},
		{"negative", `{"items":[{"dish":"水煮牛肉","quantity":-1}]}`, fault.Invalid, []string{"水煮牛肉", "-1"}},
		{"fraction", `{"items":[{"dish":"水煮牛肉","quantity":2.5}]}`, fault.Invalid, []string{"水煮牛肉", "2.5"}},
		{"huge", `{"items":[{"dish":"水煮牛肉","quantity":100000000}]}`, fault.Invalid, []string{"水煮牛肉", "100000000"}},
		{"missing", `{"items":[{"dish":"水煮牛肉"}]}`, fault.Invalid, []string{"水煮牛肉"}},
		{"too_many_in_all", `{"items":[{"dish":"水煮牛肉","quantity":12},{"dish":"米饭","quantity":9}]}`, fault.Invalid, []string{"米饭", "20"}},
		{"unknown", `{"items":[{"dish":"佛跳墙","quantity":1}]}`, fault.NotFound, []string{"佛跳墙", "水煮牛肉"}},
		{"unknown_near", `{"items":[{"dish":"香辣牛肉面","quantity":1}]}`, fault.NotFound, []string{"土豆烧牛肉"}},
		{"no_name", `{"items":[{"dish":"  ","quantity":1}]}`, fault.Invalid, nil},
		{"ambiguous", `{"items":[{"dish":"牛肉","quantity":1}]}`, fault.Invalid, []string{"水煮牛肉", "土豆烧牛肉"}},
		{"ambiguous_en", `{"items":[{"dish":"chicken","quantity":1}]}`, fault.Invalid, []string{"Kung pao chicken", "Three-cup chicken"}},
		{"not_today", `{"items":[{"dish":"红烧肉","quantity":1}]}`, fault.Invalid, []string{"红烧肉", "周一、周三", "Monday, Wednesday"}},
		{"not_today_part", `{"items":[{"dish":"fried rice","quantity":1}]}`, fault.Invalid, []string{"Yangzhou fried rice", "Tuesday"}},
		{"sold_out", `{"items":[{"dish":"米饭","quantity":1},{"dish":"土豆烧牛肉","quantity":1},{"dish":"水煮牛肉","quantity":1}]}`, fault.Conflict, []string{"土豆烧牛肉", "sold out"}},
		{"too_few", `{"items":[{"dish":"三杯鸡","quantity":5}]}`, fault.Conflict, []string{"三杯鸡", "4"}},
		{"long_note", `{"items":[{"dish":"米饭","quantity":1,"note":"` + strings.Repeat("辣", 201) + `"}]}`, fault.Invalid, []string{"200"}},
	} {
		_, err := quote(t.Context(), canteen(), orderOf(t, c.args))
		if fault.CodeOf(err) != c.code {
			t.Errorf("%s: got %v (%s), want %s", c.name, err, fault.CodeOf(err), c.code)
		}
		for _, word := range c.says {
			if !strings.Contains(fault.MessageOf(err), word) {
				t.Errorf("%s: %q does not say %s", c.name, fault.MessageOf(err), word)
			}
		}
	}
}

func TestPlace_doesNotLookAtStock(t *testing.T) {
	t.Parallel()
	menu := canteen()
	menu.dishes[0].Stock = 0 // the portions of this very order are held, and so not in the figure
	o, _, err := place(t.Context(), menu, orderOf(t, `{"items":[{"dish":"水煮牛肉","quantity":5}]}`))
	if err != nil || o.TotalFen != 16000 {
		t.Errorf("got %+v, %v", o, err)
	}
}

func TestPlace_money(t *testing.T) {
	t.Parallel()
	menu := canteen()
	menu.dishes[0].PriceFen, menu.dishes[1].PriceFen = 1990, 10
	o, _, err := place(t.Context(), menu, orderOf(t, `{"items":[{"dish":"food-001","quantity":3},{"dish":"food-002","quantity":3}]}`))
	if err != nil || text.Yuan(o.Lines[0].AmountFen) != "59.70" || text.Yuan(o.Lines[1].AmountFen) != "0.30" || o.Total != "60.00" {
		t.Errorf("got %+v, %v", o, err)
	}
}
