package food

import (
	"context"
	"slices"
	"sort"
	"strings"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/text"
)

// finder finds the dish that a word means, on today's menu.
type finder struct {
	menu  Menu
	today Day
	all   []Dish // of the catalog, once it was needed
}

// find takes an id, a whole name in either language, or a part that only one dish has. Other words may stand around an id or
// a whole name; they come back, in pieces.
func (f *finder) find(ctx context.Context, word string) (Dish, []string, error) {
	word = strings.Join(strings.Fields(strings.ToValidUTF8(word, "")), " ")
	if word == "" {
		return Dish{}, nil, fault.New(fault.Invalid, "没有说明是哪道菜 / a dish has no name")
	}
	if d, ok := exact(f.today.Dishes, word); ok {
		return d, nil, nil
	}
	if f.all == nil {
		all, err := f.menu.All(ctx)
		if err != nil {
			return Dish{}, nil, err
		}
		f.all = all
	}
	if d, ok := exact(f.all, word); ok {
		return Dish{}, nil, f.notToday(d)
	}
	inside, pieces := named(slices.Concat(f.today.Dishes, f.all), word)
	if len(inside) == 1 {
		if d, ok := exact(f.today.Dishes, inside[0].ID); ok {
			return d, pieces, nil
		}
		return Dish{}, nil, f.notToday(inside[0])
	}
	if len(inside) > 1 {
		return Dish{}, nil, unclear(word, inside)
	}
	d, err := f.part(word)
	return d, nil, err
}

// part finds the one dish whose name has the word in it.
func (f *finder) part(word string) (Dish, error) {
	some := partial(f.today.Dishes, word)
	switch {
	case len(some) == 1:
		return some[0], nil
	case len(some) > 1:
		return Dish{}, unclear(word, some)
	}
	if other := partial(f.all, word); len(other) == 1 {
		return Dish{}, f.notToday(other[0])
	}
	return Dish{}, fault.New(fault.NotFound, "没有“%s”这道菜；今天有：%s / there is no dish %q; on today's menu: %s",
		word, namesZh(near(f.today.Dishes, word)), word, namesEn(near(f.today.Dishes, word)))
}

func unclear(word string, dishes []Dish) error {
	return fault.New(fault.Invalid, "“%s”可能是：%s。请说清楚是哪一道 / %q may be any of these, please say which", word, names(dishes), word)
}

func (f *finder) notToday(d Dish) error {
	var zh, en []string
	for _, n := range d.Weekdays {
		if n >= 1 && n <= 7 {
			zh, en = append(zh, text.WeekdayShortZh(n)), append(en, text.WeekdayEn(n))
		}
	}
	if len(zh) == 0 { // it is on no weekday
		return fault.New(fault.Invalid, "%s（%s）目前不在菜单上 / %s is not on the menu at present", d.Name, d.NameEn, d.NameEn)
	}
	return fault.New(fault.Invalid, "%s（%s）今天（%s）不供应，供应日：%s / %s is not on today's menu; it is on %s",
		d.Name, d.NameEn, f.today.WeekdayZh, strings.Join(zh, "、"), d.NameEn, strings.Join(en, ", "))
}

func exact(dishes []Dish, word string) (Dish, bool) {
	at := slices.IndexFunc(dishes, func(d Dish) bool {
		return strings.EqualFold(d.ID, word) || d.Name == word || strings.EqualFold(d.NameEn, word)
	})
	if at < 0 {
		return Dish{}, false
	}
	return dishes[at], true
}

// partial finds the dishes whose name has the word in it. Of several, the one that has the word for a tag or at
// the end of its English name is meant: rice is steamed rice and not a rice ball.
func partial(dishes []Dish, word string) []Dish {
	some := byName(dishes, word)
	if len(some) == 1 {
		return some
	}
	from := some
	if len(some) == 0 {
		from = dishes
	}
	tagged := slices.DeleteFunc(slices.Clone(from), func(d Dish) bool {
		return !slices.ContainsFunc(d.Tags, func(tag string) bool { return strings.EqualFold(tag, word) })
	})
	if len(tagged) == 1 {
		return tagged
	}
	last := slices.DeleteFunc(slices.Clone(some), func(d Dish) bool {
		return !strings.HasSuffix(strings.ToLower(d.NameEn), " "+strings.ToLower(word))
	})
	if len(last) == 1 {
		return last
	}
	return some
}

func byName(dishes []Dish, word string) []Dish {
	var out []Dish
	lower := strings.ToLower(word)
	for _, d := range dishes {
		name := strings.ToLower(d.NameEn)
		if text.HasHan(word) && strings.Contains(d.Name, word) || !text.HasHan(word) && hasWord(name, lower) {
			out = append(out, d)
		}
	}
	return out
}

// near gives up to five dishes, those with the most letters or words of the name first.
func near(dishes []Dish, word string) []Dish {
	shared := func(d Dish) int {
		n := 0
		for _, r := range word {
			if text.IsHan(r) && strings.ContainsRune(d.Name, r) {
				n++
			}
		}
		for _, w := range strings.Fields(strings.ToLower(word)) {
			if hasWord(strings.ToLower(d.NameEn), w) {
				n++
			}
		}
		return n
	}
	out := slices.Clone(dishes)
	sort.SliceStable(out, func(i, j int) bool { return shared(out[i]) > shared(out[j]) })
	return out[:min(5, len(out))]
}

func names(dishes []Dish) string {
	return listed(dishes, "、", func(d Dish) string { return d.Name + "（" + d.NameEn + "）" })
}

func namesZh(dishes []Dish) string {
	return listed(dishes, "、", func(d Dish) string { return d.Name })
}

func namesEn(dishes []Dish) string {
	return listed(dishes, ", ", func(d Dish) string { return d.NameEn })
}

func listed(dishes []Dish, between string, name func(Dish) string) string {
	out := make([]string, 0, len(dishes))
	for _, d := range dishes {
		out = append(out, name(d))
	}
	return strings.Join(out, between)
}
