package app_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"agentmesh/app/meshtest"
)

// runsOf counts a user's runs.
func runsOf(t *testing.T, m *meshtest.Mesh, user string) int {
	t.Helper()
	var list struct{ Items []struct{ ID string } }
	m.Get(user, "/api/v1/runs", &list)
	return len(list.Items)
}

// TestSameInput_IsOneRun: a client that lost the answer sends its input again, whichever way, and sees the run
// that it began, also in the next process.
func TestSameInput_IsOneRun(t *testing.T) {
	t.Parallel()
	o := meshtest.Options{Dir: t.TempDir()}
	m := meshtest.Start(t, o)
	body := meshtest.Input("t1", "水煮牛肉多少钱，还有库存吗？")
	first := whole(t, m, "ann", "/api/v1/runs", body)
	check := func(path string) {
		t.Helper()
		again := whole(t, m, "ann", path, body)
		if again.RunID != first.RunID || again.Text() != first.Text() || len(again.Tools()) != len(first.Tools()) {
			t.Errorf("%s shows the run %s with %q, want %s with %q", path, again.RunID, again.Text(), first.RunID, first.Text())
		}
	}
	for _, path := range []string{"/api/v1/runs", "/agui", copilot + "/run"} {
		check(path)
	}
	m.Stop()
	m = meshtest.Start(t, o)
	check("/agui")
	if n := runsOf(t, m, "ann"); n != 1 {
		t.Errorf("there are %d runs, want 1", n)
	}
	if other := whole(t, m, "bob", "/agui", body); other.RunID == first.RunID {
		t.Error("another user's input showed ann's run")
	}
	if other := whole(t, m, "ann", "/agui", strings.Replace(body, "水煮牛肉", "麻婆豆腐", 1)); other.RunID == first.RunID {
		t.Error("another text under the same ids showed the first run")
	}
}

// TestSameInput_ManyAtOnce: however many arrive together, one order is asked about.
func TestSameInput_ManyAtOnce(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	body := meshtest.Input("t1", "帮我订一份水煮牛肉。")
	ids := make([]string, 20)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			path := []string{"/agui", copilot + "/run"}[i%2]
			resp := m.Open("ann", http.MethodPost, path, body, nil)
			defer func() { _ = resp.Body.Close() }()
			if stream := readAll(t, resp); !strings.Contains(stream, `"type":"interrupt"`) {
				t.Errorf("stream %d shows no question: %s", i, stream)
			}
			ids[i] = resp.Header.Get("X-Run-Id")
		})
	}
	wg.Wait()
	for i, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("stream %d is of the run %q, want %q", i, id, ids[0])
		}
	}
	if n := runsOf(t, m, "ann"); n != 1 {
		t.Errorf("there are %d runs, want 1", n)
	}
	awaitQuestions(t, m, 1)
	if list := orders(m, "ann"); len(list) != 1 {
		t.Errorf("orders: %+v, want one", list)
	}
}

// TestSameInput_WhileItWaits: the interrupt is shown again, under the run that it belongs to, where another
// input gets only the refusal (F-24); so does the open stream show its question.
func TestSameInput_WhileItWaits(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	body := meshtest.Input("t1", "帮我订一份水煮牛肉。")
	first := standard(t, m, body)
	id := interruptOf(t, first)
	again := standard(t, m, body)
	if got := interruptOf(t, again); got != id || again.RunID != first.RunID || len(again.Tools()) != 1 {
		t.Errorf("the same input shows %s of %s after %s, want %s of %s", got, again.RunID, again.Types(), id, first.RunID)
	}
	talk := m.Stream("ann", "/api/v1/runs", body)
	if q := talk.Question(); q.ID != id || talk.RunID != first.RunID {
		t.Errorf("the open stream shows %s of %s", q.ID, talk.RunID)
	}
	if status, _ := m.Do("ann", http.MethodPost, "/api/v1/runs", meshtest.Input("t1", "再说一句")); status != http.StatusConflict {
		t.Errorf("another input: %d, want 409", status)
	}
	talk.Answer("confirm", `{}`)
	talk.Rest()
	if list := orders(m, "ann"); len(list) != 1 || list[0].Status != "CONFIRMED" {
		t.Errorf("orders: %+v", list)
	}
	done := standard(t, m, body)
	if done.Last().Outcome != nil || done.Text() != talk.Text() {
		t.Errorf("after its end it shows %+v", done.Last())
	}
}
