-- A run that left a call to its client, one of another whose answer came, and the run that went on with that.
INSERT INTO conversations (user_id, id, title, created_at, updated_at) VALUES ('emil', 't15', '颜色', 1795924800000123, 1795924801000123);
INSERT INTO runs (n, id, client_run_id, user_id, thread_id, trace_id, state, finish_reason, modern, origin, head, created_at, started_at, ended_at, client, continues)
    VALUES (41, 'run-left', 'label-15', 'emil', 't15', 'trace-15', 10, 'client_tool', 1, 'agui', 0, 1795924800000123, 1795924800000123, 1795924820000123,
            '{"tools":[{"name":"paint","description":"Paints the page","parameters":{"type":"object"}}],"context":[{"description":"colour","value":"red"}]}', ''),
           (42, 'run-on', 'label-16', 'emil', 't15', 'trace-15', 0, '', 1, 'agui', 0, 1795924830000123, 0, 0, '', 'run-left');
INSERT INTO invocations (id, run_n, message_id, call_id, round, position, name, args, status, final, result, receipt, created_at, ended_at, attempts, began_at, answer_id, answered_run)
    VALUES ('inv-15x', 41, 'call-15', 'call-inv-15', 1, 0, 'paint', '{}', 'INPUT_REQUIRED', 0, '', '{}', 1795924800000123, 0, 0, 1795924801000123, '', ''),
           ('inv-16x', 41, 'call-15', 'call-inv-16', 1, 1, 'paint', '{}', 'SUCCEEDED', 1, '"done"', '{"stage":"answer"}', 1795924800000123, 1795924825000123, 0, 1795924801000123, 'msg-of-client', 'run-on');
