-- A run at work, whose process has the second claim on it.
INSERT INTO conversations (user_id, id, title, created_at, updated_at) VALUES ('bob', 't7', '天气', 1795924800000123, 1795924801000123);
INSERT INTO runs (n, id, client_run_id, user_id, thread_id, trace_id, state, modern, origin, head, created_at, started_at, owner, epoch, lease_until)
    VALUES (7, 'run-working', 'label-7', 'bob', 't7', 'trace-7', 1, 0, 'api', 1, 1795924800000123, 1795924800000123, 'process-1', 2, 1795924815000123);
INSERT INTO run_events (run_n, seq, type, data, at) VALUES (7, 1, 'run_started', '{}', 1795924800000123);
INSERT INTO messages (id, run_n, role, text, calls, abandoned, created_at) VALUES ('ask-7', 7, 'user', '上海天气怎么样？', '', 0, 1795924800000123);
INSERT INTO invocations (id, run_n, message_id, call_id, round, position, name, args, status, final, result, receipt, created_at)
    VALUES ('inv-7', 7, 'call-7', 'call-inv-7', 1, 0, 'send_letter', '{}', 'RUNNING', 0, '', '{}', 1795924800000123);
