CREATE TABLE dishes (
    id             TEXT    PRIMARY KEY,
    name           TEXT    NOT NULL UNIQUE,
    name_en        TEXT    NOT NULL UNIQUE,
    category       TEXT    NOT NULL CHECK (category IN ('meat', 'seafood', 'vegetable', 'staple', 'soup', 'drink', 'dessert')),
    description    TEXT    NOT NULL,
    description_en TEXT    NOT NULL,
    price_fen      INTEGER NOT NULL CHECK (price_fen >= 0),
    initial        INTEGER NOT NULL CHECK (initial >= 0),
    available      INTEGER NOT NULL CHECK (available >= 0),
    spicy          INTEGER NOT NULL CHECK (spicy IN (0, 1)),
    vegetarian     INTEGER NOT NULL CHECK (vegetarian IN (0, 1)),
    allergens      TEXT    NOT NULL CHECK (json_valid(allergens)),
    tags           TEXT    NOT NULL CHECK (json_valid(tags)),
    weekdays       TEXT    NOT NULL CHECK (json_valid(weekdays))
) STRICT;

CREATE TABLE price_ledger (
    n        INTEGER PRIMARY KEY,
    dish_id  TEXT    NOT NULL REFERENCES dishes (id),
    from_fen INTEGER NOT NULL,
    to_fen   INTEGER NOT NULL CHECK (to_fen >= 0 AND to_fen <> from_fen),
    ts       INTEGER NOT NULL
) STRICT;

CREATE INDEX price_ledger_dish ON price_ledger (dish_id);

CREATE TRIGGER price_ledger_no_delete BEFORE DELETE ON price_ledger
BEGIN SELECT RAISE(ABORT, 'the price ledger is append only'); END;

CREATE TRIGGER price_ledger_no_update BEFORE UPDATE ON price_ledger
BEGIN SELECT RAISE(ABORT, 'the price ledger is append only'); END;

CREATE TABLE reservation_lines (
    rkey     TEXT    NOT NULL REFERENCES reservations (rkey),
    dish_id  TEXT    NOT NULL REFERENCES dishes (id),
    qty      INTEGER NOT NULL CHECK (qty > 0),
    unit_fen INTEGER NOT NULL CHECK (unit_fen >= 0),
    PRIMARY KEY (rkey, dish_id)
) STRICT;

CREATE TABLE reservations (
    rkey         TEXT    PRIMARY KEY,
    state        TEXT    NOT NULL CHECK (state IN ('HELD', 'COMMITTED', 'RELEASED', 'EXPIRED', 'RETURNED', 'REFUSED')),
    request_hash TEXT    NOT NULL,
    owner        TEXT    NOT NULL,
    expires_at   INTEGER NOT NULL,
    reason       TEXT    NOT NULL,
    short        TEXT    NOT NULL CHECK (json_valid(short)),
    created      INTEGER NOT NULL,
    updated      INTEGER NOT NULL
, grp TEXT NOT NULL DEFAULT '') STRICT;

CREATE INDEX reservations_group ON reservations (grp) WHERE state IN ('HELD', 'COMMITTED');

CREATE INDEX reservations_held ON reservations (expires_at) WHERE state = 'HELD';

CREATE INDEX reservations_owner ON reservations (owner) WHERE state = 'HELD';

CREATE TABLE "stock_ledger" (
    n       INTEGER PRIMARY KEY,
    rkey    TEXT    REFERENCES reservations (rkey),
    dish_id TEXT    NOT NULL REFERENCES dishes (id),
    delta   INTEGER NOT NULL CHECK (delta <> 0),
    why     TEXT    NOT NULL CHECK (why IN ('reserve', 'release', 'expire', 'return', 'restock')),
    ts      INTEGER NOT NULL,
    CHECK ((why = 'restock') = (rkey IS NULL))
) STRICT;

CREATE INDEX stock_ledger_dish ON stock_ledger (dish_id);

CREATE TRIGGER stock_ledger_no_delete BEFORE DELETE ON stock_ledger
BEGIN SELECT RAISE(ABORT, 'the stock ledger is append only'); END;

CREATE TRIGGER stock_ledger_no_update BEFORE UPDATE ON stock_ledger
BEGIN SELECT RAISE(ABORT, 'the stock ledger is append only'); END;

