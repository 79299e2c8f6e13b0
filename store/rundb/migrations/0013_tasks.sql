-- Work that goes on in the background and outlives its run. What it is and what came of it is its invocation's;
-- delivered_run is the run that told its conversation of the outcome, empty until one has.
-- state: RUNNING, SUCCEEDED, FAILED, CANCELLED, INDETERMINATE; owner, epoch, lease_until as those of a run
CREATE TABLE tasks (
    n             INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    origin        TEXT NOT NULL,
    user_id       TEXT NOT NULL,
    thread_id     TEXT NOT NULL,
    run_n         INTEGER NOT NULL REFERENCES runs (n),
    invocation_id TEXT NOT NULL UNIQUE,
    state         TEXT NOT NULL,
    delivered_run TEXT NOT NULL DEFAULT '',
    cancel_reason TEXT NOT NULL DEFAULT '',
    started_at    INTEGER NOT NULL,
    ended_at      INTEGER NOT NULL DEFAULT 0,
    owner         TEXT NOT NULL DEFAULT '',
    epoch         INTEGER NOT NULL DEFAULT 0,
    lease_until   INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX tasks_running ON tasks (n) WHERE ended_at = 0;
CREATE INDEX tasks_untold ON tasks (user_id, thread_id, ended_at) WHERE ended_at > 0 AND delivered_run = '';
CREATE INDEX tasks_by_user ON tasks (user_id, n);
CREATE INDEX tasks_by_run ON tasks (run_n);
ALTER TABLE invocations ADD COLUMN task_id TEXT NOT NULL DEFAULT '';
