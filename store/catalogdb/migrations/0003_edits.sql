-- Stock that somebody counted or brought has no reservation. SQLite cannot change a column or a check, so
-- the ledger is written anew.
CREATE TABLE stock_ledger_next (
    n       INTEGER PRIMARY KEY,
    rkey    TEXT    REFERENCES reservations (rkey),
    dish_id TEXT    NOT NULL REFERENCES dishes (id),
    delta   INTEGER NOT NULL CHECK (delta <> 0),
    why     TEXT    NOT NULL CHECK (why IN ('reserve', 'release', 'expire', 'return', 'restock')),
    ts      INTEGER NOT NULL,
    CHECK ((why = 'restock') = (rkey IS NULL))
) STRICT;

INSERT INTO stock_ledger_next SELECT n, rkey, dish_id, delta, why, ts FROM stock_ledger;
DROP TABLE stock_ledger;
ALTER TABLE stock_ledger_next RENAME TO stock_ledger;

CREATE INDEX stock_ledger_dish ON stock_ledger (dish_id);

CREATE TRIGGER stock_ledger_no_update BEFORE UPDATE ON stock_ledger
BEGIN SELECT RAISE(ABORT, 'the stock ledger is append only'); END;

CREATE TRIGGER stock_ledger_no_delete BEFORE DELETE ON stock_ledger
BEGIN SELECT RAISE(ABORT, 'the stock ledger is append only'); END;

-- Every change of a price, append only: the last one is the dish's price.
CREATE TABLE price_ledger (
    n        INTEGER PRIMARY KEY,
    dish_id  TEXT    NOT NULL REFERENCES dishes (id),
    from_fen INTEGER NOT NULL,
    to_fen   INTEGER NOT NULL CHECK (to_fen >= 0 AND to_fen <> from_fen),
    ts       INTEGER NOT NULL
) STRICT;

CREATE INDEX price_ledger_dish ON price_ledger (dish_id);

CREATE TRIGGER price_ledger_no_update BEFORE UPDATE ON price_ledger
BEGIN SELECT RAISE(ABORT, 'the price ledger is append only'); END;

CREATE TRIGGER price_ledger_no_delete BEFORE DELETE ON price_ledger
BEGIN SELECT RAISE(ABORT, 'the price ledger is append only'); END;
