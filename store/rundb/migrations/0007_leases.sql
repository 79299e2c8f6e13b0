-- Which process works on a run, until when, and the how-manieth claim this is: a step of an earlier claim is
-- refused, whoever writes it.
ALTER TABLE runs ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN lease_until INTEGER NOT NULL DEFAULT 0;
