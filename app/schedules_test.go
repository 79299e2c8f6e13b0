package app_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"agentmesh/app/meshtest"
)

// TestSchedule_Unattended: a schedule's run orders nothing, since nobody can be asked; what was denied is listed with
// the schedule, and with the run.
func TestSchedule_Unattended(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	status, body := do(t, m, "", http.MethodPost, "/api/v1/schedules",
		`{"name":"午饭","cron":"0 11 * * 1-5","message":"帮我订一份水煮牛肉。"}`)
	if status != http.StatusCreated {
		t.Fatalf("got %d %s", status, body)
	}
	var made struct {
		ID, TimeZone, Conversation string
		Due                        []time.Time
	}
	if err := json.Unmarshal([]byte(body), &made); err != nil {
		t.Fatal(err)
	}
	if made.TimeZone != "Asia/Shanghai" || made.Conversation != "keep" || len(made.Due) != 5 || made.Due[0].UTC().Hour() != 3 {
		t.Errorf("got %+v", made)
	}
	path := "/api/v1/schedules/" + made.ID
	status, body = do(t, m, "", http.MethodPost, path+"/run", "{}")
	var fired struct {
		Fire struct{ Status, RunID string }
	}
	if err := json.Unmarshal([]byte(body), &fired); err != nil || status != http.StatusOK || fired.Fire.Status != "STARTED" {
		t.Fatalf("got %d %s, %v", status, body, err)
	}
	get(t, m, "/api/v1/runs/"+fired.Fire.RunID+"/events") // to its end
	r := readRun(t, m, fired.Fire.RunID)
	if r.Status != "SUCCEEDED" || r.Mode != "unattended" || len(r.Denied) != 1 || r.Denied[0].Name != "place_order" {
		t.Errorf("got the run %+v", r)
	}
	wantWords(t, "the schedule", get(t, m, path), `"status":"STARTED"`, fired.Fire.RunID, `"rule":"mode unattended"`, "nobody is there to be asked")
	if orders := get(t, m, "/api/v1/orders"); !strings.Contains(orders, `"items":[]`) {
		t.Errorf("got orders: %s", orders)
	}
	if status, body = do(t, m, "", http.MethodPatch, path, `{"enabled":false}`); status != http.StatusOK || !strings.Contains(body, `"due":[]`) {
		t.Errorf("turned off: got %d %s", status, body)
	}
	if status, body = do(t, m, "", http.MethodPatch, path, `{"cron":"* * *"}`); status != http.StatusBadRequest {
		t.Errorf("a wrong cron: got %d %s", status, body)
	}
	if status, body = do(t, m, "", http.MethodDelete, path, ""); status != http.StatusNoContent {
		t.Errorf("delete: got %d %s", status, body)
	}
}
