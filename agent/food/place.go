package food

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/text"
)

const (
	maxPortions = 20  // of one order in all
	maxNote     = 200 // characters
)

// Order is the answer of place_order: ORDER_DATA.
type Order struct {
	Lines    []Line `json:"lines"`
	TotalFen int64  `json:"totalFen"`
	Total    string `json:"total"`
	Date     string `json:"date"`
	Note     string `json:"note"`
}

// Quote is the answer of quote_order.
type Quote struct {
	Order
	Warnings []Warning `json:"warnings"`
}

// Line is one dish of an order.
type Line struct {
	DishID    string `json:"dishId"`
	Name      string `json:"name"`
	NameEn    string `json:"nameEn"`
	Quantity  int    `json:"quantity"`
	UnitFen   int64  `json:"unitFen"`
	AmountFen int64  `json:"amountFen"`
	Note      string `json:"note"`
}

// Warning is something a person should know before they agree.
type Warning struct {
	Code   string `json:"code"`
	DishID string `json:"dishId"`
	Text   string `json:"text"`
	TextEn string `json:"textEn"`
}

type orderArguments struct {
	Items       []orderItem `json:"items"`
	Note        string      `json:"note"`
	Preferences []string    `json:"preferences"`
	Held        bool        `json:"held"` // the portions are reserved for this order already
}

type orderItem struct {
	Dish     string       `json:"dish"`
	Quantity *json.Number `json:"quantity"`
	Note     string       `json:"note"`
}

// quote prices an order and checks stock.
func quote(ctx context.Context, menu Menu, args orderArguments) (Quote, error) {
	order, dishes, err := place(ctx, menu, args)
	if err != nil {
		return Quote{}, err
	}
	out := Quote{Order: order, Warnings: []Warning{}}
	t := tasteOf(args.Preferences)
	for i, line := range order.Lines {
		d := dishes[i]
		switch {
		case args.Held:
		case d.Stock <= 0:
			return Quote{}, fault.New(fault.Conflict, "%s（%s）今天已售完 / %s is sold out today", d.Name, d.NameEn, d.NameEn)
		case line.Quantity > d.Stock:
			return Quote{}, fault.New(fault.Conflict, "%s（%s）只剩 %d 份 / only %d of %s left", d.Name, d.NameEn, d.Stock, d.Stock, d.NameEn)
		}
		for _, c := range t.conflicts(d) {
			out.Warnings = append(out.Warnings, Warning{c.code, d.ID, d.Name + "：" + c.zh, d.NameEn + ": " + c.en})
		}
	}
	return out, nil
}

// place works an order out against today's menu. It doesn't look at stock: when an order is placed, its portions are
// reserved and no longer in the menu's figure. The dishes are those of the lines.
func place(ctx context.Context, menu Menu, args orderArguments) (Order, []Dish, error) {
	if len(args.Items) == 0 {
		return Order{}, nil, fault.New(fault.Invalid, "订单是空的，请说明要哪道菜、几份 / the order is empty: say which dishes and how many portions")
	}
	today, err := menu.Day(ctx, "")
	if err != nil {
		return Order{}, nil, err
	}
	search := &finder{menu: menu, today: today}
	order := Order{Lines: []Line{}, Date: today.Date, Note: strings.TrimSpace(args.Note)}
	if err := checkNote(order.Note); err != nil {
		return Order{}, nil, err
	}
	var dishes []Dish
	var wishes [][]wish // of each dish
	portions := 0
	for _, item := range args.Items {
		d, rest, err := search.find(ctx, item.Dish)
		if err != nil {
			return Order{}, nil, err
		}
		n, err := portionsOf(item, d)
		if err != nil {
			return Order{}, nil, err
		}
		if portions += n; portions > maxPortions {
			return Order{}, nil, fault.New(fault.Invalid, "一次最多订 %d 份，加上%s（%s）就超了 / at most %d portions in all",
				maxPortions, d.Name, d.NameEn, maxPortions)
		}
		at := slices.IndexFunc(dishes, func(other Dish) bool { return other.ID == d.ID })
		if at < 0 {
			at, dishes, wishes = len(dishes), append(dishes, d), append(wishes, nil)
			order.Lines = append(order.Lines, Line{DishID: d.ID, Name: d.Name, NameEn: d.NameEn, UnitFen: d.PriceFen})
		}
		line := &order.Lines[at]
		line.Quantity += n
		line.AmountFen = line.UnitFen * int64(line.Quantity)
		wishes[at] = append(wishes[at], wish{n, joinNotes(noteOf(rest, n), strings.TrimSpace(item.Note))})
		if line.Note = noteOfAll(wishes[at]); checkNote(line.Note) != nil {
			return Order{}, nil, checkNote(line.Note)
		}
	}
	for _, line := range order.Lines {
		order.TotalFen += line.AmountFen
	}
	order.Total = text.Yuan(order.TotalFen)
	return order, dishes, nil
}

func portionsOf(item orderItem, d Dish) (int, error) {
	bad := func(got string) error {
		return fault.New(fault.Invalid, "%s（%s）的份数须为 1 到 %d 的整数，收到的是 %s / the quantity must be a whole number from 1 to %d",
			d.Name, d.NameEn, maxPortions, got, maxPortions)
	}
	if item.Quantity == nil {
		return 0, bad("空/none")
	}
	n, err := item.Quantity.Float64() // 2.0 is whole, too
	if err != nil || n < 1 || n > maxPortions || n != math.Trunc(n) {
		return 0, bad(item.Quantity.String())
	}
	return int(n), nil
}

// wish is what is noted for some portions of a dish.
type wish struct {
	portions int
	note     string
}

// noteOfAll makes one note of what was noted for portions of the same dish. Where that differs, it says for how many
// portions each note is: which one is without the nuts matters.
func noteOfAll(wishes []wish) string {
	var each []wish
	for _, w := range wishes {
		if i := slices.IndexFunc(each, func(e wish) bool { return e.note == w.note }); i >= 0 {
			each[i].portions += w.portions
			continue
		}
		each = append(each, w)
	}
	if len(each) == 1 {
		return each[0].note
	}
	var notes []string
	for _, w := range each {
		if w.note != "" {
			notes = append(notes, fmt.Sprintf("%d×%s", w.portions, w.note))
		}
	}
	return strings.Join(notes, "；")
}

func joinNotes(a, b string) string {
	switch {
	case a == "" || saysAll(b, a):
		return b
	case b == "" || saysAll(a, b):
		return a
	}
	return a + "；" + b
}

func checkNote(note string) error {
	if utf8.RuneCountInString(note) > maxNote {
		return fault.New(fault.Invalid, "备注最多 %d 个字 / a note has at most %d characters", maxNote, maxNote)
	}
	return nil
}
