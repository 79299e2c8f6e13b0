-- A run of AG-UI, which waits for its turn.
INSERT INTO runs (n, id, client_run_id, user_id, thread_id, trace_id, state, modern, origin, created_at) VALUES (6, 'run-pending', 'label-6', 'anna', 't2', 'trace-6', 0, 1, 'agui', 1795924804000123);
INSERT INTO messages (id, run_n, role, text, calls, abandoned, created_at) VALUES ('ask-6', 6, 'user', '谢谢', '', 0, 1795924804000123);
