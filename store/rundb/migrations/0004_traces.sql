CREATE INDEX runs_by_trace ON runs (user_id, trace_id, n);
