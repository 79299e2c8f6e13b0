-- What stands for the older messages of a conversation in its prompts: of all its runs up to covers_n.
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

-- How many tokens a prompt was thought to have, beside what the endpoint counted.
ALTER TABLE model_calls ADD COLUMN estimated_tokens INTEGER NOT NULL DEFAULT 0;
