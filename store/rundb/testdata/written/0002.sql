-- The order of the open question, which holds its portions; one that was rejected and whose portions are on
-- their way back; a delivery that was made.
INSERT INTO orders (n, id, user_id, run_id, thread_id, invocation_id, reservation, status, reason, date, note, total_fen, created_at, updated_at)
    VALUES (1, 'order-2', 'anna', 'run-asking', 't2', 'inv-2', 'inv-2/1', 'PLACING', '', '2026-11-29', '快一点', 6700, 1795924800000123, 1795924800000123),
           (2, 'order-9', 'anna', 'run-gone', 't9', 'inv-9', 'inv-9/1', 'REJECTED', 'expired', '2026-11-28', '', 300, 1795924800000123, 1795924800000123);
INSERT INTO order_lines (order_n, position, dish_id, name, name_en, quantity, unit_fen, amount_fen, note)
    VALUES (1, 0, 'food-001', '水煮牛肉', 'Sichuan boiled beef', 2, 3200, 6400, '不要辣'), (1, 1, 'food-002', '米饭', 'Rice', 1, 300, 300, ''), (2, 0, 'food-002', '米饭', 'Rice', 1, 300, 300, '');
INSERT INTO outbox (user_id, okey, op, reason, attempts, next_at, done_at)
    VALUES ('anna', 'inv-9/1', 'release_reservation', 'expired', 2, 1795924800000123, 0), ('anna', 'inv-8/1', 'release_reservation', 'rejected', 0, 1795924800000123, 1795924801000123);
