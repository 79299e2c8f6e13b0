-- A restock and another price.
INSERT INTO stock_ledger (rkey, dish_id, delta, why, ts) VALUES (NULL, 'food-001', 5, 'restock', 0);
INSERT INTO price_ledger (dish_id, from_fen, to_fen, ts) VALUES ('food-001', 3200, 3500, 0);
UPDATE dishes SET available = available + 5, price_fen = 3500 WHERE id = 'food-001';
