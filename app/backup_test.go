package app_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentmesh/app"
	"agentmesh/app/meshtest"
)

func wantRun(t *testing.T, want int, args ...string) string {
	t.Helper()
	status, out, errs := run(args...)
	if status != want {
		t.Fatalf("%v: got %d %q %q, want %d", args, status, out, errs, want)
	}
	return out + errs
}

// backedUp gives a data folder with an order that was sold, one that is asked about, and a backup of it.
func backedUp(t *testing.T) (dir, file string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "数据 100%")
	file = filepath.Join(t.TempDir(), "备份 一.tgz")
	m := meshtest.Start(t, meshtest.Options{Dir: dir})
	sold := m.Say("ann", "t1", "帮我订一份水煮牛肉。")
	sold.Decide("confirm", sold.Question())
	sold.Rest()
	open := m.Say("ann", "t2", "帮我订一份水煮牛肉。")
	open.Question()
	wantRun(t, 0, "backup", file, "--data", dir)
	open.Close()
	m.Stop()
	return dir, file
}

// TestBackup_UnderLoad: a copy that is made while orders are placed, confirmed and cancelled has books that
// agree, once the next start has settled what was under way.
func TestBackup_UnderLoad(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	stop := make(chan struct{})
	var load sync.WaitGroup
	for i := range 3 {
		user := "u" + strconv.Itoa(i)
		load.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				talk := m.Say(user, "t"+strconv.Itoa(n), "帮我订一份米饭。")
				if q := talk.Question(); n%3 > 0 {
					talk.Decide("confirm", q)
				} else {
					talk.Decide("reject", q)
				}
				talk.Rest()
				if list := orders(m, user); n%3 == 2 && len(list) > 0 {
					m.Do(user, http.MethodPost, "/api/v1/orders/"+list[0].ID+"/cancel", `{}`)
				}
			}
		})
	}
	files := make([]string, 4)
	for i := range files {
		files[i] = filepath.Join(t.TempDir(), "b.tar")
		if said := wantRun(t, 0, "backup", files[i], "--data", m.Dir); strings.Contains(said, "warning") {
			t.Error(said)
		}
	}
	close(stop)
	load.Wait()
	m.Stop()
	for _, file := range files {
		dir := t.TempDir()
		wantRun(t, 0, "restore", file, "--data", dir)
		again := meshtest.Start(t, meshtest.Options{Dir: dir})
		for i := range 3 {
			awaitDecided(t, again, "u"+strconv.Itoa(i))
		}
		again.Stop()
		// A hold that was made between the two moments is nobody's, and ends by its time; nothing else may be.
		if status, _, text := examine(t, "--data", dir); status != 0 {
			t.Errorf("doctor of a restored folder:\n%s", text)
		}
		if open := keys(t, filepath.Join(dir, "orchestrator.db"), `SELECT id FROM orders WHERE status = 'PLACING'`); len(open) > 0 {
			t.Errorf("unsettled orders: %v", open)
		}
	}
}

// awaitDecided rejects what is asked, until no run of a user is open and no order PLACING.
func awaitDecided(t *testing.T, m *meshtest.Mesh, user string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		var runs struct {
			Items []struct{ ID, Status string }
		}
		m.Get(user, "/api/v1/runs?limit=100", &runs)
		open := slices.ContainsFunc(orders(m, user), func(o orderView) bool { return o.Status == "PLACING" })
		for _, r := range runs.Items {
			if r.Status == "AWAITING_CONFIRMATION" {
				m.Do(user, http.MethodPost, "/runs/"+r.ID+"/reject", `{}`)
			}
			open = open || !slices.Contains([]string{"SUCCEEDED", "FAILED", "CANCELLED"}, r.Status)
		}
		if !open {
			return
		}
	}
	t.Errorf("something of %s is still under way", user)
}

// TestRestore_GoesOn: a question that was open in the backup can be answered after the restore.
func TestRestore_GoesOn(t *testing.T) {
	t.Parallel()
	_, file := backedUp(t)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want the mode 600", info, err)
	}
	dir := filepath.Join(t.TempDir(), "新")
	wantWords(t, "restore", wantRun(t, 0, "restore", file, "--data", dir), "orchestrator.db, catalog.db, spans/food.db")
	m := meshtest.Start(t, meshtest.Options{Dir: dir})
	q := awaitQuestions(t, m, 1)[0]
	m.Do("ann", http.MethodPost, "/runs/"+q.RunID+"/confirm", `{}`)
	m.Follow("ann", q.RunID, "").Rest()
	awaitSettled(t, m)
	if list := orders(m, "ann"); len(list) != 2 || list[0].Status != "CONFIRMED" || list[1].Status != "CONFIRMED" {
		t.Errorf("got %+v, want two CONFIRMED", list)
	}
	m.Stop()
	checkBooks(t, dir)
}

func TestBackup_NeverOverwrites(t *testing.T) {
	t.Parallel()
	dir, file := backedUp(t)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, "backup", wantRun(t, 1, "backup", file, "--data", dir), "is there already")
	if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
		t.Error("the file has changed")
	}
	wantRun(t, 0, "backup", file, "--data", dir, "--force")
	wantWords(t, "backup of nothing", wantRun(t, 1, "backup", file+"2", "--data", t.TempDir()), "there are no databases")
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".agentmesh-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	_, out, _ := run("backup", "-", "--data", dir)
	var m struct {
		Format int
		Files  []struct{ Name, SHA256 string }
	}
	reader := tar.NewReader(strings.NewReader(out))
	if head, err := reader.Next(); err != nil || head.Name != "manifest.json" || json.NewDecoder(reader).Decode(&m) != nil || len(m.Files) < 3 {
		t.Errorf("got %v, %v, %+v on the standard output", head, err, m)
	}
}

// TestRestore_Refuses: what cannot be used is refused before anything is touched.
func TestRestore_Refuses(t *testing.T) {
	t.Parallel()
	dir, file := backedUp(t)
	wantRun(t, 0, "backup", file+".tar", "--data", dir)
	whole, err := os.ReadFile(file + ".tar")
	if err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(t.TempDir(), "newer")
	wantRun(t, 0, "restore", file, "--data", newer)
	execute(t, filepath.Join(newer, "catalog.db"), `PRAGMA user_version = 99`)
	zipped, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(whole, []byte("SQLite format 3"))
	cases := map[string]struct {
		file  []byte
		words string
	}{
		"a bit":         {flipped(whole, at+5000), "is not as it was written"},
		"a zipped bit":  {flipped(zipped, len(zipped)/2), "no backup of AgentMesh, or a damaged one"},
		"cut off":       {whole[:len(whole)/2], "ends early"},
		"no backup":     {[]byte("hello"), "does not begin with a manifest"},
		"empty":         {nil, "does not begin with a manifest"},
		"another place": {bytes.Replace(whole, []byte(`"catalog.db"`), []byte(`"../evil.db"`)[:12], 1), "it lists"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad, dir := filepath.Join(t.TempDir(), "bad"), t.TempDir()
			writeFile(t, bad, string(c.file))
			wantWords(t, "restore", wantRun(t, 1, "restore", bad, "--data", dir), c.words)
			if left, _ := filepath.Glob(filepath.Join(dir, "*.db")); len(left) > 0 || exists(filepath.Join(dir, "restore.next")) {
				t.Errorf("left behind: %q", left)
			}
		})
	}
	if status, _, errs := run("backup", file+"3", "--data", newer); status == 0 {
		t.Errorf("a database of a newer version was backed up: %s", errs)
	}
	wantWords(t, "restore over databases", wantRun(t, 1, "restore", file, "--data", dir), "--force puts them aside")
	a := launch(t, "--listen", "127.0.0.1:0", "--data", dir)
	wantWords(t, "restore beside the program", wantRun(t, 1, "restore", file, "--data", dir, "--force"), "agentmesh stop")
	a.stop(syscall.SIGTERM)
	if err := app.CheckBooks(t.Context(), dir); err != nil {
		t.Error(err)
	}
}

func flipped(raw []byte, at int) []byte {
	out := slices.Clone(raw)
	out[at] ^= 1
	return out
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// TestRestore_Newer: a backup of a newer program is refused, whatever its file says.
func TestRestore_Newer(t *testing.T) {
	t.Parallel()
	_, file := backedUp(t)
	bad := filepath.Join(t.TempDir(), "bad.tar")
	rewrite(t, file, bad, func(name string, raw []byte) []byte {
		if name == "manifest.json" {
			return bytes.Replace(raw, []byte(`"format": 1`), []byte(`"format": 2`), 1)
		}
		return raw
	})
	wantWords(t, "restore", wantRun(t, 1, "restore", bad, "--data", t.TempDir()), "of a newer program")
}

// rewrite copies a backup with other content, and sums of a damager who knows how they are made.
func rewrite(t *testing.T, from, to string, change func(name string, raw []byte) []byte) {
	t.Helper()
	dir := t.TempDir()
	wantRun(t, 0, "restore", from, "--data", dir)
	wantRun(t, 0, "backup", to+".plain", "--data", dir)
	file, err := os.Open(to + ".plain")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	for reader := tar.NewReader(file); ; {
		head, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		raw = change(head.Name, raw)
		head.Size = int64(len(raw))
		if err := writer.WriteHeader(head); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write(raw); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, to, out.String())
}
