package localtool

import (
	"context"
	"encoding/json"
	"strings"

	"agentmesh/capability"
)

// page is one of the pages that there are in the simulated web.
type page struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet"`
	words   string
}

// simulatedWeb lists its pages. Nothing in them is news: they are made up, or lasting facts of the protocols spoken here.
func simulatedWeb() []page {
	return []page{
		{"Model Context Protocol", "https://example.com/mcp", "MCP lets a model use tools and data of servers over JSON-RPC.", "mcp model context protocol tool server 协议 工具"},
		{"Agent2Agent", "https://example.com/a2a", "A2A lets agents find each other by cards and give each other tasks.", "a2a agent2agent card task 智能体 协议"},
		{"AG-UI", "https://example.com/ag-ui", "AG-UI streams what an agent does to a page as events.", "ag-ui agui event stream page 页面 事件"},
		{"水煮牛肉的做法", "https://example.com/shuizhu", "川菜，牛肉片在麻辣汤汁里煮成。", "水煮牛肉 川菜 做法 菜谱 recipe sichuan beef"},
		{"SQLite", "https://example.com/sqlite", "SQLite is a database in a file; WAL mode lets readers read while one writes.", "sqlite database wal 数据库"},
	}
}

// WebSearch pretends to search (D-61): it finds pages of a small simulated web by their words, says in every result that it is
// simulated, and reaches no network.
func WebSearch(enabled bool) capability.Definition {
	return capability.Definition{
		Name: "web_search", Kind: capability.Local, Provider: "local", ReadOnly: true, Idempotent: true, Disabled: !enabled,
		Description: "Simulated web search, for demonstrations only: it knows a handful of made-up pages and reaches no network.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":200}},"required":["query"],"additionalProperties":false}`),
		Handle: func(_ context.Context, call capability.Call) (json.RawMessage, error) {
			args, err := decode[struct{ Query string }](call)
			if err != nil {
				return nil, err
			}
			return json.Marshal(map[string]any{
				"simulated": true, "note": "These pages are made up for a demonstration; no network was reached.",
				"query": args.Query, "results": searchSimulated(args.Query),
			})
		},
	}
}

// searchSimulated gives the pages with a word of the query, or whose word the query holds, in their order.
func searchSimulated(query string) []page {
	found := []page{}
	query = strings.ToLower(query)
	for _, p := range simulatedWeb() {
		for _, word := range strings.Fields(p.words) {
			if strings.Contains(query, word) {
				found = append(found, p)
				break
			}
		}
	}
	return found
}
