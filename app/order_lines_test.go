package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agentmesh/agent/agui"
	"agentmesh/app/meshtest"
	"agentmesh/app/meshtest/llmstub"
)

// lines writes an order's lines as name*quantity(note), and behind a stroke the note on the whole of it.
func lines(o orderView) string {
	var out []string
	for _, l := range o.Lines {
		line := fmt.Sprintf("%s*%d", l.Name, l.Quantity)
		if l.Note != "" {
			line += "(" + l.Note + ")"
		}
		out = append(out, line)
	}
	return strings.TrimSuffix(strings.Join(out, " ")+"/"+o.Note, "/")
}

// order-numbers and order-without, from a person's sentence to the stored order: what was said is what is on the card
// and in the order, with the sum of it.
func TestOrderIsWhatWasSaid(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	for i, c := range []struct{ said, want, total string }{
		{"帮我订两份水煮牛肉。", "水煮牛肉*2", "64.00"},
		{"来一份水煮牛肉不要辣", "水煮牛肉*1(不要辣)", "32.00"},
		{"两份水煮牛肉不要辣和一份米饭", "水煮牛肉*2(不要辣) 米饭*1", "66.00"},
		{"来两份水煮牛肉，一份米饭，再来三份豆浆", "水煮牛肉*2 米饭*1 豆浆*3", "78.00"},
		{"来两份水煮牛肉和一份米饭，米饭不要了", "水煮牛肉*2", "64.00"},
		{"麻烦给我点一份水煮牛肉不要花生", "水煮牛肉*1(不要花生)", "32.00"},
		{"来俩米饭", "米饭*2", "4.00"},
		{"订十二份米饭", "米饭*12", "24.00"},
		{"Get me three Sichuan boiled beef, less spicy", "水煮牛肉*3(less spicy)", "96.00"},
	} {
		t.Run(c.said, func(t *testing.T) {
			user := fmt.Sprint("user-", i)
			talk := m.Say(user, "t", c.said)
			q := talk.Question()
			var card orderView
			if err := json.Unmarshal(q.Summary, &card); err != nil {
				t.Fatal(err)
			}
			talk.Decide("confirm", q)
			talk.Rest()
			list := orders(m, user)
			if len(list) != 1 || lines(list[0]) != c.want || list[0].Total != c.total || list[0].Status != "CONFIRMED" {
				t.Errorf("ordered %+v, want %s for %s", list, c.want, c.total)
			}
			if lines(card) != c.want || card.Total != c.total {
				t.Errorf("the card shows %s for %s, want %s for %s", lines(card), card.Total, c.want, c.total)
			}
		})
	}
	m.Stop()
	checkBooks(t, m.Dir)
}

// order-numbers: what is no whole number of portions is asked about or refused, in the person's language, and
// never taken for another number.
func TestOrderOfNoNumberIsNotGuessed(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	for said, want := range map[string]string{
		"来半份水煮牛肉": "没有半份", "来一份半水煮牛肉": "整", "来两三份水煮牛肉": "两三份", "来2.5份米饭": "整份",
		"I want half a Sichuan boiled beef": "Half portions cannot be ordered", "order 1.5 Sichuan boiled beef": "whole",
	} {
		talk := m.Ask("ann", "t-"+said, said)
		if strings.Contains(talk.Types(), agui.ConfirmationRequired) || !strings.Contains(talk.Text(), want) {
			t.Errorf("%s: said %q after %s, want %q and no card", said, talk.Text(), talk.Types(), want)
		}
	}
	if list := orders(m, "ann"); len(list) != 0 {
		t.Errorf("orders: %+v", list)
	}
}

// order-bounds, whatever a model makes of it: a call that cannot be an order is refused before a person is asked, with
// words that say what may be; one that can be is read as it is meant.
func TestOrderArgumentsOfAModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, args string
		says       string // of the refusal
		want       string // or the order's lines
	}{
		{"negative", `{"items":[{"dish":"水煮牛肉","quantity":-1}]}`, "quantity", ""},
		{"zero", `{"items":[{"dish":"水煮牛肉","quantity":0}]}`, "quantity", ""},
		{"one and a half", `{"items":[{"dish":"水煮牛肉","quantity":1.5}]}`, "quantity", ""},
		{"twenty-one", `{"items":[{"dish":"水煮牛肉","quantity":21}]}`, "quantity", ""},
		{"a thousand million", `{"items":[{"dish":"水煮牛肉","quantity":1e9}]}`, "quantity", ""},
		{"more than a number holds", `{"items":[{"dish":"水煮牛肉","quantity":1e999}]}`, "", ""},
		{"twenty-one in two lines", `{"items":[{"dish":"水煮牛肉","quantity":11},{"dish":"米饭","quantity":10}]}`, "20", ""},
		{"twenty-one of one dish in two lines", `{"items":[{"dish":"水煮牛肉","quantity":11},{"dish":"food-001","quantity":10}]}`, "20", ""},
		{"no quantity", `{"items":[{"dish":"水煮牛肉"}]}`, "quantity", ""},
		{"no dish", `{"items":[{"quantity":1}]}`, "dish", ""},
		{"an empty dish", `{"items":[{"dish":"","quantity":1}]}`, "dish", ""},
		{"an unknown dish", `{"items":[{"dish":"龙虾刺身","quantity":1}]}`, "龙虾刺身", ""},
		{"nothing", `{"items":[]}`, "items", ""},
		{"no items", `{}`, "items", ""},
		{"a note of 500 characters", `{"items":[{"dish":"水煮牛肉","quantity":1,"note":"` + strings.Repeat("辣", 500) + `"}]}`, "200", ""},
		{"a whole number with a point", `{"items":[{"dish":"水煮牛肉","quantity":2.0}]}`, "", "水煮牛肉*2"},
		{"the same dish with two notes", `{"items":[{"dish":"水煮牛肉","quantity":1,"note":"不要辣"},{"dish":"food-001","quantity":2,"note":"多放辣"}]}`, "", "水煮牛肉*3(1×不要辣；2×多放辣)"},
		{"a note on one of two", `{"items":[{"dish":"水煮牛肉","quantity":1,"note":"不要辣"},{"dish":"food-001","quantity":1}]}`, "", "水煮牛肉*2(1×不要辣)"},
		{"the same dish twice", `{"items":[{"dish":"水煮牛肉","quantity":1},{"dish":"Sichuan boiled beef","quantity":1}]}`, "", "水煮牛肉*2"},
		{"a note on all", `{"items":[{"dish":"米饭","quantity":1}],"note":"快一点"}`, "", "米饭*1/快一点"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			call := llmstub.ScriptCall{ID: "call-1", Name: "place_order", Arguments: json.RawMessage(c.args)}
			m := withStub(t, llmstub.Turn{Call: []llmstub.ScriptCall{call}}, llmstub.Turn{Say: "好了。"})
			talk := m.Say("ann", "t1", "下单")
			if c.want != "" {
				q := talk.Question()
				talk.Decide("confirm", q)
				talk.Rest()
				if list := orders(m, "ann"); len(list) != 1 || lines(list[0]) != c.want {
					t.Errorf("ordered %+v, want %s", list, c.want)
				}
				return
			}
			talk.Rest()
			result := talk.Results()["call-1"]
			if strings.Contains(talk.Types(), agui.ConfirmationRequired) || !strings.Contains(result, `"error"`) || !strings.Contains(result, c.says) {
				t.Errorf("the model got %s after %s, want a refusal that says %q, and no card", result, talk.Types(), c.says)
			}
			if list := orders(m, "ann"); len(list) != 0 {
				t.Errorf("orders: %+v", list)
			}
		})
	}
}
