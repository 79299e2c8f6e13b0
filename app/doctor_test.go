package app_test

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentmesh/app"
	"agentmesh/app/meshtest"
)

// examine runs doctor and gives its exit status, what it says as LEVEL NAME, and all of its words.
func examine(t *testing.T, args ...string) (status int, seen []string, text string) {
	t.Helper()
	status, out, errs := run(append([]string{"doctor", "--json", "--listen", "127.0.0.1:0"}, args...)...)
	var report struct {
		Checks []struct{ Name, Level, Say, Do string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("doctor: %v in %s%s", err, out, errs)
	}
	for _, c := range report.Checks {
		seen = append(seen, c.Level+" "+c.Name)
	}
	return status, seen, out + errs
}

func TestDoctor_Healthy(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	if status, seen, text := examine(t, "--data", dir); status != 0 || !slices.Contains(seen, "warning access") {
		t.Errorf("before the first start: got %d %s", status, text)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("doctor made the folder")
	}
	m := meshtest.Processes.Start(t, meshtest.Options{Dir: filepath.Join(t.TempDir(), "data")}) // the program makes it for itself alone
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	talk.Decide("confirm", talk.Question())
	talk.Rest()
	open := m.Say("ann", "t2", "帮我订一份水煮牛肉。")
	open.Question() // doctor looks while portions are held
	_, seen, text := examine(t, "--data", m.Dir)
	for _, name := range []string{"databases", "books", "files", "settings", "time", "model"} {
		if !slices.Contains(seen, "ok "+name) || slices.Contains(seen, "problem "+name) {
			t.Errorf("running: %s is not ok:\n%s", name, text)
		}
	}
	go open.Rest()
	m.Stop()
	if status, seen, text := examine(t, "--data", m.Dir); status != 0 || slices.Contains(seen, "warning books") {
		t.Errorf("stopped with an open question: got %d %s", status, text)
	}
	again := meshtest.Start(t, meshtest.Options{Dir: m.Dir}) // what doctor did hinders no start
	again.Do("ann", http.MethodPost, "/runs/"+open.RunID+"/cancel", `{}`)
}

// Each damage to the books of a sound mesh is found.
func TestDoctor_FindsWhatIsWrongWithTheBooks(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	talk := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	talk.Decide("confirm", talk.Question())
	talk.Rest()
	m.Stop()
	checkBooks(t, m.Dir)
	cases := []struct {
		name, file, damage, words string
		status                    int
	}{
		{"stock", "catalog.db", `UPDATE dishes SET available = 99 WHERE id = 'food-001'`, "food-001: available 99", 1},
		{"an order that nobody sold", "orchestrator.db", `UPDATE orders SET reservation = 'x'`, "belongs to no order", 1},
		{"sold and rejected", "orchestrator.db", `UPDATE orders SET status = 'REJECTED'`, "is REJECTED and its reservation COMMITTED", 1},
		{"given back and confirmed", "catalog.db", `UPDATE reservations SET state = 'RETURNED'`, "is CONFIRMED and its reservation RETURNED", 1},
		{"other lines", "orchestrator.db", `UPDATE order_lines SET quantity = 2`, "differ in their lines", 1},
		{"another sum", "orchestrator.db", `UPDATE orders SET total_fen = 1`, "its total is 1 fen and its lines make 3200", 1},
		{"nobody agreed", "orchestrator.db", `UPDATE confirmations SET status = 'REJECTED'`, "without a CONFIRMED question", 1},
		{"not settled", "orchestrator.db", `UPDATE orders SET status = 'PLACING'`, "the program settles it", 0},
		{"held for nobody", "catalog.db", `UPDATE reservations SET state = 'HELD', expires_at = 32503680000000`, "held for nobody", 1},
		{"a newer program's", "catalog.db", `PRAGMA user_version = 99`, "version 99", 1},
		{"damaged spans", "spans/food.db", "", "only old traces are in it", 1},
		{"an older program's", "catalog.db", `PRAGMA user_version = 1`, "of an earlier version", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, name := range []string{"catalog.db", "orchestrator.db"} {
				raw, err := os.ReadFile(filepath.Join(m.Dir, name))
				if err != nil {
					t.Fatal(err)
				}
				writeFile(t, filepath.Join(dir, name), string(raw))
			}
			if err := app.CheckBooks(t.Context(), dir); err != nil {
				t.Fatalf("before: %v", err)
			}
			if c.damage != "" {
				execute(t, filepath.Join(dir, c.file), c.damage)
			} else {
				if err := os.Mkdir(filepath.Join(dir, "spans"), 0o700); err != nil {
					t.Fatal(err)
				}
				writeFile(t, filepath.Join(dir, c.file), "no database")
			}
			status, _, text := examine(t, "--data", dir)
			if status != c.status {
				t.Errorf("got %d, want %d", status, c.status)
			}
			wantWords(t, "doctor", text, c.words)
			if err := app.CheckBooks(t.Context(), dir); err == nil && c.damage != "" {
				t.Error("CheckBooks finds nothing")
			}
		})
	}
}

func TestDoctor_FindsWhatIsUnsafe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if status, seen, text := examine(t, "--data", dir, "--listen", "0.0.0.0:0", "--insecure"); status != 1 || !slices.Contains(seen, "problem access") {
		t.Errorf("an open address without keys: got %d %s", status, text)
	}
	command(t, "key", "add", "carol", "--data", dir)
	if status, seen, text := examine(t, "--data", dir, "--listen", "0.0.0.0:0"); status != 0 || !slices.Contains(seen, "warning access") {
		t.Errorf("an open address with keys: got %d %s", status, text)
	}
	if status, seen, text := examine(t, "--data", dir); status != 0 || !slices.Contains(seen, "ok access") {
		t.Errorf("loopback with keys: got %d %s", status, text)
	}
	for _, path := range []string{filepath.Join(dir, "keys.json"), dir} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	status, seen, text := examine(t, "--data", dir)
	if status != 1 || !slices.Contains(seen, "problem files") || !slices.Contains(seen, "warning files") {
		t.Errorf("files for everybody: got %d %s", status, text)
	}
	wantWords(t, "doctor", text, "chmod 600 "+filepath.Join(dir, "keys.json"), "chmod 700 "+dir)
	writeFile(t, filepath.Join(dir, "keys.json"), "{")
	if status, _, text := examine(t, "--data", dir); status != 1 {
		t.Errorf("a broken key file: got %s", text)
	}
}

func TestDoctor_FindsATakenPortAndABadSetting(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	status, seen, text := examine(t, "--data", t.TempDir(), "--listen", l.Addr().String(), "--time-zone", "Mars/Olympus")
	if status != 1 || !slices.Contains(seen, "problem ports") || !slices.Contains(seen, "problem settings") {
		t.Errorf("got %d %s", status, text)
	}
}

// TestDoctor_BeyondLoopbackWithoutKeys: nobody is trusted there but by --insecure, and nobody gets in.
func TestDoctor_BeyondLoopbackWithoutKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		insecure bool
		says     string
	}{
		"shut":     {false, "nobody gets in at"},
		"insecure": {true, "is trusted: no keys are configured"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			command(t, "key", "add", "ann", "--data", dir)
			_, _ = serving(t, func(c2 *app.Config) { c2.Data, c2.Listen, c2.Insecure = dir, "0.0.0.0:0", c.insecure })
			command(t, "key", "revoke", "ann", "--data", dir)
			status, _, text := examine(t, "--data", dir)
			if status != 1 || !strings.Contains(text, c.says) {
				t.Errorf("got %d %s, want %q", status, text, c.says)
			}
		})
	}
}
