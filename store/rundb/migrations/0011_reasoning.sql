-- What a model thought aloud before it answered: some endpoints want it back with the calls.
ALTER TABLE messages ADD COLUMN reasoning TEXT NOT NULL DEFAULT '';
