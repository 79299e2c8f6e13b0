package catalog

import "agentmesh/app/platform/text"

// fields are a dish without its JSON form.
type fields Dish

// Shelf is a dish as its operator sees it. Stock counts the portions on hand, those that are held for open
// questions included; in a Dish it counts only what can still be ordered.
type Shelf struct {
	fields
	Price string `json:"price"` // yuan
	Held  int    `json:"held"`
}

// NewShelf makes the shelf of a dish of which so many portions are held.
func NewShelf(d Dish, held int) Shelf {
	d.Stock += held
	d.Allergens, d.Tags, d.Weekdays = notNil(d.Allergens), notNil(d.Tags), notNil(d.Weekdays)
	return Shelf{fields: fields(d), Price: text.Yuan(d.PriceFen), Held: held}
}

// Dish gives the dish as everybody sees it.
func (s Shelf) Dish() Dish {
	d := Dish(s.fields)
	d.Stock -= s.Held
	return d
}
