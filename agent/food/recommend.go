package food

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"sort"
	"strings"

	"agentmesh/app/platform/fault"
)

const (
	defaultPicks = 3
	maxPicks     = 5
)

// Recommendation is the answer of recommend_food.
type Recommendation struct {
	Date            string    `json:"date"`
	Weekday         int       `json:"weekday"`
	Recommendations []Pick    `json:"recommendations"`
	Avoided         []Avoided `json:"avoided"`
}

// Pick is one recommended dish.
type Pick struct {
	Dish     Dish   `json:"dish"`
	Reason   string `json:"reason"`
	ReasonEn string `json:"reasonEn"`
}

// Avoided is a dish of the day that was left out for the person's sake.
type Avoided struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	NameEn   string `json:"nameEn"`
	Reason   string `json:"reason"`
	ReasonEn string `json:"reasonEn"`
}

type recommendArguments struct {
	Preferences []string     `json:"preferences"`
	Query       string       `json:"query"`
	Day         string       `json:"day"`
	Limit       *json.Number `json:"limit"`
}

// recommend picks dishes of a day's menu: in stock, nothing that the person does not eat, what they like first.
func recommend(ctx context.Context, menu Menu, args recommendArguments) (Recommendation, error) {
	limit := int64(defaultPicks)
	if args.Limit != nil {
		n, err := args.Limit.Int64()
		if err != nil || n < 1 || n > maxPicks {
			return Recommendation{}, fault.New(fault.Invalid, "limit must be a whole number from 1 to %d / limit 须为 1 到 %d 的整数", maxPicks, maxPicks)
		}
		limit = n
	}
	day, err := menu.Day(ctx, args.Day)
	if err != nil {
		return Recommendation{}, err
	}
	t := tasteOf(append(slices.Clone(args.Preferences), args.Query))
	out := Recommendation{Date: day.Date, Weekday: day.Weekday, Recommendations: []Pick{}, Avoided: []Avoided{}}
	var fit []Dish
	for _, d := range narrow(day.Dishes, args.Query, t) {
		if against := t.conflicts(d); len(against) > 0 {
			out.Avoided = append(out.Avoided, Avoided{d.ID, d.Name, d.NameEn, against[0].zh, against[0].en})
		} else if d.Stock > 0 {
			fit = append(fit, d)
		}
	}
	for _, d := range pick(fit, t, day.Date, int(limit)) {
		zh, en := t.reason(d)
		out.Recommendations = append(out.Recommendations, Pick{d, zh, en})
	}
	return out, nil
}

// narrow keeps the dishes that a query is about. A query that names no food at all narrows nothing.
func narrow(dishes []Dish, query string, t taste) []Dish {
	var tests []func(Dish) bool
	for _, g := range kindsIn(query) {
		term := g.zh[0]
		if refused := slices.ContainsFunc(append(slices.Clone(t.avoid), t.allergies...), func(other string) bool {
			known, ok := groupOf(other)
			return ok && known.zh[0] == term
		}); !refused {
			tests = append(tests, func(d Dish) bool { return d.isMainly(term) })
		}
	}
	if meatless := strings.Contains(query, "素菜"); meatless || t.vegetarian && strings.Contains(query, "素") {
		tests = []func(Dish) bool{func(d Dish) bool { return d.Vegetarian && (!meatless || d.Category == "vegetable") }}
	}
	if spicyWish(query) {
		tests = append(tests, func(d Dish) bool { return d.Spicy })
	}
	if len(tests) == 0 {
		word := strings.TrimSuffix(strings.TrimSpace(query), "的")
		named := func(d Dish) bool {
			zh, en := d.words()
			return strings.Contains(zh, word) || hasWord(en, strings.ToLower(word))
		}
		if word == "" || !slices.ContainsFunc(dishes, named) {
			return dishes
		}
		tests = append(tests, named)
	}
	return slices.DeleteFunc(slices.Clone(dishes), func(d Dish) bool {
		return !slices.ContainsFunc(tests, func(test func(Dish) bool) bool { return test(d) })
	})
}

// spicyWish tells whether a query asks for something hot.
func spicyWish(query string) bool {
	lower := strings.ToLower(query)
	if !strings.Contains(query, "辣") && !hasWord(lower, "spicy") {
		return false
	}
	return !tasteOf([]string{query}).noSpicy && !strings.Contains(query, "微辣")
}

// pick takes the best dishes, not twice of a category while there is another about as good. The same day and taste give the
// same picks.
func pick(dishes []Dish, t taste, date string, limit int) []Dish {
	scores := map[string]int{}
	for _, d := range dishes {
		scores[d.ID] = t.score(d) + chance(date, d.ID)
	}
	var out []Dish
	for len(out) < limit && len(dishes) > 0 {
		sort.SliceStable(dishes, func(i, j int) bool {
			a, b := scores[dishes[i].ID], scores[dishes[j].ID]
			return a > b || a == b && dishes[i].ID < dishes[j].ID
		})
		best := dishes[0]
		out, dishes = append(out, best), dishes[1:]
		for _, d := range dishes {
			if d.Category == best.Category {
				scores[d.ID] -= 6
			}
		}
	}
	return out
}

func (t taste) score(d Dish) int {
	score := 0
	switch d.Category {
	case "staple", "drink", "dessert":
		score -= 15
	case "soup":
		score -= 4
	}
	for _, term := range t.like {
		if d.isMainly(term) {
			score += 25
		}
	}
	if t.likesSpicy && d.Spicy {
		score += 12
	}
	if t.light {
		switch {
		case d.Category == "vegetable" || d.Category == "soup" || slices.Contains(d.Tags, "清淡"):
			score += 10
		case d.Spicy:
			score -= 20
		}
	}
	return score
}

// chance makes days differ, a little.
func chance(date, id string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(date + id)) // never fails
	return int(h.Sum32() % 10)
}

// reason says why a dish was picked.
func (t taste) reason(d Dish) (string, string) {
	var zh, en []string
	if t.noSpicy {
		zh, en = append(zh, "不辣"), append(en, "not spicy")
	}
	if t.likesSpicy && d.Spicy {
		zh, en = append(zh, "够辣，合您口味"), append(en, "spicy, as you like it")
	}
	if t.vegetarian {
		zh, en = append(zh, "素菜"), append(en, "vegetarian")
	}
	for _, term := range t.like {
		if d.isMainly(term) {
			nameZh, nameEn := termNames(term)
			zh, en = append(zh, "有您喜欢的"+nameZh), append(en, "has the "+nameEn+" you like")
		}
	}
	for _, term := range t.allergies {
		nameZh, nameEn := termNames(term)
		zh, en = append(zh, "未标注含"+nameZh), append(en, "no "+nameEn+" listed")
	}
	if t.light && !d.Spicy {
		zh, en = append(zh, "清淡"), append(en, "light")
	}
	if len(zh) == 0 {
		zh, en = append(zh, "今日供应"), append(en, "on the menu today")
	}
	return fmt.Sprintf("%s，余 %d 份", strings.Join(zh, "，"), d.Stock),
		fmt.Sprintf("%s, %d left", strings.Join(en, ", "), d.Stock)
}
