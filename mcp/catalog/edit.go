package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/text"
)

// What a dish may be at most.
const (
	MaxStock    = 1_000_000
	MaxPriceFen = 10_000_000
	MaxEdits    = 2000

	maxNameText = 100  // characters
	maxLongText = 2000 // characters
	maxWords    = 50   // allergens, tags
)

// Edit changes a dish, or adds one whose id is new. What is not given stays as it is. Price is in yuan
// beside PriceFen in fen; Stock is what is on hand, held portions included; Add is put on top of it.
type Edit struct {
	Place         string    `json:"place,omitempty"` // where it stands in a file, for messages
	ID            string    `json:"id"`
	Name          *string   `json:"name,omitempty"`
	NameEn        *string   `json:"nameEn,omitempty"`
	Category      *Category `json:"category,omitempty"`
	Description   *string   `json:"description,omitempty"`
	DescriptionEn *string   `json:"descriptionEn,omitempty"`
	PriceFen      *int64    `json:"priceFen,omitempty"`
	Price         *string   `json:"price,omitempty"`
	Stock         *int      `json:"stock,omitempty"`
	Add           *int      `json:"add,omitempty"`
	Spicy         *bool     `json:"spicy,omitempty"`
	Vegetarian    *bool     `json:"vegetarian,omitempty"`
	Allergens     []string  `json:"allergens,omitzero"`
	Tags          []string  `json:"tags,omitzero"`
	Weekdays      []int     `json:"weekdays,omitzero"`
}

// Change is what an edit does to a dish.
type Change struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Added  bool    `json:"added"`
	Held   int     `json:"held"`
	Fields []Field `json:"fields"` // empty: everything is so already

	// Before and After are the dish as everybody sees it.
	Before Dish `json:"-"`
	After  Dish `json:"-"`
}

// Field is one thing that changes, as text: prices in yuan.
type Field struct {
	Name string `json:"field"`
	From string `json:"from,omitempty"`
	To   string `json:"to"`
}

var dishID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

// Plan works out what edits do to a catalog. Every mistake is reported, each with its place; then nothing
// is to be done.
func Plan(now []Shelf, edits []Edit) ([]Change, error) {
	p := plan{shelves: map[string]Shelf{}, seen: map[string]string{}}
	for _, s := range now {
		p.shelves[s.ID] = s
	}
	if len(edits) > MaxEdits {
		return nil, fault.New(fault.TooLarge, "%d dishes are more than %d at once", len(edits), MaxEdits)
	}
	for i, e := range edits {
		p.edit(e, cmp.Or(e.Place, "dish "+strconv.Itoa(i+1)))
	}
	p.checkNames()
	if len(p.wrong) > 0 {
		return nil, fault.New(fault.Invalid, "%s", strings.Join(p.wrong, "\n"))
	}
	return p.changes, nil
}

// plan is a catalog while edits are worked into it.
type plan struct {
	shelves map[string]Shelf
	seen    map[string]string // id → place
	changes []Change
	wrong   []string
}

func (p *plan) edit(e Edit, place string) {
	if e.ID != "" {
		place += " (" + e.ID + ")"
	}
	say := func(format string, args ...any) { p.wrong = append(p.wrong, place+": "+fmt.Sprintf(format, args...)) }
	if !dishID.MatchString(e.ID) {
		say("an id is 1 to 100 letters, digits and ._-")
		return
	}
	if first, twice := p.seen[e.ID]; twice {
		say("the same dish stands at %s already", first)
		return
	}
	p.seen[e.ID] = place
	before, known := p.shelves[e.ID]
	if !known {
		e.complete(say)
	}
	after := e.applied(before, say)
	e.check(after, say)
	p.shelves[e.ID] = after
	p.changes = append(p.changes, Change{
		ID: e.ID, Name: after.Name, Added: !known, Held: before.Held, Fields: compare(before, after, known),
		Before: before.Dish(), After: after.Dish(),
	})
}

// complete finds what a new dish lacks.
func (e Edit) complete(say func(string, ...any)) {
	var lacks []string
	for _, f := range []struct {
		name  string
		there bool
	}{
		{"name", e.Name != nil},
		{"nameEn", e.NameEn != nil},
		{"category", e.Category != nil},
		{"price", e.PriceFen != nil || e.Price != nil},
		{"stock", e.Stock != nil},
		{"weekdays", e.Weekdays != nil},
	} {
		if !f.there {
			lacks = append(lacks, f.name)
		}
	}
	if len(lacks) > 0 {
		say("no dish has this id, and a new one needs %s", strings.Join(lacks, ", "))
	}
}

func (e Edit) applied(to Shelf, say func(string, ...any)) Shelf {
	to.ID = e.ID
	set(&to.Name, e.Name)
	set(&to.NameEn, e.NameEn)
	set(&to.Category, e.Category)
	set(&to.Description, e.Description)
	set(&to.DescriptionEn, e.DescriptionEn)
	set(&to.PriceFen, e.PriceFen)
	set(&to.Stock, e.Stock)
	set(&to.Spicy, e.Spicy)
	set(&to.Vegetarian, e.Vegetarian)
	if e.Price != nil {
		fen, err := text.Fen(*e.Price)
		switch {
		case err != nil:
			say("price: %v", err)
		case e.PriceFen != nil && *e.PriceFen != fen:
			say("price: %s yuan are not priceFen %d; give one of them", *e.Price, *e.PriceFen)
		default:
			to.PriceFen = fen
		}
	}
	if e.Add != nil {
		to.Stock += min(*e.Add, MaxStock+1)
	}
	for _, list := range []struct{ to, from *[]string }{{&to.Allergens, &e.Allergens}, {&to.Tags, &e.Tags}} {
		if *list.from != nil {
			*list.to = *list.from
		}
	}
	if e.Weekdays != nil {
		to.Weekdays = e.Weekdays
	}
	return NewShelf(to.Dish(), to.Held)
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// check finds what a dish cannot be.
func (e Edit) check(s Shelf, say func(string, ...any)) {
	for _, f := range []struct {
		name  string
		value *string
	}{{"name", e.Name}, {"nameEn", e.NameEn}} {
		if f.value != nil && (*f.value == "" || strings.TrimSpace(*f.value) != *f.value || len([]rune(*f.value)) > maxNameText) {
			say("%s: it is 1 to %d characters, without spaces around it", f.name, maxNameText)
		}
	}
	for _, words := range append([]string{s.Name, s.NameEn, s.Description, s.DescriptionEn}, append(s.Allergens, s.Tags...)...) {
		if strings.ContainsFunc(words, unicode.IsControl) {
			say("%q: it holds a control character", words)
		}
	}
	if e.Category != nil && e.Category.Words() == nil {
		say("category: %q is none of meat, seafood, vegetable, staple, soup, drink, dessert", *e.Category)
	}
	if len([]rune(s.Description)) > maxLongText || len([]rune(s.DescriptionEn)) > maxLongText {
		say("description: it is longer than %d characters", maxLongText)
	}
	if s.PriceFen < 0 || s.PriceFen > MaxPriceFen {
		say("price: %s is not from 0 to %s yuan", text.Yuan(s.PriceFen), text.Yuan(MaxPriceFen))
	}
	switch {
	case s.Stock < 0 || s.Stock > MaxStock:
		say("stock: %d is not from 0 to %d", s.Stock, MaxStock)
	case s.Stock < s.Held:
		say("stock: %d portions on hand are fewer than the %d that are held for open questions", s.Stock, s.Held)
	}
	if len(s.Allergens) > maxWords || len(s.Tags) > maxWords {
		say("allergens, tags: there are more than %d", maxWords)
	}
	for i, day := range s.Weekdays {
		if day < 1 || day > 7 || slices.Contains(s.Weekdays[:i], day) {
			say("weekdays: they are numbers from 1 (Monday) to 7, each once; got %v", s.Weekdays)
			break
		}
	}
}

// checkNames finds two dishes with one name; orders are placed by name.
func (p *plan) checkNames() {
	owner := map[string]string{}
	for _, id := range slices.Sorted(maps.Keys(p.shelves)) {
		s := p.shelves[id]
		for _, name := range []string{"name " + s.Name, "nameEn " + s.NameEn} {
			if other, taken := owner[name]; taken && !strings.HasSuffix(name, " ") {
				p.wrong = append(p.wrong, fmt.Sprintf("%s: %s and %s cannot both have it", name, other, id))
			}
			owner[name] = id
		}
	}
}

// compare lists what differs.
func compare(a, b Shelf, known bool) []Field {
	out := []Field{}
	for _, f := range []struct{ name, from, to string }{
		{"name", a.Name, b.Name},
		{"nameEn", a.NameEn, b.NameEn},
		{"category", string(a.Category), string(b.Category)},
		{"description", a.Description, b.Description},
		{"descriptionEn", a.DescriptionEn, b.DescriptionEn},
		{"price", text.Yuan(a.PriceFen), text.Yuan(b.PriceFen)},
		{"stock", strconv.Itoa(a.Stock), strconv.Itoa(b.Stock)},
		{"spicy", strconv.FormatBool(a.Spicy), strconv.FormatBool(b.Spicy)},
		{"vegetarian", strconv.FormatBool(a.Vegetarian), strconv.FormatBool(b.Vegetarian)},
		{"allergens", strings.Join(a.Allergens, "; "), strings.Join(b.Allergens, "; ")},
		{"tags", strings.Join(a.Tags, "; "), strings.Join(b.Tags, "; ")},
		{"weekdays", days(a.Weekdays), days(b.Weekdays)},
	} {
		switch {
		case !known && f.to != "":
			out = append(out, Field{Name: f.name, To: f.to})
		case known && f.from != f.to:
			out = append(out, Field{Name: f.name, From: f.from, To: f.to})
		}
	}
	return out
}

func days(numbers []int) string {
	words := make([]string, 0, len(numbers))
	for _, n := range numbers {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, " ")
}
