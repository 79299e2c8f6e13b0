-- A question asks whether a call may run (confirm), or whether it happened (outcome): then attempt is what is
-- known, as JSON, and answer what a person said.
ALTER TABLE confirmations ADD COLUMN kind TEXT NOT NULL DEFAULT 'confirm';
ALTER TABLE confirmations ADD COLUMN attempt TEXT NOT NULL DEFAULT '';
ALTER TABLE confirmations ADD COLUMN answer TEXT NOT NULL DEFAULT '';

-- How often a call with an effect was begun, and when last.
ALTER TABLE invocations ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE invocations ADD COLUMN began_at INTEGER NOT NULL DEFAULT 0;
UPDATE invocations SET attempts = 1, began_at = created_at WHERE status = 'RUNNING';
