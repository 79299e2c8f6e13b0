package food

import (
	"context"
	"encoding/json"
	"fmt"

	"agentmesh/app/platform/fault"
)

// Dish is one dish of the catalog, as the catalog writes it.
type Dish struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	NameEn        string   `json:"nameEn"`
	Category      string   `json:"category"`
	Description   string   `json:"description"`
	DescriptionEn string   `json:"descriptionEn"`
	PriceFen      int64    `json:"priceFen"`
	Price         string   `json:"price"`
	Stock         int      `json:"stock"`
	Spicy         bool     `json:"spicy"`
	Vegetarian    bool     `json:"vegetarian"`
	Allergens     []string `json:"allergens"`
	Tags          []string `json:"tags"`
	Weekdays      []int    `json:"weekdays"` // ISO: 1 is Monday
}

// Day is the menu of one day.
type Day struct {
	Date      string `json:"date"`
	Weekday   int    `json:"weekday"`
	WeekdayZh string `json:"weekdayZh"`
	WeekdayEn string `json:"weekdayEn"`
	Dishes    []Dish `json:"dishes"`
}

// Menu is where the agent looks dishes up.
type Menu interface {
	// Day gives the menu of a day, named as list_menu_by_day takes it; "" is today.
	Day(ctx context.Context, day string) (Day, error)
	// All gives every dish of the catalog, whatever its weekdays.
	All(ctx context.Context) ([]Dish, error)
}

// Caller calls an MCP tool; *mcp.Client is one.
type Caller interface {
	CallTool(ctx context.Context, name string, args any) (json.RawMessage, error)
}

// NewMenu makes the menu that the catalog's MCP server serves.
func NewMenu(catalog Caller) Menu { return mcpMenu{catalog} }

type mcpMenu struct{ catalog Caller }

// Day implements Menu.
func (m mcpMenu) Day(ctx context.Context, day string) (Day, error) {
	args := map[string]any{}
	if day != "" {
		args["day"] = day
	}
	var out Day
	err := m.call(ctx, "list_menu_by_day", args, &out)
	return out, err
}

// All implements Menu.
func (m mcpMenu) All(ctx context.Context) ([]Dish, error) {
	var out struct{ Dishes []Dish }
	err := m.call(ctx, "search_food_catalog", map[string]any{"limit": 50}, &out)
	return out.Dishes, err
}

func (m mcpMenu) call(ctx context.Context, tool string, args, out any) error {
	raw, err := m.catalog.CallTool(ctx, tool, args)
	if err != nil {
		return fmt.Errorf("call %s: %w", tool, err)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fault.Wrap(err, fault.Unavailable, "the catalog's answer is not readable")
	}
	return nil
}
