-- A call may be asked about again, when a person's yes met another price than they had seen: one question of
-- a call is open at a time, and a closed one names what replaced it. SQLite cannot drop the old UNIQUE.
CREATE TABLE confirmations_again (
    n             INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    run_n         INTEGER NOT NULL REFERENCES runs (n),
    invocation_id TEXT NOT NULL,
    call_id       TEXT NOT NULL,
    tool          TEXT NOT NULL,
    args          TEXT NOT NULL,
    args_digest   TEXT NOT NULL,
    summary       TEXT NOT NULL,
    warnings      TEXT NOT NULL,
    status        TEXT NOT NULL,
    reason        TEXT NOT NULL DEFAULT '',
    edited        TEXT NOT NULL DEFAULT '',
    replaced_by   TEXT NOT NULL DEFAULT '',
    decided_by    TEXT NOT NULL DEFAULT '',
    decided_via   TEXT NOT NULL DEFAULT '',
    decided_at    INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL,
    deadline      INTEGER NOT NULL
);
INSERT INTO confirmations_again (n, id, run_n, invocation_id, call_id, tool, args, args_digest, summary, warnings, status,
        reason, decided_by, decided_via, decided_at, created_at, deadline)
    SELECT n, id, run_n, invocation_id, call_id, tool, args, args_digest, summary, warnings, status,
        reason, decided_by, decided_via, decided_at, created_at, deadline FROM confirmations;
DROP TABLE confirmations;
ALTER TABLE confirmations_again RENAME TO confirmations;
CREATE INDEX confirmations_open ON confirmations (n) WHERE status = 'OPEN';
CREATE INDEX confirmations_by_run ON confirmations (run_n, n);
CREATE UNIQUE INDEX confirmations_one_open ON confirmations (invocation_id) WHERE status = 'OPEN';

-- args are what runs; proposed what the model gave, where a person edited them.
ALTER TABLE invocations ADD COLUMN proposed TEXT NOT NULL DEFAULT '';
ALTER TABLE audit_log ADD COLUMN args_digest TEXT NOT NULL DEFAULT '';
ALTER TABLE audit_log ADD COLUMN proposed_digest TEXT NOT NULL DEFAULT '';

-- How often an order was quoted: the last part of its hold's key.
ALTER TABLE orders ADD COLUMN quotes INTEGER NOT NULL DEFAULT 1;
