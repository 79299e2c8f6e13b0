-- Messages that the clock sends. due_at is the next due time while enabled; 0: none.
CREATE TABLE schedules (
    n            INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    user_id      TEXT NOT NULL,
    name         TEXT NOT NULL,
    cron         TEXT NOT NULL,
    time_zone    TEXT NOT NULL,
    message      TEXT NOT NULL,
    conversation TEXT NOT NULL,
    enabled      INTEGER NOT NULL,
    due_at       INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL
);
CREATE INDEX schedules_by_user ON schedules (user_id, n);
CREATE INDEX schedules_due ON schedules (due_at) WHERE due_at > 0;

-- Due times that have come. The key says that each is made once, whichever process comes to it.
CREATE TABLE fires (
    schedule_n INTEGER NOT NULL REFERENCES schedules (n),
    due_at     INTEGER NOT NULL,
    status     TEXT NOT NULL,
    reason     TEXT NOT NULL,
    run_id     TEXT NOT NULL,
    thread_id  TEXT NOT NULL,
    message    TEXT NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (schedule_n, due_at)
) WITHOUT ROWID;
CREATE INDEX fires_open ON fires (schedule_n, due_at) WHERE status = 'DUE';
