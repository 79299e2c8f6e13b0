-- An order whose commit was not answered.
INSERT INTO orders (n, id, user_id, run_id, thread_id, invocation_id, reservation, status, reason, date, note, total_fen, created_at, updated_at, committing)
    VALUES (10, 'order-10', 'carol', 'run-unknown', 't8', 'inv-10', 'inv-10/1', 'PLACING', '', '2026-11-30', '', 200, 1795924800000123, 1795924800000123, 1);
INSERT INTO order_lines (order_n, position, dish_id, name, name_en, quantity, unit_fen, amount_fen, note) VALUES (10, 0, 'food-003', '米饭', 'Rice', 1, 200, 200, '');
