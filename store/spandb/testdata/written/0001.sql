INSERT INTO spans (trace_id, id, parent_id, run_id, module, kind, name, started_at, ended_at, error, attributes)
    VALUES ('4bf92f3577b34da6a3ce929d0e0e4736', '0000000000000001', '', 'run-1', 'food', 'agent', 'invoke_agent food', 1795924800000123, 1795924801000123, '', '{"gen_ai.agent.name":"food"}');
