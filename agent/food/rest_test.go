package food

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"agentmesh/app/platform/fault"
)

// lineOf orders one dish under a name, by quote and by place, which must agree.
func lineOf(t *testing.T, dish string, portions int) (Line, error) {
	t.Helper()
	n := numberOf(portions)
	args := orderArguments{Items: []orderItem{{Dish: dish, Quantity: n}}}
	quoted, err := quote(t.Context(), canteen(), args)
	placed, _, placeErr := place(t.Context(), canteen(), args)
	a, _ := json.Marshal(quoted.Order)
	b, _ := json.Marshal(placed)
	if fault.CodeOf(err) != fault.CodeOf(placeErr) || err == nil && string(a) != string(b) {
		t.Errorf("%s: quoted %s %v, placed %s %v", dish, a, err, b, placeErr)
	}
	if err != nil {
		return Line{}, err
	}
	return quoted.Lines[0], nil
}

func TestPlace_wordsAroundANameBecomeItsNote(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said     string
		portions int
		name     string
		note     string
	}{
		{"宫保鸡丁不要花生", 1, "宫保鸡丁", "不要花生"},
		{"不要花生的宫保鸡丁", 1, "宫保鸡丁", "不要花生"},
		{"一份没有花生的宫保鸡丁", 1, "宫保鸡丁", "没有花生"},
		{"宫保鸡丁（不要花生，少油）", 1, "宫保鸡丁", "不要花生，少油"},
		{"宫保鸡丁花生不要", 1, "宫保鸡丁", "花生不要"},
		{"宫保鸡丁不要花生来两份", 2, "宫保鸡丁", "不要花生"},
		{"我要少辣的水煮牛肉多放葱", 1, "水煮牛肉", "少辣；多放葱"},
		{"水煮牛肉辣一点", 1, "水煮牛肉", "辣一点"},
		{"水煮牛肉面", 1, "水煮牛肉", "面"},
		{"我对花生过敏 宫保鸡丁", 1, "宫保鸡丁", "对花生过敏"},
		{"两份水煮牛肉", 1, "水煮牛肉", "两份"},
		{"Kung pao chicken without peanuts", 1, "宫保鸡丁", "without peanuts"},
		{"Kung pao chicken without peanuts, please", 1, "宫保鸡丁", "without peanuts"},
		{"one kung pao chicken (no peanuts)", 1, "宫保鸡丁", "no peanuts"},
		{"no peanuts in the Kung pao chicken", 1, "宫保鸡丁", "no peanuts"},
		{"I'm allergic to peanuts: Kung pao chicken", 1, "宫保鸡丁", "I'm allergic to peanuts"},
		{"peanut-free Kung pao chicken", 1, "宫保鸡丁", "peanut-free"},
		{"No Kung pao chicken", 1, "宫保鸡丁", "No"},
		{"food-002 不要花生", 1, "宫保鸡丁", "不要花生"},
		{"水煮牛肉'; DROP TABLE orders;--", 1, "水煮牛肉", "DROP TABLE orders"},
		{"水煮牛肉 7", 1, "水煮牛肉", "7"},
		// Nothing but fillers, signs and the number of portions.
		{"水煮牛肉'--", 1, "水煮牛肉", ""},
		{"来一份番茄炒蛋吧", 3, "番茄炒蛋", ""},
		{"两份水煮牛肉", 2, "水煮牛肉", ""},
		{"水煮牛肉 x2", 2, "水煮牛肉", ""},
		{"two portions of Sichuan boiled beef please", 2, "水煮牛肉", ""},
		{"水煮牛肉（Sichuan boiled beef）", 1, "水煮牛肉", ""},
		{"《水煮牛肉》", 1, "水煮牛肉", ""},
	} {
		line, err := lineOf(t, c.said, c.portions)
		if err != nil || line.Name != c.name || line.Note != c.note || line.Quantity != c.portions {
			t.Errorf("%s: got %s × %d %q, %v; want %s %q", c.said, line.Name, line.Quantity, line.Note, err, c.name, c.note)
		}
	}
}

func TestPlace_twoNamesInOneAreRefused(t *testing.T) {
	t.Parallel()
	for said, dishes := range map[string][]string{
		"水煮牛肉和米饭":                            {"水煮牛肉", "米饭"},
		"宫保鸡丁不要米饭":                           {"宫保鸡丁", "米饭"},
		"Kung pao chicken with Steamed rice": {"宫保鸡丁", "米饭"},
		"米饭配红烧肉":                             {"米饭", "红烧肉"}, // one of them is not on today's menu
	} {
		_, err := lineOf(t, said, 1)
		if fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: got %v, want invalid", said, err)
		}
		for _, dish := range dishes {
			if !strings.Contains(fault.MessageOf(err), dish) {
				t.Errorf("%s: %q does not name %s", said, fault.MessageOf(err), dish)
			}
		}
	}
	if _, err := lineOf(t, "红烧肉不要葱", 1); fault.CodeOf(err) != fault.Invalid || !strings.Contains(fault.MessageOf(err), "周一") {
		t.Errorf("a dish of another day: got %v", err)
	}
}

func TestPlace_noteIsSaidOnce(t *testing.T) {
	t.Parallel()
	o, _, err := place(t.Context(), canteen(), orderOf(t, `{"items":[{"dish":"宫保鸡丁不要花生","quantity":1,"note":"不要花生，少油"}]}`))
	if err != nil || o.Lines[0].Note != "不要花生，少油" {
		t.Errorf("got %+v, %v", o.Lines, err)
	}
	_, _, err = place(t.Context(), canteen(), orderOf(t, `{"items":[{"dish":"宫保鸡丁`+strings.Repeat("不要花生", 60)+`","quantity":1}]}`))
	if fault.CodeOf(err) != fault.Invalid {
		t.Errorf("a note that is too long: got %v", err)
	}
}

func FuzzFind(f *testing.F) {
	for _, said := range []string{"宫保鸡丁不要花生", "x 宫保鸡丁'--", "no Kung pao chickens İ", "\xff米饭\xff一份", "两份米饭 2"} {
		f.Add(said, 2)
	}
	f.Fuzz(func(t *testing.T, said string, portions int) {
		menu := canteen()
		today, _ := menu.Day(context.Background(), "")
		search := &finder{menu: menu, today: today}
		d, pieces, err := search.find(t.Context(), "宫保鸡丁"+said)
		if err == nil && d.Name != "宫保鸡丁" {
			t.Errorf("%q: got %s", said, d.Name)
		}
		noteOf(pieces, portions)
	})
}
