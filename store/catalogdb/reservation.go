package catalogdb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/mcp/catalog"
	"agentmesh/store"
)

// record is a reservation with what only the database keeps of it.
type record struct {
	catalog.Reservation
	hash  string
	owner string
	group string
}

func (r record) late(now time.Time) bool { return !now.Before(r.ExpiresAt) }

func (r record) replayed() catalog.Reservation {
	r.Replayed = true
	return r.Reservation
}

// again is the answer to a second request under the same key. A tombstone answers any request.
func (r record) again(hash string) (catalog.Reservation, error) {
	if r.hash != "" && r.hash != hash {
		return catalog.Reservation{}, fault.New(fault.Conflict, "the key is in use for another request")
	}
	return r.replayed(), nil
}

// txn is one transaction at one moment.
type txn struct {
	tx      *store.Tx
	now     time.Time
	expired int
}

// create sets the lines of a new request aside, or refuses and remembers that.
func (t *txn) create(ctx context.Context, r catalog.Request, state catalog.State) (catalog.Reservation, error) {
	taken, err := t.taken(ctx, r.Group)
	if err != nil {
		return catalog.Reservation{}, err
	}
	rec := record{hash: r.Hash(), owner: r.Owner, group: r.Group, Reservation: catalog.Reservation{Key: r.Key, State: state, ExpiresAt: t.now.Add(r.TTL)}}
	for _, w := range r.Lines {
		line := catalog.Line{DishID: w.DishID, Quantity: w.Quantity}
		var available int
		err := t.tx.QueryRowContext(ctx, `SELECT name, price_fen, available FROM dishes WHERE id = ?`, w.DishID).
			Scan(&line.Name, &line.UnitFen, &available)
		if errors.Is(err, sql.ErrNoRows) {
			return catalog.Reservation{}, fault.New(fault.Invalid, "no dish has the id %q", w.DishID)
		}
		if err != nil {
			return catalog.Reservation{}, fmt.Errorf("load dish %s: %w", w.DishID, err)
		}
		rec.Lines = append(rec.Lines, line)
		available += taken[w.DishID]
		if available < w.Quantity {
			rec.Short = append(rec.Short, catalog.Short{DishID: w.DishID, Name: line.Name, Available: available, Wanted: w.Quantity})
		}
	}
	reason, err := t.refusal(ctx, r, state, rec.Short)
	if err != nil {
		return catalog.Reservation{}, err
	}
	if reason != "" {
		rec.State, rec.Reason, rec.ExpiresAt = catalog.Refused, reason, time.Time{}
		return t.insert(ctx, rec)
	}
	out, err := t.insert(ctx, rec)
	if err != nil {
		return out, err
	}
	return out, t.move(ctx, rec, taken, "reserve")
}

// refusal says why a request cannot be met, or nothing. The owner's limits count holds, so a deduction,
// which holds nothing, has none.
func (t *txn) refusal(ctx context.Context, r catalog.Request, state catalog.State, short []catalog.Short) (string, error) {
	var committed int
	err := t.tx.QueryRowContext(ctx, `SELECT count(*) FROM reservations WHERE grp = ? AND state = 'COMMITTED'`, r.Group).Scan(&committed)
	if err != nil {
		return "", fmt.Errorf("look for a committed alternative: %w", err)
	}
	if committed > 0 {
		return catalog.ReasonGroupCommitted, nil
	}
	if r.Owner != "" && state == catalog.Held {
		var holds, portions int
		err := t.tx.QueryRowContext(ctx, `SELECT count(DISTINCT grp), coalesce(sum(most), 0) FROM (SELECT r.grp, max(l.qty) AS most
			FROM reservations r JOIN reservation_lines l USING (rkey)
			WHERE r.state = 'HELD' AND r.owner = ? AND r.grp <> ? GROUP BY r.grp, l.dish_id)`, r.Owner, r.Group).Scan(&holds, &portions)
		switch {
		case err != nil:
			return "", fmt.Errorf("count holds: %w", err)
		case holds >= catalog.MaxHolds:
			return catalog.ReasonTooManyHolds, nil
		case portions+r.Portions() > catalog.MaxPortions:
			return catalog.ReasonTooManyPortions, nil
		}
	}
	if len(short) > 0 {
		return catalog.ReasonOutOfStock, nil
	}
	return "", nil
}

// insert writes a new reservation with its lines.
func (t *txn) insert(ctx context.Context, rec record) (catalog.Reservation, error) {
	short, err := json.Marshal(rec.Short)
	if err != nil {
		return catalog.Reservation{}, err
	}
	_, err = t.tx.ExecContext(ctx, `INSERT INTO reservations (rkey, grp, state, request_hash, owner, expires_at, reason, short, created, updated)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, rec.Key, rec.group, rec.State, rec.hash, rec.owner, millis(rec.ExpiresAt), rec.Reason, string(short),
		t.now.UnixMilli(), t.now.UnixMilli())
	if err != nil {
		return catalog.Reservation{}, fmt.Errorf("write: %w", err)
	}
	for _, line := range rec.Lines {
		_, err := t.tx.ExecContext(ctx, `INSERT INTO reservation_lines (rkey, dish_id, qty, unit_fen) VALUES (?, ?, ?, ?)`,
			rec.Key, line.DishID, line.Quantity, line.UnitFen)
		if err != nil {
			return catalog.Reservation{}, fmt.Errorf("write line: %w", err)
		}
	}
	saved, err := t.load(ctx, rec.Key) // so that the first answer and a repeated one are the same
	return saved.Reservation, err
}

// end moves a reservation to its next state. What its group takes no more goes back; the ledger says why.
func (t *txn) end(ctx context.Context, rec record, to catalog.State, reason, why string) (catalog.Reservation, error) {
	taken, err := t.taken(ctx, rec.group)
	if err != nil {
		return catalog.Reservation{}, err
	}
	res, err := t.tx.ExecContext(ctx, `UPDATE reservations SET state = ?, reason = ?, updated = ? WHERE rkey = ? AND state = ?`,
		to, reason, t.now.UnixMilli(), rec.Key, rec.State)
	if err != nil {
		return catalog.Reservation{}, fmt.Errorf("write: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return catalog.Reservation{}, fmt.Errorf("write: %d rows changed: %w", n, err)
	}
	rec.State, rec.Reason = to, reason
	return rec.Reservation, t.move(ctx, rec, taken, why)
}

// endAlternatives releases the holds beside one that is to be committed.
func (t *txn) endAlternatives(ctx context.Context, rec record) error {
	keys, err := column(t.tx.QueryContext(ctx, `SELECT rkey FROM reservations WHERE grp = ? AND state = 'HELD' AND rkey <> ?`, rec.group, rec.Key))
	if err != nil {
		return fmt.Errorf("list alternatives: %w", err)
	}
	for _, key := range keys {
		other, err := t.load(ctx, key)
		if err != nil {
			return err
		}
		if _, err := t.end(ctx, other, catalog.Released, "alternative", "release"); err != nil {
			return err
		}
	}
	return nil
}

// taken tells how many portions of each dish a group has taken out of the stock: for each as many as the
// alternative that has most of it, since only one of them will be eaten.
func (t *txn) taken(ctx context.Context, group string) (map[string]int, error) {
	rows, err := t.tx.QueryContext(ctx, `SELECT l.dish_id, max(l.qty) FROM reservations r JOIN reservation_lines l USING (rkey)
		WHERE r.grp = ? AND r.state IN ('HELD', 'COMMITTED') GROUP BY l.dish_id`, group)
	if err != nil {
		return nil, fmt.Errorf("count what a group takes: %w", err)
	}
	defer rows.Close()
	out := map[string]int{}
	for rows.Next() {
		var dish string
		var most int
		if err := rows.Scan(&dish, &most); err != nil {
			return nil, fmt.Errorf("count what a group takes: %w", err)
		}
		out[dish] = most
	}
	return out, rows.Err()
}

// move brings the stock of a reservation's dishes in line with what its group takes now; before is what it
// took until then.
func (t *txn) move(ctx context.Context, rec record, before map[string]int, why string) error {
	now, err := t.taken(ctx, rec.group)
	if err != nil {
		return err
	}
	for _, line := range rec.Lines {
		delta := before[line.DishID] - now[line.DishID]
		if delta == 0 {
			continue
		}
		if _, err := t.tx.ExecContext(ctx, `UPDATE dishes SET available = available + ? WHERE id = ?`, delta, line.DishID); err != nil {
			return fmt.Errorf("move stock of %s: %w", line.DishID, err)
		}
		_, err := t.tx.ExecContext(ctx, `INSERT INTO stock_ledger (rkey, dish_id, delta, why, ts) VALUES (?, ?, ?, ?, ?)`,
			rec.Key, line.DishID, delta, why, t.now.UnixMilli())
		if err != nil {
			return fmt.Errorf("write ledger of %s: %w", line.DishID, err)
		}
	}
	return nil
}

// expireDue ends the holds whose time is over.
func (t *txn) expireDue(ctx context.Context) error {
	keys, err := column(t.tx.QueryContext(ctx, `SELECT rkey FROM reservations WHERE state = 'HELD' AND expires_at <= ? ORDER BY expires_at`, t.now.UnixMilli()))
	if err != nil {
		return fmt.Errorf("list late holds: %w", err)
	}
	for _, key := range keys {
		rec, err := t.load(ctx, key)
		if err != nil {
			return fmt.Errorf("expire %s: %w", key, err)
		}
		if _, err := t.end(ctx, rec, catalog.Expired, "", "expire"); err != nil {
			return fmt.Errorf("expire %s: %w", key, err)
		}
		t.expired++
	}
	return nil
}

// known loads a reservation that must exist.
func (t *txn) known(ctx context.Context, key string) (record, error) {
	rec, err := t.load(ctx, key)
	if errors.Is(err, sql.ErrNoRows) {
		return rec, fault.New(fault.NotFound, "no reservation has the key %q", key)
	}
	return rec, err
}

func (t *txn) load(ctx context.Context, key string) (record, error) {
	rec := record{Reservation: catalog.Reservation{Key: key, Lines: []catalog.Line{}}}
	var expires int64
	var short []byte
	err := t.tx.QueryRowContext(ctx, `SELECT grp, state, request_hash, owner, expires_at, reason, short FROM reservations WHERE rkey = ?`, key).
		Scan(&rec.group, &rec.State, &rec.hash, &rec.owner, &expires, &rec.Reason, &short)
	if err != nil {
		return rec, err
	}
	if expires > 0 {
		rec.ExpiresAt = time.UnixMilli(expires).UTC()
	}
	if err := json.Unmarshal(short, &rec.Short); err != nil {
		return rec, fmt.Errorf("read short: %w", err)
	}
	rows, err := t.tx.QueryContext(ctx, `SELECT l.dish_id, d.name, l.qty, l.unit_fen
		FROM reservation_lines l JOIN dishes d ON d.id = l.dish_id WHERE l.rkey = ? ORDER BY l.dish_id`, key)
	if err != nil {
		return rec, fmt.Errorf("read lines: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var line catalog.Line
		if err := rows.Scan(&line.DishID, &line.Name, &line.Quantity, &line.UnitFen); err != nil {
			return rec, fmt.Errorf("read lines: %w", err)
		}
		rec.Lines = append(rec.Lines, line)
	}
	return rec, rows.Err()
}

func column(rows *sql.Rows, err error) ([]string, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var values []string
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, rows.Err()
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
