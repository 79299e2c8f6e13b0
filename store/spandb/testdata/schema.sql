CREATE TABLE spans (
    n          INTEGER PRIMARY KEY,
    trace_id   TEXT NOT NULL,
    id         TEXT NOT NULL,
    parent_id  TEXT NOT NULL,
    run_id     TEXT NOT NULL,
    module     TEXT NOT NULL,
    kind       TEXT NOT NULL,
    name       TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL,
    error      TEXT NOT NULL,
    attributes TEXT NOT NULL
, user_id TEXT NOT NULL DEFAULT '');

CREATE INDEX spans_by_age ON spans (started_at);

CREATE INDEX spans_by_trace ON spans (trace_id, n);

