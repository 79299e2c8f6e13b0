CREATE TABLE audit_log (
    n             INTEGER PRIMARY KEY,
    at            INTEGER NOT NULL,
    user_id       TEXT NOT NULL,
    thread_id     TEXT NOT NULL,
    run_id        TEXT NOT NULL,
    trace_id      TEXT NOT NULL,
    invocation_id TEXT NOT NULL,
    capability    TEXT NOT NULL,
    kind          TEXT NOT NULL,
    source        TEXT NOT NULL,
    status        TEXT NOT NULL,
    stage         TEXT NOT NULL,
    code          TEXT NOT NULL,
    input         TEXT NOT NULL,
    output        TEXT NOT NULL,
    duration_ms   INTEGER NOT NULL
, args_digest TEXT NOT NULL DEFAULT '', proposed_digest TEXT NOT NULL DEFAULT '', rule TEXT NOT NULL DEFAULT '');

CREATE INDEX audit_by_run ON audit_log (user_id, run_id, n);

CREATE TABLE "confirmations" (
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
, kind TEXT NOT NULL DEFAULT 'confirm', attempt TEXT NOT NULL DEFAULT '', answer TEXT NOT NULL DEFAULT '', because TEXT NOT NULL DEFAULT '', suggestions TEXT NOT NULL DEFAULT '', remembered TEXT NOT NULL DEFAULT '');

CREATE INDEX confirmations_by_run ON confirmations (run_n, n);

CREATE UNIQUE INDEX confirmations_one_open ON confirmations (invocation_id) WHERE status = 'OPEN';

CREATE INDEX confirmations_open ON confirmations (n) WHERE status = 'OPEN';

CREATE TABLE conversations (
    user_id    TEXT NOT NULL,
    id         TEXT NOT NULL,
    title      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, id)
) WITHOUT ROWID;

CREATE INDEX conversations_newest ON conversations (user_id, updated_at);

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

CREATE TABLE grants (
    n               INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    user_id         TEXT NOT NULL,
    capability      TEXT NOT NULL,
    args            TEXT NOT NULL,
    confirmation_id TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    revoked_at      INTEGER NOT NULL DEFAULT 0
);

CREATE UNIQUE INDEX grants_active ON grants (user_id, capability, args) WHERE revoked_at = 0;

CREATE TABLE invocations (
    id         TEXT PRIMARY KEY,
    run_n      INTEGER NOT NULL REFERENCES runs (n),
    message_id TEXT NOT NULL,
    call_id    TEXT NOT NULL,
    round      INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    name       TEXT NOT NULL,
    args       TEXT NOT NULL,
    status     TEXT NOT NULL,
    final      INTEGER NOT NULL,
    result     TEXT NOT NULL,
    receipt    TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL DEFAULT 0
, proposed TEXT NOT NULL DEFAULT '', attempts INTEGER NOT NULL DEFAULT 0, began_at INTEGER NOT NULL DEFAULT 0, task_id TEXT NOT NULL DEFAULT '', answer_id TEXT NOT NULL DEFAULT '', answered_run TEXT NOT NULL DEFAULT '');

CREATE INDEX invocations_answered ON invocations (answered_run) WHERE answered_run <> '';

CREATE INDEX invocations_by_run ON invocations (run_n, round, position);

CREATE INDEX invocations_outside ON invocations (run_n) WHERE status = 'INPUT_REQUIRED';

CREATE TABLE messages (
    n          INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    run_n      INTEGER NOT NULL REFERENCES runs (n),
    role       TEXT NOT NULL,
    text       TEXT NOT NULL,
    calls      TEXT NOT NULL,
    abandoned  INTEGER NOT NULL,
    created_at INTEGER NOT NULL
, reasoning TEXT NOT NULL DEFAULT '');

CREATE INDEX messages_by_run ON messages (run_n, n);

CREATE TABLE model_calls (
    id            TEXT PRIMARY KEY,
    run_n         INTEGER NOT NULL REFERENCES runs (n),
    round         INTEGER NOT NULL,
    model         TEXT NOT NULL,
    request       TEXT NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    finish        TEXT NOT NULL,
    error         TEXT NOT NULL,
    started_at    INTEGER NOT NULL,
    duration_ms   INTEGER NOT NULL
, estimated_tokens INTEGER NOT NULL DEFAULT 0);

CREATE INDEX model_calls_by_run ON model_calls (run_n, round);

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
, quotes INTEGER NOT NULL DEFAULT 1, committing INTEGER NOT NULL DEFAULT 0);

CREATE INDEX orders_by_user ON orders (user_id, n);

CREATE INDEX orders_placing ON orders (n) WHERE status = 'PLACING';

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

CREATE VIRTUAL TABLE preference_words USING fts5 (words, tokenize = "unicode61 remove_diacritics 0");

CREATE TABLE 'preference_words_config'(k PRIMARY KEY, v) WITHOUT ROWID;

CREATE TABLE 'preference_words_content'(id INTEGER PRIMARY KEY, c0);

CREATE TABLE 'preference_words_data'(id INTEGER PRIMARY KEY, block BLOB);

CREATE TABLE 'preference_words_docsize'(id INTEGER PRIMARY KEY, sz BLOB);

CREATE TABLE 'preference_words_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;

CREATE TABLE preferences (
    n            INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    user_id      TEXT NOT NULL,
    statement    TEXT NOT NULL,
    kind         TEXT NOT NULL,
    run_id       TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    forgotten_at INTEGER NOT NULL DEFAULT 0
);

CREATE UNIQUE INDEX preferences_active ON preferences (user_id, statement) WHERE forgotten_at = 0;

CREATE TABLE run_events (
    run_n INTEGER NOT NULL REFERENCES runs (n),
    seq   INTEGER NOT NULL,
    type  TEXT NOT NULL,
    data  TEXT NOT NULL,
    at    INTEGER NOT NULL,
    PRIMARY KEY (run_n, seq)
);

CREATE TABLE runs (
    n             INTEGER PRIMARY KEY,
    id            TEXT NOT NULL UNIQUE,
    client_run_id TEXT NOT NULL,
    user_id       TEXT NOT NULL,
    thread_id     TEXT NOT NULL,
    trace_id      TEXT NOT NULL,
    state         INTEGER NOT NULL,
    finish_reason TEXT NOT NULL DEFAULT '',
    error_code    TEXT NOT NULL DEFAULT '',
    error_message TEXT NOT NULL DEFAULT '',
    model         TEXT NOT NULL DEFAULT '',
    input_tokens  INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    skills        TEXT NOT NULL DEFAULT '[]',
    tools         TEXT NOT NULL DEFAULT '[]',
    modern        INTEGER NOT NULL,
    active_ms     INTEGER NOT NULL DEFAULT 0,
    cancel_reason TEXT NOT NULL DEFAULT '',
    head          INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL,
    started_at    INTEGER NOT NULL DEFAULT 0,
    ended_at      INTEGER NOT NULL DEFAULT 0, origin TEXT NOT NULL DEFAULT 'api', owner TEXT NOT NULL DEFAULT '', epoch INTEGER NOT NULL DEFAULT 0, lease_until INTEGER NOT NULL DEFAULT 0, input_key TEXT NOT NULL DEFAULT '', client TEXT NOT NULL DEFAULT '', continues TEXT NOT NULL DEFAULT '', mode TEXT NOT NULL DEFAULT 'default',
    FOREIGN KEY (user_id, thread_id) REFERENCES conversations (user_id, id)
);

CREATE UNIQUE INDEX runs_by_input ON runs (input_key) WHERE input_key <> '';

CREATE INDEX runs_by_label ON runs (user_id, client_run_id);

CREATE INDEX runs_by_thread ON runs (user_id, thread_id, n);

CREATE INDEX runs_by_trace ON runs (user_id, trace_id, n);

CREATE UNIQUE INDEX runs_one_active ON runs (user_id, thread_id) WHERE state > 0 AND state < 10;

CREATE INDEX runs_open ON runs (n) WHERE state < 10;

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

CREATE TABLE skill_installations (
    user_id    TEXT NOT NULL,
    skill_id   TEXT NOT NULL,
    version    TEXT NOT NULL,
    installed  INTEGER NOT NULL,
    enabled    INTEGER NOT NULL,
    granted    TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, skill_id)
) WITHOUT ROWID;

CREATE TABLE summaries (
    n             INTEGER PRIMARY KEY,
    run_n         INTEGER NOT NULL REFERENCES runs (n),
    covers_n      INTEGER NOT NULL REFERENCES runs (n),
    text          TEXT NOT NULL,
    messages      INTEGER NOT NULL,
    before_tokens INTEGER NOT NULL,
    after_tokens  INTEGER NOT NULL,
    created_at    INTEGER NOT NULL
);

CREATE INDEX summaries_by_run ON summaries (run_n, n);

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

CREATE INDEX tasks_by_run ON tasks (run_n);

CREATE INDEX tasks_by_user ON tasks (user_id, n);

CREATE INDEX tasks_running ON tasks (n) WHERE ended_at = 0;

CREATE INDEX tasks_untold ON tasks (user_id, thread_id, ended_at) WHERE ended_at > 0 AND delivered_run = '';

