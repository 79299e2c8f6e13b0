package rundb_test

import (
	"testing"

	"agentmesh/agent"
	"agentmesh/capability"
	"agentmesh/store/rundb"
)

func meansClientTools(t *testing.T, db *rundb.DB) {
	r, err := db.Run(t.Context(), "emil", "run-left")
	must(t, err)
	tool, ok := r.ClientTool("paint")
	if !ok || tool.Description != "Paints the page" || string(tool.Parameters) != `{"type":"object"}` || r.FinishReason != agent.ByClientTool {
		t.Errorf("got %+v", r)
	}
	same(t, "context", r.Client.Context, []agent.Context{{Description: "colour", Value: "red"}})
	waiting, err := db.Waiting(t.Context(), "emil", "t15")
	if err != nil || len(waiting) != 1 || waiting[0].ID != "inv-15x" || waiting[0].Status != capability.InputRequired || waiting[0].RunID != "run-left" {
		t.Errorf("got waiting %+v, %v", waiting, err)
	}
	answered, err := db.AnsweredFor(t.Context(), "run-on")
	if err != nil || len(answered) != 1 || answered[0].AnswerID != "msg-of-client" || answered[0].Words() != "done" {
		t.Errorf("got answered %+v, %v", answered, err)
	}
	if on, err := db.Run(t.Context(), "emil", "run-on"); err != nil || on.Continues != "run-left" {
		t.Errorf("got %+v, %v", on, err)
	}
}
