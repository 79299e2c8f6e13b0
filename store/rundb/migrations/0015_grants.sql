-- What a person has allowed for good, with their yes to a question: calls of a capability, or those with exactly
-- these arguments.
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

-- Why a question is asked, what a yes may be remembered as, and as what it was.
ALTER TABLE confirmations ADD COLUMN because TEXT NOT NULL DEFAULT '';
ALTER TABLE confirmations ADD COLUMN suggestions TEXT NOT NULL DEFAULT '';
ALTER TABLE confirmations ADD COLUMN remembered TEXT NOT NULL DEFAULT '';

-- How much a run may do by itself, and which rule decided about a call.
ALTER TABLE runs ADD COLUMN mode TEXT NOT NULL DEFAULT 'default';
ALTER TABLE audit_log ADD COLUMN rule TEXT NOT NULL DEFAULT '';
