-- A person said yes and the catalog did not say what became of the commit: it is sent again until it does.
ALTER TABLE orders ADD COLUMN committing INTEGER NOT NULL DEFAULT 0;
