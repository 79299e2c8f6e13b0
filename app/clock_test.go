package app_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentmesh/app/meshtest"
)

// TestClockPutForward_HoldAndCard: a clock that jumps by a day ends card and hold; a yes is refused openly, nothing
// is sold, and the portion is there for the next one (notes on durability, 3.5).
func TestClockPutForward_HoldAndCard(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	m := meshtest.Start(t, meshtest.Options{Now: now})
	before := stock(t, m, "food-001")
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	ahead.Store(int64(24 * time.Hour))
	if status, body := talk.Decide("confirm", q); status != http.StatusGone || !strings.Contains(body, `"EXPIRED"`) {
		t.Errorf("a yes after the jump: %d %s, want 410 and the expired question", status, body)
	}
	talk.Rest()
	awaitSettled(t, m)
	if list := orders(m, "ann"); len(list) != 1 || list[0].Status != "REJECTED" {
		t.Errorf("orders: %+v, want one REJECTED", list)
	}
	awaitStock(t, m, before)
	m.Stop()
	checkBooks(t, m.Dir)
}

// TestHoldExpiredBeforeTheYes: the catalog alone judges holds, by its own clock. Where it has expired one whose card
// is open still, the yes counts, and the order is refused openly: never is something sold that nobody held.
func TestHoldExpiredBeforeTheYes(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	before := stock(t, m, "food-001")
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	q := talk.Question()
	execute(t, filepath.Join(m.Dir, "catalog.db"), `UPDATE reservations SET expires_at = 1`)
	if status, body := talk.Decide("confirm", q); status != http.StatusOK {
		t.Errorf("a yes: %d %s", status, body)
	}
	talk.Rest()
	awaitSettled(t, m)
	if list := orders(m, "ann"); len(list) != 1 || list[0].Status != "REJECTED" || list[0].Reason != "hold_expired" {
		t.Errorf("orders: %+v, want one REJECTED since its hold expired", list)
	}
	if strings.TrimSpace(talk.Text()) == "" {
		t.Error("nobody was told")
	}
	awaitStock(t, m, before)
	m.Stop()
	checkBooks(t, m.Dir)
}
