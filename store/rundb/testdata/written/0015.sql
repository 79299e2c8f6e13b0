-- A question that was remembered, one that suggests what it may be remembered as, and a run that only reads.
INSERT INTO conversations (user_id, id, title, created_at, updated_at) VALUES ('dora', 't15', '看看', 1795924800000123, 1795924801000123);
INSERT INTO runs (n, id, client_run_id, user_id, thread_id, trace_id, state, modern, origin, head, created_at, started_at, mode)
    VALUES (15, 'run-explore', 'label-15', 'dora', 't15', 'trace-15', 2, 0, 'api', 0, 1795924800000123, 1795924800000123, 'explore');
INSERT INTO confirmations (id, run_n, invocation_id, call_id, tool, args, args_digest, summary, warnings, status, decided_by, decided_via, decided_at, created_at, deadline, because, suggestions, remembered)
    VALUES ('conf-15', 15, 'inv-15', 'call-15', 'look', '{"city":"上海"}', 'd', '', '', 'CONFIRMED', 'dora', 'rest', 1795924801000123, 1795924800000123, 1795925100000123, 'be careful',
            '[{"id":"args","capability":"look","args":{"city":"上海"}},{"id":"tool","capability":"look"}]', 'args'),
           ('conf-16', 15, 'inv-16', 'call-16', 'look', '{"city":"北京"}', 'd', '', '', 'OPEN', '', '', 0, 1795924800000123, 1796529600000123, 'be careful', '[{"id":"tool","capability":"look"}]', '');
INSERT INTO grants (n, id, user_id, capability, args, confirmation_id, created_at, revoked_at)
    VALUES (1, 'grant-1', 'dora', 'look', '{"city":"上海"}', 'conf-15', 1795924801000123, 0),
           (2, 'grant-2', 'dora', 'send', '', 'conf-14', 1795924801000123, 0),
           (3, 'grant-3', 'dora', 'send', '', 'conf-13', 1795924801000123, 1795924802000123);
INSERT INTO audit_log (at, user_id, thread_id, run_id, trace_id, invocation_id, capability, kind, source, status, stage, code, input, output, duration_ms, rule)
    VALUES (1795924801000123, 'dora', 't15', 'run-explore', 'trace-15', 'inv-17', 'send', 'LOCAL', 'model', 'DENIED', 'policy', 'denied', '{}', '{}', 0, 'mode explore');
