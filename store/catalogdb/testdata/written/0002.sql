-- Two alternatives of one order: together they take what the larger one takes.
INSERT INTO reservations (rkey, state, request_hash, owner, expires_at, reason, short, created, updated, grp)
    VALUES ('inv-4/1', 'HELD', 'h', 'bob', 4102444800000, '', 'null', 0, 0, 'inv-4'), ('inv-4/2', 'HELD', 'h2', 'bob', 4102444800000, '', 'null', 0, 0, 'inv-4');
INSERT INTO reservation_lines (rkey, dish_id, qty, unit_fen) VALUES ('inv-4/1', 'food-001', 1, 3200), ('inv-4/2', 'food-001', 3, 3200);
INSERT INTO stock_ledger (rkey, dish_id, delta, why, ts) VALUES ('inv-4/1', 'food-001', -1, 'reserve', 0), ('inv-4/2', 'food-001', -2, 'reserve', 0);
UPDATE dishes SET available = available - 3 WHERE id = 'food-001';
