package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"agentmesh/agent/order"
	"agentmesh/app/meshtest"
)

// TestOrderCancelled: a confirmed order can be taken back by its owner, and its portions are there again
// (design, section 7), in every placement.
func TestOrderCancelled(t *testing.T) {
	t.Parallel()
	for _, p := range meshtest.Placements() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			m := p.Start(t, meshtest.Options{Change: withKeys})
			say := func(verb string) (runID, orderID string) {
				resp := m.Open("", http.MethodPost, "/agui", meshtest.Input("t-"+verb, "帮我订两份水煮牛肉。"), bearer(annsKey))
				readAll(t, resp)
				_ = resp.Body.Close()
				runID = resp.Header.Get("X-Run-Id")
				if status, body := do(t, m, annsKey, http.MethodPost, "/runs/"+runID+"/"+verb, `{}`); status != http.StatusOK {
					t.Fatalf("%s: %d %s", verb, status, body)
				}
				_, list := do(t, m, annsKey, http.MethodGet, "/api/v1/orders", "")
				return runID, firstID(t, list, "id")
			}
			_, rejected := say("reject")
			runID, confirmed := say("confirm")
			path := "/api/v1/orders/" + confirmed
			for end := time.Now().Add(10 * time.Second); ; {
				_, body := do(t, m, annsKey, http.MethodGet, path, "")
				if strings.Contains(body, string(order.Confirmed)) {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("not confirmed: %s", body)
				}
			}
			for _, c := range []struct {
				who, key, path string
				status         int
			}{
				{"another user", bobsKey, path + "/cancel", http.StatusNotFound},
				{"an agent", botsKey, path + "/cancel", http.StatusForbidden},
				{"of a rejected order", annsKey, "/api/v1/orders/" + rejected + "/cancel", http.StatusConflict},
				{"of none", annsKey, "/api/v1/orders/none/cancel", http.StatusNotFound},
				{"the owner", annsKey, path + "/cancel", http.StatusOK},
				{"the owner again", annsKey, path + "/cancel", http.StatusOK},
			} {
				if status, body := do(t, m, c.key, http.MethodPost, c.path, `{}`); status != c.status {
					t.Errorf("cancel by %s: %d %s, want %d", c.who, status, body, c.status)
				}
			}
			var audit string
			for end := time.Now().Add(10 * time.Second); !strings.Contains(audit, "return_stock") && time.Now().Before(end); {
				_, audit = do(t, m, annsKey, http.MethodGet, "/api/v1/audit?capability=return_stock&runId="+runID, "")
			}
			if !strings.Contains(audit, `"SUCCESS"`) || !strings.Contains(audit, `RETURNED`) {
				t.Errorf("the audit of the run has %s, want the return of its portions", audit)
			}
			m.Stop()
			checkBooks(t, m.Dir)
		})
	}
}
