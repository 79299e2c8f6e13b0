package localtool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/capability"
)

const (
	maxStatement = 200 // characters of one statement
	maxRecalled  = 50
)

// remembered is a preference as the model sees it.
type remembered struct {
	ID        string `json:"id"`
	Statement string `json:"statement"`
	Kind      string `json:"kind"`
}

func shown(list []agent.Preference) []remembered {
	out := make([]remembered, 0, len(list))
	for _, p := range list {
		out = append(out, remembered{p.ID, p.Statement, p.Kind})
	}
	return out
}

// Remember stores a lasting fact about the person. It writes, but asks nobody (D-59).
func Remember(store agent.PreferenceStore, now func() time.Time) capability.Definition {
	return capability.Definition{
		Name: "remember_preference", Kind: capability.Local, Provider: "local", Idempotent: true,
		Description: "Remembers one lasting fact about the person, as a short sentence, for this and later conversations.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{
			"statement":{"type":"string","minLength":1,"maxLength":200,"description":"One short sentence, such as 用户不吃辣 or User does not eat spicy food"},
			"kind":{"type":"string","enum":["diet","taste","allergy","place","other"]}},
			"required":["statement"],"additionalProperties":false}`),
		Handle: func(ctx context.Context, call capability.Call) (json.RawMessage, error) {
			args, err := decode[struct{ Statement, Kind string }](call)
			if err != nil {
				return nil, err
			}
			statement := strings.Join(strings.Fields(args.Statement), " ")
			if statement == "" || utf8.RuneCountInString(statement) > maxStatement {
				return nil, fault.New(fault.Invalid, "the statement must have 1 to %d characters", maxStatement)
			}
			if args.Kind == "" {
				args.Kind = "other"
			}
			p, err := store.Remember(ctx, agent.Preference{
				ID: flow.NewID("pref"), UserID: call.UserID, Statement: statement, Kind: args.Kind, RunID: call.RunID, CreatedAt: now(),
			})
			if err != nil {
				return nil, err
			}
			return json.Marshal(map[string]any{"remembered": remembered{p.ID, p.Statement, p.Kind}, "superseded": []remembered{}})
		},
	}
}

// Recall finds what was remembered, in whichever conversation that was.
func Recall(store agent.PreferenceStore) capability.Definition {
	return capability.Definition{
		Name: "recall_preferences", Kind: capability.Local, Provider: "local", ReadOnly: true, Idempotent: true,
		Description: "Lists what is remembered about the person. Without a query everything.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{
			"query":{"type":"string","maxLength":200,"description":"Words to look for; leave out to get everything"}},"additionalProperties":false}`),
		Handle: func(ctx context.Context, call capability.Call) (json.RawMessage, error) {
			args, err := decode[struct{ Query string }](call)
			if err != nil {
				return nil, err
			}
			found, err := store.Recall(ctx, call.UserID, args.Query, maxRecalled)
			if err != nil {
				return nil, err
			}
			return json.Marshal(map[string]any{"preferences": shown(found)})
		},
	}
}

// Forget takes what was remembered out of use, by id or by words.
func Forget(store agent.PreferenceStore, now func() time.Time) capability.Definition {
	return capability.Definition{
		Name: "forget_preference", Kind: capability.Local, Provider: "local", Idempotent: true,
		Description: "Forgets one remembered fact: by its id from recall_preferences, or by words that occur in it.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{
			"id":{"type":"string","maxLength":100},"query":{"type":"string","maxLength":200}},"additionalProperties":false}`),
		Handle: func(ctx context.Context, call capability.Call) (json.RawMessage, error) {
			args, err := decode[struct{ ID, Query string }](call)
			if err != nil {
				return nil, err
			}
			found, err := toForget(ctx, store, call.UserID, args.ID, args.Query)
			if err != nil {
				return nil, err
			}
			ids := make([]string, 0, len(found))
			for _, p := range found {
				ids = append(ids, p.ID)
			}
			if err := store.Forget(ctx, call.UserID, ids, now()); err != nil {
				return nil, err
			}
			return json.Marshal(map[string]any{"forgotten": shown(found)})
		},
	}
}

// toForget finds what is meant: one by its id, or the best match of the words.
func toForget(ctx context.Context, store agent.PreferenceStore, userID, id, query string) ([]agent.Preference, error) {
	switch {
	case id != "":
		all, err := store.Recall(ctx, userID, "", maxRecalled)
		if err != nil {
			return nil, err
		}
		for _, p := range all {
			if p.ID == id {
				return []agent.Preference{p}, nil
			}
		}
		return nil, fault.New(fault.NotFound, "nothing is remembered under the id %q", id)
	case strings.TrimSpace(query) != "":
		return store.Recall(ctx, userID, query, 1)
	}
	return nil, fault.New(fault.Invalid, "say what to forget: id or query")
}

// Statements gives what is remembered about a user as plain sentences.
func Statements(store agent.PreferenceStore) func(ctx context.Context, userID string) ([]string, error) {
	return func(ctx context.Context, userID string) ([]string, error) {
		found, err := store.Recall(ctx, userID, "", maxRecalled)
		if err != nil {
			return nil, err
		}
		out := make([]string, 0, len(found))
		for _, p := range found {
			out = append(out, p.Statement)
		}
		return out, nil
	}
}

func decode[T any](call capability.Call) (T, error) {
	var v T
	if err := json.Unmarshal(call.Args, &v); err != nil {
		return v, fmt.Errorf("read arguments of %s: %w", call.Name, err)
	}
	return v, nil
}
