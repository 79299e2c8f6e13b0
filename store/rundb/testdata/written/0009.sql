-- An input that is known when it comes again.
INSERT INTO runs (n, id, client_run_id, user_id, thread_id, trace_id, state, modern, origin, created_at, input_key)
    VALUES (9, 'run-known', 'label-9', 'carol', 't8', 'trace-9', 0, 0, 'agui', 1795924804000123, 'key-9');
INSERT INTO messages (id, run_n, role, text, calls, abandoned, created_at) VALUES ('ask-9', 9, 'user', '谢谢', '', 0, 1795924804000123);
