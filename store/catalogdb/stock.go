package catalogdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"agentmesh/app/platform/failpoint"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/mcp/catalog"
	"agentmesh/store"
)

// Reserve sets all lines aside, or none.
func (c *DB) Reserve(ctx context.Context, r catalog.Request) (catalog.Reservation, error) {
	return c.take(ctx, r, catalog.Held)
}

// Deduct sets all lines aside for good. Without a key the caller cannot repeat it.
func (c *DB) Deduct(ctx context.Context, r catalog.Request) (catalog.Reservation, error) {
	if r.Key == "" {
		r.Key = c.newID("deduct")
		flow.Log(ctx).Warn().Str("key", r.Key).Msg("stock deducted without a key")
	}
	r.TTL = time.Second // it is committed at once
	return c.take(ctx, r, catalog.Committed)
}

func (c *DB) take(ctx context.Context, r catalog.Request, state catalog.State) (catalog.Reservation, error) {
	r, err := r.Normal()
	if err != nil {
		return catalog.Reservation{}, err
	}
	return c.change(ctx, c.db.Tx, r.Key, func(t *txn) (catalog.Reservation, error) {
		if err := t.expireDue(ctx); err != nil {
			return catalog.Reservation{}, err
		}
		old, err := t.load(ctx, r.Key)
		switch {
		case err == nil:
			return old.again(r.Hash())
		case !errors.Is(err, sql.ErrNoRows):
			return catalog.Reservation{}, err
		}
		return t.create(ctx, r, state)
	})
}

// Commit makes a hold final and releases its alternatives. A late one gives its stock back instead.
func (c *DB) Commit(ctx context.Context, key string) (catalog.Reservation, error) {
	if err := failpoint.Hit(ctx, failpoint.CatalogBefore); err != nil {
		return catalog.Reservation{}, err
	}
	r, err := c.change(ctx, c.db.Tx, key, func(t *txn) (catalog.Reservation, error) {
		rec, err := t.known(ctx, key)
		switch {
		case err != nil:
			return catalog.Reservation{}, err
		case rec.State != catalog.Held:
			return rec.replayed(), nil
		case rec.late(t.now):
			return t.end(ctx, rec, catalog.Expired, "", "expire")
		}
		if err := t.endAlternatives(ctx, rec); err != nil {
			return catalog.Reservation{}, err
		}
		return t.end(ctx, rec, catalog.Committed, "", "commit")
	})
	if err == nil {
		err = failpoint.Hit(ctx, failpoint.CatalogAfter)
	}
	return r, err
}

// Release gives a hold's stock back, or leaves a tombstone under an unknown key.
func (c *DB) Release(ctx context.Context, key, reason string) (catalog.Reservation, error) {
	return c.change(ctx, c.db.End, key, func(t *txn) (catalog.Reservation, error) {
		rec, err := t.load(ctx, key)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			if key == "" {
				return catalog.Reservation{}, fault.New(fault.Invalid, "a reservation needs a key")
			}
			return t.insert(ctx, record{group: key, Reservation: catalog.Reservation{Key: key, State: catalog.Released, Reason: reason}})
		case err != nil:
			return catalog.Reservation{}, err
		case rec.State != catalog.Held:
			return rec.replayed(), nil
		}
		return t.end(ctx, rec, catalog.Released, reason, "release")
	})
}

// Return gives the stock of a committed reservation back.
func (c *DB) Return(ctx context.Context, key string) (catalog.Reservation, error) {
	return c.change(ctx, c.db.End, key, func(t *txn) (catalog.Reservation, error) {
		rec, err := t.known(ctx, key)
		switch {
		case err != nil:
			return catalog.Reservation{}, err
		case rec.State != catalog.Committed:
			return rec.replayed(), nil
		}
		return t.end(ctx, rec, catalog.Returned, "", "return")
	})
}

// Reservation reads a reservation. One whose time is over is ended first, so that nobody is told of a
// hold that is none.
func (c *DB) Reservation(ctx context.Context, key string) (catalog.Reservation, error) {
	return c.change(ctx, c.db.End, key, func(t *txn) (catalog.Reservation, error) {
		rec, err := t.known(ctx, key)
		if err != nil {
			return catalog.Reservation{}, err
		}
		if rec.State == catalog.Held && rec.late(t.now) {
			return t.end(ctx, rec, catalog.Expired, "", "expire")
		}
		return rec.Reservation, nil
	})
}

// Expire ends the holds whose time was over at now.
func (c *DB) Expire(ctx context.Context, now time.Time) (int, error) {
	n := 0
	err := c.db.End(ctx, func(tx *store.Tx) error {
		t := &txn{tx: tx, now: now}
		if err := t.expireDue(ctx); err != nil {
			return err
		}
		n = t.expired
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("expire holds: %w", err)
	}
	return n, nil
}

// transaction is Tx or End of a database.
type transaction func(context.Context, func(*store.Tx) error) error

// change runs one operation on a reservation in a transaction.
func (c *DB) change(ctx context.Context, write transaction, key string, fn func(*txn) (catalog.Reservation, error)) (catalog.Reservation, error) {
	var out catalog.Reservation
	err := write(ctx, func(tx *store.Tx) error {
		var err error
		out, err = fn(&txn{tx: tx, now: c.now()})
		return err
	})
	if err != nil {
		return catalog.Reservation{}, fmt.Errorf("reservation %s: %w", key, err)
	}
	return out, nil
}
