-- A hold of an order that is asked about, an order that was sold, a deduction without an owner, a tombstone.
INSERT INTO dishes (id, name, name_en, category, description, description_en, price_fen, initial, available, spicy, vegetarian, allergens, tags, weekdays)
    VALUES ('food-001', '水煮牛肉', 'Sichuan boiled beef', 'meat', '', '', 3200, 40, 35, 1, 0, '[]', '["辣"]', '[1,2,3,4,5,6,7]');
INSERT INTO reservations (rkey, state, request_hash, owner, expires_at, reason, short, created, updated)
    VALUES ('inv-1/1', 'HELD', 'h', 'anna', 4102444800000, '', 'null', 0, 0), ('inv-2/1', 'COMMITTED', 'h', 'anna', 0, '', 'null', 0, 0),
           ('deduction', 'COMMITTED', 'h', '', 0, '', 'null', 0, 0), ('inv-3/1', 'RELEASED', '', '', 0, 'rejected', 'null', 0, 0);
INSERT INTO reservation_lines (rkey, dish_id, qty, unit_fen) VALUES ('inv-1/1', 'food-001', 2, 3200), ('inv-2/1', 'food-001', 2, 3200), ('deduction', 'food-001', 1, 3200);
INSERT INTO stock_ledger (rkey, dish_id, delta, why, ts) VALUES ('inv-1/1', 'food-001', -2, 'reserve', 0), ('inv-2/1', 'food-001', -2, 'reserve', 0), ('deduction', 'food-001', -1, 'reserve', 0);
