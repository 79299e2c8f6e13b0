-- Names an input, so that one which a client sends twice makes one run. Empty where its client did not name it.
ALTER TABLE runs ADD COLUMN input_key TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX runs_by_input ON runs (input_key) WHERE input_key <> '';
