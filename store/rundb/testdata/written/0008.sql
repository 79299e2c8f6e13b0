-- A call that was tried twice, and of which nobody knows; its first question was answered, the second is open.
INSERT INTO conversations (user_id, id, title, created_at, updated_at) VALUES ('carol', 't8', '写信', 1795924800000123, 1795924801000123);
INSERT INTO runs (n, id, client_run_id, user_id, thread_id, trace_id, state, modern, origin, head, created_at, started_at)
    VALUES (8, 'run-unknown', 'label-8', 'carol', 't8', 'trace-8', 2, 0, 'api', 0, 1795924800000123, 1795924800000123);
INSERT INTO invocations (id, run_n, message_id, call_id, round, position, name, args, status, final, result, receipt, created_at, attempts, began_at)
    VALUES ('inv-8', 8, 'call-8', 'call-inv-8', 1, 0, 'send_letter', '{"to":"bob"}', 'ASKING', 0, '', '{}', 1795924800000123, 2, 1795924802000123);
INSERT INTO confirmations (id, run_n, invocation_id, call_id, tool, args, args_digest, summary, warnings, status, decided_by, decided_via, decided_at, created_at, deadline, kind, attempt, answer)
    VALUES ('conf-8', 8, 'inv-8', 'call-inv-8', 'send_letter', '{"to":"bob"}', 'd', '', '', 'ANSWERED', 'carol', 'rest', 1795924801000123, 1795924800000123, 1796529600000123, 'outcome',
            '{"number":1,"began":"2026-11-29T12:00:00.000123Z","why":"interrupted","message":"it stopped"}', 'try_again'),
           ('conf-9', 8, 'inv-8', 'call-inv-8', 'send_letter', '{"to":"bob"}', 'd', '', '', 'OPEN', '', '', 0, 1795924803000123, 1796529603000123, 'outcome',
            '{"number":2,"began":"2026-11-29T12:00:02.000123Z","why":"timeout","message":"no answer"}', '');
