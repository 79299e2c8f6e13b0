-- A second run of a chain: from this version on they are looked for by trace.
INSERT INTO runs (n, id, client_run_id, user_id, thread_id, trace_id, state, finish_reason, error_code, error_message, modern, head, created_at, started_at, ended_at)
    VALUES (4, 'run-failed', 'label-4', 'anna', 't1', 'trace-1', 11, 'error', 'unavailable', 'the model does not answer', 1, 0, 1795924802000123, 1795924802000123, 1795924803000123);
INSERT INTO messages (id, run_n, role, text, calls, abandoned, created_at) VALUES ('ask-4', 4, 'user', '还有呢？', '', 0, 1795924802000123);
