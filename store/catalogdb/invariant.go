package catalogdb

import (
	"context"
	"fmt"
	"strings"
)

// Invariant checks that the books agree: what there was at first, with every entry of the ledger, is what
// is there now; it is what was there at first, with what was restocked, without what each group holds or
// has bought; and the last entry on a price is the price.
func (c *DB) Invariant(ctx context.Context) error {
	wrong, err := column(c.db.Read().QueryContext(ctx, `
		SELECT printf('%s: available %d, by the ledger %d, by the reservations %d', id, available, by_ledger, by_reservations)
		FROM (SELECT d.id, d.available,
				d.initial + coalesce((SELECT sum(g.delta) FROM stock_ledger g WHERE g.dish_id = d.id), 0) AS by_ledger,
				d.initial + coalesce((SELECT sum(g.delta) FROM stock_ledger g WHERE g.dish_id = d.id AND g.why = 'restock'), 0)
					- coalesce((SELECT sum(most) FROM (SELECT max(l.qty) AS most FROM reservation_lines l JOIN reservations r USING (rkey)
					WHERE l.dish_id = d.id AND r.state IN ('HELD', 'COMMITTED') GROUP BY r.grp)), 0) AS by_reservations
			FROM dishes d)
		WHERE available < 0 OR available <> by_ledger OR available <> by_reservations
		UNION ALL
		SELECT printf('%s: its price is %d fen, by the ledger %d', d.id, d.price_fen, p.to_fen)
		FROM dishes d JOIN price_ledger p ON p.dish_id = d.id
		WHERE p.to_fen <> d.price_fen AND p.n = (SELECT max(n) FROM price_ledger WHERE dish_id = d.id)
		ORDER BY 1`))
	if err != nil {
		return fmt.Errorf("check stock: %w", err)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("check stock: %s", strings.Join(wrong, "; "))
	}
	return nil
}
