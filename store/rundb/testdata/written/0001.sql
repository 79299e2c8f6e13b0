-- An ended run with its journal, and one whose question is open.
INSERT INTO conversations (user_id, id, title, created_at, updated_at) VALUES ('anna', 't1', '午饭', 1795924800000123, 1795924801000123);
INSERT INTO runs (n, id, client_run_id, user_id, thread_id, trace_id, state, finish_reason, model, input_tokens, output_tokens, skills, tools, modern, active_ms, head, created_at, started_at, ended_at)
    VALUES (1, 'run-ended', 'label', 'anna', 't1', 'trace-1', 10, 'stop', 'demo', 12, 7, '["food"]', '["look"]', 0, 40, 3, 1795924800000123, 1795924800000123, 1795924801000123);
INSERT INTO run_events (run_n, seq, type, data, at) VALUES (1, 1, 'run_started', '{}', 1795924800000123), (1, 2, 'message_finished', '{"messageId":"answer-1"}', 1795924801000123), (1, 3, 'run_finished', '{}', 1795924801000123);
INSERT INTO messages (id, run_n, role, text, calls, abandoned, created_at) VALUES ('ask-1', 1, 'user', '今天有什么？', '', 0, 1795924800000123),
    ('call-1', 1, 'assistant', '', '[{"id":"call-inv-1","name":"look","arguments":{"n":0}}]', 0, 1795924800000123), ('answer-1', 1, 'assistant', '水煮牛肉。', '', 0, 1795924801000123);
INSERT INTO invocations (id, run_n, message_id, call_id, round, position, name, args, status, final, result, receipt, created_at, ended_at)
    VALUES ('inv-1', 1, 'call-1', 'call-inv-1', 1, 0, 'look', '{"n":0}', 'SUCCEEDED', 1, '{"dishes":3}', '{"toolInvocationId":"inv-1"}', 1795924800000123, 1795924801000123);
INSERT INTO model_calls (id, run_n, round, model, request, input_tokens, output_tokens, finish, error, started_at, duration_ms)
    VALUES ('llm-1', 1, 1, 'demo', '{"messages":[]}', 12, 7, 'stop', '', 1795924800000123, 40);
INSERT INTO audit_log (at, user_id, thread_id, run_id, trace_id, invocation_id, capability, kind, source, status, stage, code, input, output, duration_ms)
    VALUES (1795924800000123, 'anna', 't1', 'run-ended', 'trace-1', 'inv-1', 'look', 'MCP', 'model', 'SUCCEEDED', 'receipt', '', '{"n":0}', '{"dishes":3}', 5);
INSERT INTO conversations (user_id, id, title, created_at, updated_at) VALUES ('anna', 't2', '订餐', 1795924800000123, 1795924801000123);
INSERT INTO runs (n, id, client_run_id, user_id, thread_id, trace_id, state, modern, head, created_at, started_at) VALUES (2, 'run-asking', 'label-2', 'anna', 't2', 'trace-2', 2, 0, 1, 1795924800000123, 1795924800000123);
INSERT INTO run_events (run_n, seq, type, data, at) VALUES (2, 1, 'confirmation_required', '{}', 1795924800000123);
INSERT INTO messages (id, run_n, role, text, calls, abandoned, created_at) VALUES ('ask-2', 2, 'user', '订一份水煮牛肉', '', 0, 1795924800000123);
INSERT INTO invocations (id, run_n, message_id, call_id, round, position, name, args, status, final, result, receipt, created_at)
    VALUES ('inv-2', 2, 'call-2', 'call-inv-2', 1, 0, 'place_order', '{"items":[]}', 'ASKING', 0, '', '{}', 1795924800000123);
INSERT INTO confirmations (id, run_n, invocation_id, call_id, tool, args, args_digest, summary, warnings, status, created_at, deadline)
    VALUES ('conf-2', 2, 'inv-2', 'call-inv-2', 'place_order', '{"items":[]}', 'd', '{"totalFen":3200}', '["辣"]', 'OPEN', 1795924800000123, 1795925100000123);
INSERT INTO confirmations (id, run_n, invocation_id, call_id, tool, args, args_digest, summary, warnings, status, reason, decided_by, decided_via, decided_at, created_at, deadline)
    VALUES ('conf-1', 1, 'inv-1', 'call-inv-1', 'look', '{"n":0}', 'd', '', '', 'CONFIRMED', '', 'anna', 'page', 1795924800500123, 1795924800000123, 1795925100000123);
