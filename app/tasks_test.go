package app_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/app"
	"agentmesh/app/meshtest"
	"agentmesh/app/meshtest/llmstub"
	"agentmesh/capability"
	"agentmesh/skills"
)

// kitchen is a mesh with slow tools, whose model says what is scripted. It must run in a bubble.
func kitchen(t *testing.T, turns ...llmstub.Turn) (*meshtest.Mesh, *llmstub.Stub) {
	t.Helper()
	stub := llmstub.New(&llmstub.Case{ID: "demo", Turns: turns})
	pot := func(name string, asks bool, takes time.Duration) capability.Definition {
		return capability.Definition{
			Name: name, Kind: capability.Local, Provider: "local", Description: "Cooks.", InputSchema: json.RawMessage(`{"type":"object"}`),
			ReadOnly: !asks, Idempotent: asks, RequiresConfirmation: asks, Timeout: time.Minute,
			Handle: func(ctx context.Context, _ capability.Call) (json.RawMessage, error) {
				select {
				case <-time.After(takes):
					return json.RawMessage(`{"done":"` + name + `"}`), nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			},
		}
	}
	return meshtest.Start(t, meshtest.Options{With: []app.Option{
		app.WithModel(http.StripPrefix("/demo", stub)),
		app.WithSkill(skills.Manifest{
			ID: "test.kitchen", Name: "厨房", NameEn: "Kitchen", Version: "1.0.0", Publisher: "test", AlwaysOn: true,
			Capabilities: []string{"stew", "fry", "bake", "plate"}, DefaultInstalled: true,
		}, pot("stew", false, 25*time.Second), pot("fry", false, 2*time.Second), pot("bake", false, 2*time.Second), pot("plate", true, 2*time.Second)),
	}}), stub
}

func calls(names ...string) llmstub.Turn {
	var out llmstub.Turn
	for _, name := range names {
		out.Call = append(out.Call, llmstub.ScriptCall{ID: "call-" + name, Name: name, Arguments: json.RawMessage(`{}`)})
	}
	return out
}

type taskItem struct {
	ID, Status, Name, RunID, ToolCallID, DeliveredRun string
	Result                                            json.RawMessage
}

func tasksOf(m *meshtest.Mesh, user, query string) []taskItem {
	var list struct{ Items []taskItem }
	m.Get(user, "/api/v1/tasks"+query, &list)
	return list.Items
}

// TestTask_FromPlaceholderToItsOwnRun is a slow tool in the whole mesh, as its person, another one, and a model see it.
func TestTask_FromPlaceholderToItsOwnRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, stub := kitchen(t, calls("stew"), llmstub.Turn{Say: "它在后台继续。"}, llmstub.Turn{Say: "炖好了。"})
		began := time.Now()
		talk := m.Ask("ann", "t1", "炖一锅")
		if took := time.Since(began); took < 10*time.Second || took > 15*time.Second {
			t.Errorf("the run took %s, want about 10 s", took)
		}
		var about struct{ Status, TaskID string }
		for _, e := range talk.Events {
			if e.Type == agui.ToolCallResult {
				raw, _ := json.Marshal(e.Metadata["agentmesh"])
				if err := json.Unmarshal(raw, &about); err != nil || e.Content != string(agent.Placeholder(about.TaskID)) {
					t.Errorf("the result is %s, of %s", e.Content, raw)
				}
			}
		}
		running := tasksOf(m, "ann", "?status=RUNNING")
		if about.Status != "OFFLOADED" || len(running) != 1 || running[0].ID != about.TaskID || running[0].RunID != talk.RunID || running[0].ToolCallID != "call-stew" {
			t.Fatalf("got %+v and the running tasks %+v", about, running)
		}
		if status, body := m.Do("ann", http.MethodDelete, "/api/v1/conversations/t1", ""); status != http.StatusConflict {
			t.Errorf("deleting its conversation: %d %s, want 409", status, body)
		}
		for _, path := range []string{"/api/v1/tasks/" + about.TaskID, "/api/v1/tasks/" + about.TaskID + "/cancel"} {
			method := map[bool]string{true: http.MethodPost, false: http.MethodGet}[strings.HasSuffix(path, "cancel")]
			if status, body := m.Do("bob", method, path, ""); status != http.StatusNotFound {
				t.Errorf("%s %s as another: %d %s, want 404", method, path, status, body)
			}
		}
		if seen := tasksOf(m, "bob", ""); len(seen) != 0 {
			t.Errorf("another sees %+v", seen)
		}
		<-time.After(20 * time.Second)
		synctest.Wait()

		ended := tasksOf(m, "ann", "?threadId=t1")
		if len(ended) != 1 || ended[0].Status != "SUCCEEDED" || string(ended[0].Result) != `{"done":"stew"}` || ended[0].DeliveredRun == "" || ended[0].DeliveredRun == talk.RunID {
			t.Fatalf("got %+v", ended)
		}
		telling := m.Follow("ann", ended[0].DeliveredRun, "")
		telling.Rest()
		if !strings.Contains(telling.Types(), "CUSTOM:task_ended") || telling.Text() != "炖好了。" {
			t.Errorf("the run that tells: %s, %q", telling.Types(), telling.Text())
		}
		var messages struct {
			Items []struct{ Role, Content, RunID string }
		}
		m.Get("ann", "/api/v1/conversations/t1/messages", &messages)
		hints := 0
		for _, msg := range messages.Items {
			if msg.Role == "hint" {
				hints++
			}
		}
		records := stub.Records()
		asked := string(records[len(records)-1].Body)
		if hints != 1 || strings.Count(asked, `task `+about.TaskID+`: stew finished`) != 1 || strings.Contains(asked, `"role":"hint"`) {
			t.Errorf("%d hints are stored, and the model was given %s", hints, asked)
		}
		if status, body := m.Do("ann", http.MethodPost, "/api/v1/tasks/"+about.TaskID+"/cancel", ""); status != http.StatusConflict {
			t.Errorf("stopping it now: %d %s, want 409", status, body)
		}
		if status, body := m.Do("ann", http.MethodDelete, "/api/v1/conversations/t1", ""); status != http.StatusNoContent {
			t.Errorf("deleting its conversation: %d %s, want 204", status, body)
		}
		m.Stop()
	})
}

// TestTask_StoppedByItsPerson: by REST, and the same again is the same.
func TestTask_StoppedByItsPerson(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, _ := kitchen(t, calls("stew"), llmstub.Turn{Say: "它在后台继续。"}, llmstub.Turn{Say: "停了。"})
		m.Ask("ann", "t1", "炖一锅")
		id := tasksOf(m, "ann", "")[0].ID
		for range 2 {
			status, body := m.Do("ann", http.MethodPost, "/api/v1/tasks/"+id+"/cancel", "")
			if status != http.StatusOK || !strings.Contains(body, `"status":"CANCELLED"`) {
				t.Errorf("stop: %d %s", status, body)
			}
		}
		<-time.After(5 * time.Second)
		synctest.Wait()
		if got := listedRuns(m, "ann"); len(got) != 2 || got[0].Origin != "task" || got[0].Status != "SUCCEEDED" {
			t.Errorf("got the runs %+v, want one more that tells of it", got)
		}
		m.Stop()
	})
}

type runItem struct{ ID, Status, Origin string }

func listedRuns(m *meshtest.Mesh, user string) []runItem {
	var list struct{ Items []runItem }
	m.Get(user, "/api/v1/runs", &list)
	return list.Items
}

// TestCalls_TwoAtOnce: two tools of two seconds take two seconds.
func TestCalls_TwoAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, _ := kitchen(t, calls("fry", "bake"), llmstub.Turn{Say: "好了。"})
		began := time.Now()
		talk := m.Ask("ann", "t1", "做两道菜")
		if took := time.Since(began); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("took %s, want about 2 s", took)
		}
		if got := talk.Results(); got["call-fry"] != `{"done":"fry"}` || got["call-bake"] != `{"done":"bake"}` {
			t.Errorf("got %v", got)
		}
		m.Stop()
	})
}

// TestCalls_OneAsks: the other's result is in the stream before the decision.
func TestCalls_OneAsks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, _ := kitchen(t, calls("plate", "fry"), llmstub.Turn{Say: "好了。"})
		talk := m.Say("ann", "t1", "做一道菜")
		q := talk.Question()
		if e := talk.Until(func(e agui.Event) bool { return e.Type == agui.ToolCallResult }); e.ToolCallID != "call-fry" {
			t.Errorf("the first result is that of %s", e.ToolCallID)
		}
		if status, body := talk.Decide("confirm", q); status != http.StatusOK {
			t.Errorf("confirm: %d %s", status, body)
		}
		talk.Rest()
		if got := talk.Results(); got["call-plate"] != `{"done":"plate"}` {
			t.Errorf("got %v", got)
		}
		m.Stop()
	})
}
