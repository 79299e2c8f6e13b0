-- Two preferences, one of them forgotten, with their words; a skill that was installed.
INSERT INTO preferences (n, id, user_id, statement, kind, run_id, created_at, forgotten_at) VALUES (1, 'pref-1', 'anna', '不吃辣', 'diet', 'run-ended', 1795924800000123, 0), (2, 'pref-2', 'anna', '喜欢清淡的', 'diet', 'run-ended', 1795924800000123, 1795924801000123);
INSERT INTO preference_words (rowid, words) VALUES (1, '不 不吃 吃 吃辣 辣'), (2, '喜 喜欢 欢 欢清 清 清淡 淡 淡的 的');
INSERT INTO skill_installations (user_id, skill_id, version, installed, enabled, granted, updated_at) VALUES ('anna', 'food', '1.0.0', 1, 0, '["orders"]', 1795924800000123);
