package localtool

import (
	"context"
	"encoding/json"

	"agentmesh/capability"
)

// WebSearch pretends to search (D-61). It exists to show a tool that is switched on by configuration,
// and says of itself that it finds nothing real.
func WebSearch(enabled bool) capability.Definition {
	return capability.Definition{
		Name: "web_search", Kind: capability.Local, Provider: "local", ReadOnly: true, Idempotent: true, Disabled: !enabled,
		Description: "Simulated web search, for demonstrations only: its results are made up and marked so.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":200}},"required":["query"],"additionalProperties":false}`),
		Handle: func(_ context.Context, call capability.Call) (json.RawMessage, error) {
			args, err := decode[struct{ Query string }](call)
			if err != nil {
				return nil, err
			}
			return json.Marshal(map[string]any{"simulated": true, "query": args.Query, "results": []map[string]string{
				{"title": "Simulated result", "snippet": "This search is a demonstration and reached no network."},
			}})
		},
	}
}

// ExecutePython pretends to run code (D-61). It always asks, and runs nothing.
func ExecutePython(enabled bool) capability.Definition {
	return capability.Definition{
		Name: "execute_python", Kind: capability.Local, Provider: "local", RequiresConfirmation: true, Disabled: !enabled,
		Description: "Simulated Python, for demonstrations only: the code is not run.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"code":{"type":"string","minLength":1,"maxLength":4000}},"required":["code"],"additionalProperties":false}`),
		Handle: func(context.Context, capability.Call) (json.RawMessage, error) {
			return json.Marshal(map[string]any{"simulated": true, "stdout": "", "note": "the code was not run"})
		},
	}
}
