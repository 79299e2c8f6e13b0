-- An answer that was thought about, and cut off.
INSERT INTO messages (n, id, run_n, role, text, calls, abandoned, created_at, reasoning)
    VALUES (11, 'msg-11', 1, 'assistant', 'Thought through, then cut off.', '', 1, 1795924800000124, 'Let me think.');
