-- A conversation whose first run is told by a summary, and a prompt whose size was estimated.
INSERT INTO conversations (user_id, id, title, created_at, updated_at) VALUES ('dora', 't12', '过敏', 1795924800000123, 1795924801000123);
INSERT INTO runs (n, id, client_run_id, user_id, thread_id, trace_id, state, modern, origin, head, created_at, started_at, ended_at)
    VALUES (121, 'run-told', 'label-121', 'dora', 't12', 'trace-121', 10, 0, 'api', 0, 1795924800000123, 1795924800000123, 1795924801000123),
           (122, 'run-telling', 'label-122', 'dora', 't12', 'trace-122', 10, 0, 'api', 0, 1795924802000123, 1795924802000123, 1795924803000123);
INSERT INTO messages (id, run_n, role, text, calls, abandoned, created_at)
    VALUES ('ask-121', 121, 'user', '我对花生过敏。', '', 0, 1795924800000123), ('ask-122', 122, 'user', '推荐一道菜。', '', 0, 1795924802000123);
INSERT INTO summaries (run_n, covers_n, text, messages, before_tokens, after_tokens, created_at)
    VALUES (122, 121, '对花生过敏', 1, 7000, 900, 1795924802000124);
INSERT INTO model_calls (id, run_n, round, model, request, input_tokens, output_tokens, finish, error, started_at, duration_ms, estimated_tokens)
    VALUES ('llm-122', 122, 1, 'm', '', 1000, 5, 'stop', '', 1795924802000125, 3, 900);
