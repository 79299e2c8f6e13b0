-- A call that goes on in the background of a run which has ended, and one whose outcome nobody has told.
INSERT INTO conversations (user_id, id, title, created_at, updated_at) VALUES ('dora', 't13', '慢', 1795924800000123, 1795924801000123);
INSERT INTO runs (n, id, client_run_id, user_id, thread_id, trace_id, state, modern, origin, head, created_at, started_at, ended_at)
    VALUES (13, 'run-slow', 'label-13', 'dora', 't13', 'trace-13', 10, 0, 'api', 0, 1795924800000123, 1795924800000123, 1795924820000123);
INSERT INTO invocations (id, run_n, message_id, call_id, round, position, name, args, status, final, result, receipt, created_at, ended_at, attempts, began_at, task_id)
    VALUES ('inv-13', 13, 'call-13', 'call-inv-13', 1, 0, 'search_food_catalog', '{"q":1}', 'OFFLOADED', 0, '', '{}', 1795924800000123, 0, 0, 0, 'task-13'),
           ('inv-14', 13, 'call-13', 'call-inv-14', 1, 1, 'search_food_catalog', '{"q":2}', 'FAILED', 1, '{"error":{"code":"timeout"}}', '{}', 1795924800000123, 1795924825000123, 0, 0, 'task-14');
INSERT INTO tasks (id, origin, user_id, thread_id, run_n, invocation_id, state, started_at, ended_at, owner, epoch, lease_until)
    VALUES ('task-13', 'call', 'dora', 't13', 13, 'inv-13', 'RUNNING', 1795924810000123, 0, 'owner-1', 1, 1795924835000123),
           ('task-14', 'call', 'dora', 't13', 13, 'inv-14', 'FAILED', 1795924810000123, 1795924825000123, '', 1, 0);
