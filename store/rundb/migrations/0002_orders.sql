CREATE TABLE orders (
    n             INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    user_id       TEXT NOT NULL,
    run_id        TEXT NOT NULL,
    thread_id     TEXT NOT NULL,
    invocation_id TEXT NOT NULL UNIQUE,
    reservation   TEXT NOT NULL,
    status        TEXT NOT NULL,
    reason        TEXT NOT NULL,
    date          TEXT NOT NULL,
    note          TEXT NOT NULL,
    total_fen     INTEGER NOT NULL CHECK (total_fen >= 0),
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
);
CREATE INDEX orders_by_user ON orders (user_id, n);
CREATE INDEX orders_placing ON orders (n) WHERE status = 'PLACING';

CREATE TABLE order_lines (
    order_n    INTEGER NOT NULL REFERENCES orders (n),
    position   INTEGER NOT NULL,
    dish_id    TEXT NOT NULL,
    name       TEXT NOT NULL,
    name_en    TEXT NOT NULL,
    quantity   INTEGER NOT NULL CHECK (quantity > 0),
    unit_fen   INTEGER NOT NULL,
    amount_fen INTEGER NOT NULL,
    note       TEXT NOT NULL,
    PRIMARY KEY (order_n, position)
) WITHOUT ROWID;

CREATE TABLE outbox (
    n        INTEGER PRIMARY KEY,
    user_id  TEXT NOT NULL,
    okey     TEXT NOT NULL,
    op       TEXT NOT NULL,
    reason   TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at  INTEGER NOT NULL,
    done_at  INTEGER NOT NULL DEFAULT 0,
    UNIQUE (okey, op)
);
CREATE INDEX outbox_due ON outbox (next_at) WHERE done_at = 0;
