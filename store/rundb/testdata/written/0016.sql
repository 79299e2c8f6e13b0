-- A schedule that is enabled and one that is not, with fires in every state.
INSERT INTO schedules (n, id, user_id, name, cron, time_zone, message, conversation, enabled, due_at, created_at, updated_at)
    VALUES (1, 'sched-1', 'emil', '早餐', '30 8 * * 1-5', 'Asia/Shanghai', '今天吃什么？', 'keep', 1, 1796000000000000, 1795924800000123, 1795924800000123),
           (2, 'sched-2', 'emil', '天气', '0 7 * * *', 'UTC', '天气？', 'fresh', 0, 0, 1795924800000123, 1795924800000123);
INSERT INTO fires (schedule_n, due_at, status, reason, run_id, thread_id, message, at)
    VALUES (1, 1795910000000000, 'STARTED', '', 'run-ended', 'sched-1', '今天吃什么？', 1795910000000123),
           (1, 1795911000000000, 'MISSED', 'nobody was there in time', '', 'sched-1', '今天吃什么？', 1795924800000123),
           (1, 1795912000000000, 'DUE', '', '', 'sched-1', '今天吃什么？', 1795912000000123);
