-- What an input tells of its client: the tools that it runs itself, and how things stand there. Empty: nothing.
ALTER TABLE runs ADD COLUMN client TEXT NOT NULL DEFAULT '';
-- The run whose calls were answered with the input of this one.
ALTER TABLE runs ADD COLUMN continues TEXT NOT NULL DEFAULT '';
-- The client's message that holds a result, and the run whose input brought it.
ALTER TABLE invocations ADD COLUMN answer_id TEXT NOT NULL DEFAULT '';
ALTER TABLE invocations ADD COLUMN answered_run TEXT NOT NULL DEFAULT '';
-- Calls that somebody else makes are few, and looked for whenever a run begins.
CREATE INDEX invocations_outside ON invocations (run_n) WHERE status = 'INPUT_REQUIRED';
CREATE INDEX invocations_answered ON invocations (answered_run) WHERE answered_run <> '';
