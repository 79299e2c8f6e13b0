-- Holds of one group are alternatives: an order and what the person made of it while it was asked about.
-- At most one of them is committed, and together they take what the largest takes. A key is
-- <invocation>/<n>, and the group its invocation; any other key is a group of its own.
ALTER TABLE reservations ADD COLUMN grp TEXT NOT NULL DEFAULT '';
UPDATE reservations SET grp = CASE instr(rkey, '/') WHEN 0 THEN rkey ELSE substr(rkey, 1, instr(rkey, '/') - 1) END;
CREATE INDEX reservations_group ON reservations (grp) WHERE state IN ('HELD', 'COMMITTED');
