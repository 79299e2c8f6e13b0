package catalog

import (
	"encoding/json"
	"slices"

	"agentmesh/app/platform/text"
)

// Category is one of the seven kinds of dish.
type Category string

// The categories.
const (
	Meat      Category = "meat"
	Seafood   Category = "seafood"
	Vegetable Category = "vegetable"
	Staple    Category = "staple"
	Soup      Category = "soup"
	Drink     Category = "drink"
	Dessert   Category = "dessert"
)

// Words gives the words, Chinese and English, under which people look for a category; nil for one that
// does not exist.
func (c Category) Words() []string {
	switch c {
	case Meat:
		return []string{"meat", "荤菜", "肉", "肉类", "肉菜"}
	case Seafood:
		return []string{"seafood", "海鲜", "水产", "河鲜"}
	case Vegetable:
		return []string{"vegetable", "蔬菜", "青菜", "时蔬"}
	case Staple:
		return []string{"staple", "主食"}
	case Soup:
		return []string{"soup", "汤", "汤类", "汤羹"}
	case Drink:
		return []string{"drink", "beverage", "饮料", "饮品", "喝的"}
	case Dessert:
		return []string{"dessert", "sweet", "甜点", "甜品"}
	}
	return nil
}

// Dish is something the canteen sells. Weekdays are ISO numbers, 1 for Monday.
type Dish struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	NameEn        string   `json:"nameEn"`
	Category      Category `json:"category"`
	Description   string   `json:"description"`
	DescriptionEn string   `json:"descriptionEn"`
	PriceFen      int64    `json:"priceFen"`
	Stock         int      `json:"stock"`
	Spicy         bool     `json:"spicy"`
	Vegetarian    bool     `json:"vegetarian"`
	Allergens     []string `json:"allergens"`
	Tags          []string `json:"tags"`
	Weekdays      []int    `json:"weekdays"`
}

// On tells whether the dish is on the menu of a weekday.
func (d Dish) On(weekday int) bool { return slices.Contains(d.Weekdays, weekday) }

// MarshalJSON adds the price as text, so that nobody divides fen by a hundred in floating point.
func (d Dish) MarshalJSON() ([]byte, error) {
	type plain Dish
	d.Allergens, d.Tags, d.Weekdays = notNil(d.Allergens), notNil(d.Tags), notNil(d.Weekdays)
	return json.Marshal(struct {
		plain
		Price string `json:"price"`
	}{plain(d), text.Yuan(d.PriceFen)})
}

func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
