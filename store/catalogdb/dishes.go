package catalogdb

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"agentmesh/app/platform/fault"
	"agentmesh/mcp/catalog"
	"agentmesh/store"
)

const dishColumns = `id, name, name_en, category, description, description_en, price_fen, available, spicy, vegetarian, allergens, tags, weekdays`

// Dishes gives all dishes in the order of their ids.
func (c *DB) Dishes(ctx context.Context) ([]catalog.Dish, error) {
	rows, err := c.db.Read().QueryContext(ctx, `SELECT `+dishColumns+` FROM dishes ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("list dishes: %w", err)
	}
	defer rows.Close()
	dishes := []catalog.Dish{}
	for rows.Next() {
		d, err := scanDish(rows)
		if err != nil {
			return nil, fmt.Errorf("list dishes: %w", err)
		}
		dishes = append(dishes, d)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list dishes: %w", err)
	}
	return dishes, nil
}

// Dish gives one dish, or a fault NotFound.
func (c *DB) Dish(ctx context.Context, id string) (catalog.Dish, error) {
	d, err := scanDish(c.db.Read().QueryRowContext(ctx, `SELECT `+dishColumns+` FROM dishes WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return d, fault.New(fault.NotFound, "no dish has the id %q: find ids with search_food_catalog", id)
	}
	if err != nil {
		return d, fmt.Errorf("load dish %s: %w", id, err)
	}
	return d, nil
}

func scanDish(row interface{ Scan(...any) error }) (catalog.Dish, error) {
	var d catalog.Dish
	var allergens, tags, weekdays []byte
	err := row.Scan(&d.ID, &d.Name, &d.NameEn, &d.Category, &d.Description, &d.DescriptionEn, &d.PriceFen, &d.Stock,
		&d.Spicy, &d.Vegetarian, &allergens, &tags, &weekdays)
	if err != nil {
		return d, err
	}
	return d, errors.Join(json.Unmarshal(allergens, &d.Allergens), json.Unmarshal(tags, &d.Tags), json.Unmarshal(weekdays, &d.Weekdays))
}

// seed fills an empty catalog. One that has any dish, even an old seed's, belongs to its owner.
func (c *DB) seed(ctx context.Context) error {
	text, err := seedFile.ReadFile("seed.json")
	if err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	var dishes []catalog.Dish
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&dishes); err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	return c.db.Tx(ctx, func(tx *store.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM dishes`).Scan(&n); err != nil || n > 0 {
			return err
		}
		for _, d := range dishes {
			if err := insertDish(ctx, tx, d); err != nil {
				return fmt.Errorf("seed %s: %w", d.ID, err)
			}
		}
		return nil
	})
}

func insertDish(ctx context.Context, tx *store.Tx, d catalog.Dish) error {
	allergens, tags, weekdays, err := lists(d)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO dishes (id, name, name_en, category, description, description_en,
		price_fen, initial, available, spicy, vegetarian, allergens, tags, weekdays) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.ID, d.Name, d.NameEn, d.Category, d.Description, d.DescriptionEn, d.PriceFen, d.Stock, d.Stock,
		d.Spicy, d.Vegetarian, allergens, tags, weekdays)
	return err
}

// lists writes the lists of a dish as the columns keep them.
func lists(d catalog.Dish) (allergens, tags, weekdays string, err error) {
	a, errA := json.Marshal(d.Allergens)
	t, errT := json.Marshal(d.Tags)
	w, errW := json.Marshal(d.Weekdays)
	return string(a), string(t), string(w), errors.Join(errA, errT, errW)
}
