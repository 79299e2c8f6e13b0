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

-- The words are cut by us: SQLite's own tokenizers take a run of Chinese for one word, or need three
-- characters.
CREATE VIRTUAL TABLE preference_words USING fts5 (words, tokenize = "unicode61 remove_diacritics 0");

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
