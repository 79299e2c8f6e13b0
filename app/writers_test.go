package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"agentmesh/agent/agui"
	"agentmesh/app/meshtest"
)

// writer is a client that writes without a pause, and remembers what was accepted.
type writer struct {
	t    *testing.T
	m    *meshtest.Mesh
	user string

	said     map[string][]string // texts by conversation
	titles   map[string]string
	deleted  []string
	memories []string
	orders   map[string]int // by status
}

// TestWriters: whoever else writes, nothing that was accepted is lost, nothing answers 5xx, and the database is never
// too busy (db-locked of the public reports).
func TestWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := launch(t, "--listen", "127.0.0.1:0", "--data", dir)
	m := meshtest.At(t, p.url)
	mustRun(t, "catalog", "restock", "food-001", "100000", "--data", dir)
	before := stock(t, m, "food-001")
	writers := make([]*writer, 50)
	var everybody sync.WaitGroup
	var done atomic.Int64
	end := time.Now().Add(*writersTime)
	for i := range writers {
		w := &writer{t: t, m: m, user: fmt.Sprintf("writer-%02d", i), said: map[string][]string{}, titles: map[string]string{}, orders: map[string]int{}}
		writers[i] = w
		everybody.Go(func() {
			for n := i; n == i || time.Now().Before(end); n++ { // each begins with another kind
				w.write(n)
				done.Add(1)
			}
		})
	}
	everybody.Wait()
	sold, all := 0, map[string]int{}
	for _, w := range writers {
		w.check(all)
		sold += w.orders["CONFIRMED"]
	}
	t.Logf("%d writes of 50 clients: %v", done.Load(), all)
	awaitStock(t, m, before-sold)
	checkSound(t, p)
	p.stop(syscall.SIGTERM)
	checkBooks(t, dir)
}

// write does the nth thing.
func (w *writer) write(n int) {
	thread := fmt.Sprint("t", n/7)
	switch n % 7 {
	case 0, 1:
		w.say(thread, fmt.Sprintf("你好，这是第%d句", n))
	case 2:
		memory := fmt.Sprintf("第%d号套餐", n)
		w.say(thread, "记住我喜欢"+memory)
		w.memories = append(w.memories, memory)
	case 3, 4:
		w.order(thread, n)
	case 5:
		title := fmt.Sprint("标题", n)
		if len(w.said[thread]) == 0 { // the first round of a client begins in the middle
			w.say(thread, "你好")
		}
		if status, body := w.m.Do(w.user, http.MethodPatch, "/api/v1/conversations/"+thread, `{"title":"`+title+`"}`); status != http.StatusOK {
			w.t.Errorf("rename: %d %s", status, body)
		}
		w.titles[thread] = title
	case 6:
		if n%2 == 0 || len(w.said[thread]) == 0 {
			return
		}
		if status, body := w.m.Do(w.user, http.MethodDelete, "/api/v1/conversations/"+thread, ""); status != http.StatusNoContent {
			w.t.Errorf("delete: %d %s", status, body)
		}
		delete(w.said, thread)
		delete(w.titles, thread)
		w.deleted = append(w.deleted, thread)
	}
}

func (w *writer) say(thread, text string) {
	talk := w.m.Ask(w.user, thread, text)
	if talk.Last().Type != agui.RunFinished || talk.Text() == "" {
		w.t.Errorf("%s ended with %s", text, talk.Types())
	}
	w.said[thread] = append(w.said[thread], text, talk.Text())
}

// order says no to most.
func (w *writer) order(thread string, n int) {
	talk := w.m.Say(w.user, thread, "帮我订一份水煮牛肉。")
	verb, status := "reject", "REJECTED"
	if n%4 == 0 {
		verb, status = "confirm", "CONFIRMED"
	}
	if code, body := talk.Decide(verb, talk.Question()); code != http.StatusOK {
		w.t.Errorf("%s: %d %s", verb, code, body)
	}
	talk.Rest()
	w.orders[status]++
	w.said[thread] = append(w.said[thread], "帮我订一份水煮牛肉。", talk.Text())
}

// check compares what is there with what was accepted, and counts it.
func (w *writer) check(all map[string]int) {
	w.t.Helper()
	for thread, texts := range w.said {
		var got struct {
			Items []struct{ Role, Content string }
		}
		w.m.Get(w.user, "/api/v1/conversations/"+thread+"/messages?limit=100", &got)
		var kept []string
		for _, msg := range got.Items {
			if msg.Role != "tool" && msg.Content != "" {
				kept = append(kept, msg.Content)
			}
		}
		if !slices.Equal(kept, texts) {
			w.t.Errorf("%s has in %s\n%q, want\n%q", w.user, thread, kept, texts)
		}
		all["messages"] += len(kept)
	}
	for thread, title := range w.titles {
		var c struct{ Title string }
		if w.m.Get(w.user, "/api/v1/conversations/"+thread, &c); c.Title != title {
			w.t.Errorf("%s of %s has the title %q, want %q", thread, w.user, c.Title, title)
		}
		all["titles"]++
	}
	for _, thread := range w.deleted {
		if status, _ := w.m.Do(w.user, http.MethodGet, "/api/v1/conversations/"+thread, ""); status != http.StatusNotFound {
			w.t.Errorf("%s of %s was deleted, and answers %d", thread, w.user, status)
		}
		all["deleted"]++
	}
	kept := map[string]int{}
	for cursor, first := "", true; first || cursor != ""; first = false {
		var part struct {
			Items      []orderView
			NextCursor string
		}
		w.m.Get(w.user, "/api/v1/orders?limit=100&cursor="+cursor, &part)
		for _, o := range part.Items {
			kept[o.Status]++
			all["orders"]++
		}
		cursor = part.NextCursor
	}
	if fmt.Sprint(kept) != fmt.Sprint(w.orders) {
		w.t.Errorf("%s has the orders %v, want %v", w.user, kept, w.orders)
	}
	var preferences strings.Builder
	for _, p := range listed(w.m, w.user, "/api/v1/preferences?limit=200").Items {
		preferences.WriteString(p.Statement + "\n")
	}
	for _, memory := range w.memories {
		if !strings.Contains(preferences.String(), memory) {
			w.t.Errorf("%s is not told any more to like %s: %q", w.user, memory, preferences.String())
		}
		all["memories"]++
	}
}
