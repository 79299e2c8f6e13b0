-- An order that its person edited, in a run that goes on: one question replaced by another, which is open.
INSERT INTO conversations (user_id, id, title, created_at, updated_at) VALUES ('bob', 't5', 'lunch', 1795924800000123, 1795924801000123);
INSERT INTO runs (n, id, client_run_id, user_id, thread_id, trace_id, state, modern, head, created_at, started_at) VALUES (5, 'run-edited', 'label-5', 'bob', 't5', 'trace-5', 2, 0, 0, 1795924800000123, 1795924800000123);
INSERT INTO invocations (id, run_n, message_id, call_id, round, position, name, args, proposed, status, final, result, receipt, created_at)
    VALUES ('inv-5', 5, 'call-5', 'call-inv-5', 1, 0, 'place_order', '{"items":[2]}', '{"items":[1]}', 'ASKING', 0, '', '{}', 1795924800000123);
INSERT INTO confirmations (id, run_n, invocation_id, call_id, tool, args, args_digest, summary, warnings, status, reason, edited, replaced_by, decided_by, decided_via, decided_at, created_at, deadline)
    VALUES ('conf-5', 5, 'inv-5', 'call-inv-5', 'place_order', '{"items":[1]}', 'd', '{"totalFen":300}', '', 'CANCELLED', 'changed', '{"args":{"items":[2]},"argsDigest":"e"}', 'conf-6', 'bob', 'page', 1795924800500123, 1795924800000123, 1795925100000123),
           ('conf-6', 5, 'inv-5', 'call-inv-5', 'place_order', '{"items":[2]}', 'e', '{"totalFen":600}', '', 'OPEN', '', '', '', '', '', 0, 1795924800000123, 1795925100000123);
INSERT INTO orders (n, id, user_id, run_id, thread_id, invocation_id, reservation, status, reason, date, note, total_fen, created_at, updated_at, quotes)
    VALUES (5, 'order-5', 'bob', 'run-edited', 't5', 'inv-5', 'inv-5/2', 'PLACING', '', '2026-11-29', '', 600, 1795924800000123, 1795924800000123, 2);
INSERT INTO order_lines (order_n, position, dish_id, name, name_en, quantity, unit_fen, amount_fen, note) VALUES (5, 0, 'food-002', '米饭', 'Rice', 2, 300, 600, '');
INSERT INTO audit_log (at, user_id, thread_id, run_id, trace_id, invocation_id, capability, kind, source, status, stage, code, input, output, args_digest, proposed_digest, duration_ms)
    VALUES (1795924800000123, 'bob', 't5', 'run-edited', 'trace-5', 'inv-5', 'place_order', 'A2A', 'model', 'ASKING', 'confirm', '', '{"items":[2]}', '', 'e', 'd', 0);
