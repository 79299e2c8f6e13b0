package rundb_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/skills"
	"agentmesh/store/rundb"
)

func preference(id, user, statement string) agent.Preference {
	return agent.Preference{ID: id, UserID: user, Statement: statement, Kind: "diet", RunID: "run-1", CreatedAt: at}
}

func remember(t *testing.T, db *rundb.DB, statements ...string) {
	t.Helper()
	for i, s := range statements {
		_, err := db.Remember(t.Context(), preference("pref-"+string(rune('a'+i)), "anna", s))
		must(t, err)
	}
}

// recalled lists the ids' last letters.
func recalled(t *testing.T, db *rundb.DB, query string) string {
	t.Helper()
	got, err := db.Recall(t.Context(), "anna", query, 10)
	if err != nil {
		t.Errorf("recall %q: %v", query, err)
	}
	var out strings.Builder
	for _, p := range got {
		out.WriteString(strings.TrimPrefix(p.ID, "pref-"))
	}
	return out.String()
}

// TestRecall_Chinese holds the cases fts-two-characters, fts-one-character, fts-glued-ascii and
// fts-mixed-lengths, in Chinese and English.
func TestRecall_Chinese(t *testing.T) {
	t.Parallel()
	db := open(t)
	remember(t, db,
		"我对花生过敏，喜欢部署方案评审会的下午茶", // a
		"不吃辣",                         // b
		"重跑gen-itgc后50条记录清零",          // c
		"User is Allergic to SEAFOOD", // d
		"喜欢清淡的",                       // e
	)
	for query, want := range map[string]string{
		"过敏": "a", "部署": "a", "花生": "a", "下午茶": "a", "部署方案": "a",
		"辣": "b", "吃辣": "b", "不吃辣": "b", "清": "ce", "清淡": "e",
		"itgc": "c", "gen": "c", "清零": "c", "50": "c", "gen-itgc": "c", "ITGC后": "c",
		"allergic": "d", "Seafood": "d", "allergic seafood": "d",
		"我 花生 过敏": "a", "花生过敏": "a", "花生 辣": "ab",
		"米饭": "", "food": "", "tg": "",
	} {
		got := recalled(t, db, query)
		sorted := strings.Split(got, "")
		for _, letter := range strings.Split(want, "") {
			if !strings.Contains(got, letter) || len(sorted) != len(want) && want != "" {
				t.Errorf("%q: got %q, want %q", query, got, want)
			}
		}
		if want == "" && got != "" {
			t.Errorf("%q: got %q, want nothing", query, got)
		}
	}
}

// TestRecall_QuerySigns: no sign of the query language gets through (fts-query-signs), and a query of
// nothing but signs finds nothing (fts-nothing-left).
func TestRecall_QuerySigns(t *testing.T) {
	t.Parallel()
	db := open(t)
	remember(t, db, "title 20 04 what s pre edit a b NOT NEAR AND OR 4i 草稿", "other")
	found := []string{"what's", "pre-edit", "a AND", "NOT", "NEAR(a b)", "title:x", "^a", "-4i", "(草稿", "20.04", "a-b", "a\x00b", `"a" OR "b"`, "a*", "{a b}", "草稿) OR (x"}
	for _, query := range found {
		if got := recalled(t, db, query); got != "a" {
			t.Errorf("%q: got %q, want a", query, got)
		}
	}
	for _, query := range []string{`"`, `""`, "*", ")", ";", "'", "—", "？", "《》", "\x00", " ", "\n\t", "🍅", "、。", "\xff"} {
		if got := recalled(t, db, query); got != "" {
			t.Errorf("%q: got %q, want nothing", query, got)
		}
	}
}

func TestRecall_Everything(t *testing.T) {
	t.Parallel()
	db := open(t)
	remember(t, db, "一", "二", "三")
	if got := recalled(t, db, ""); got != "cba" {
		t.Errorf("got %q, want all, newest first", got)
	}
	if got, err := db.Recall(t.Context(), "anna", "", 2); err != nil || len(got) != 2 {
		t.Errorf("got %+v, %v, want two", got, err)
	}
}

func TestRecall_BestMatchFirst(t *testing.T) {
	t.Parallel()
	db := open(t)
	remember(t, db, "汤", "不吃辣，喜欢汤，也喜欢面条和米饭", "米饭")
	if got := recalled(t, db, "汤"); got != "ab" {
		t.Errorf("got %q, want the closer one first", got)
	}
}

func TestRemember_SameStatement(t *testing.T) {
	t.Parallel()
	db := open(t)
	first := preference("pref-a", "anna", "不吃辣")
	got, err := db.Remember(t.Context(), first)
	if err != nil || got != first {
		t.Errorf("got %+v, %v", got, err)
	}
	second := preference("pref-b", "anna", "不吃辣")
	second.CreatedAt, second.Kind = later(5), "taste"
	if got, err := db.Remember(t.Context(), second); err != nil || got != first {
		t.Errorf("got %+v, %v, want the stored one", got, err)
	}
	bobs := preference("pref-c", "bob", "不吃辣")
	if got, err := db.Remember(t.Context(), bobs); err != nil || got != bobs {
		t.Errorf("got %+v, %v, want bob's own", got, err)
	}
	if got := recalled(t, db, "辣"); got != "a" {
		t.Errorf("got %q, want one", got)
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	db := open(t)
	remember(t, db, "不吃辣", "住上海")
	must(t, db.Forget(t.Context(), "bob", []string{"pref-a"}, at)) // not his
	if got := recalled(t, db, ""); got != "ba" {
		t.Errorf("got %q, want both", got)
	}
	must(t, db.Forget(t.Context(), "anna", []string{"pref-a", "pref-z"}, at))
	must(t, db.Forget(t.Context(), "anna", []string{"pref-a"}, later(1)))
	must(t, db.Forget(t.Context(), "anna", nil, at))
	if got := recalled(t, db, "") + "|" + recalled(t, db, "辣"); got != "b|" {
		t.Errorf("got %q, want one to be gone", got)
	}
	again := preference("pref-c", "anna", "不吃辣")
	if got, err := db.Remember(t.Context(), again); err != nil || got != again || recalled(t, db, "辣") != "c" {
		t.Errorf("got %+v, %v, want it to be learnt anew", got, err)
	}
}

func TestInstallations(t *testing.T) {
	t.Parallel()
	db := open(t)
	want := skills.Installation{UserID: "anna", SkillID: "builtin.weather", Version: "1.0.0", Installed: true, Enabled: true, Granted: []string{"weather.read"}, UpdatedAt: at}
	must(t, db.SaveInstallation(t.Context(), want))
	want.Enabled, want.Version, want.Granted, want.UpdatedAt = false, "1.1.0", []string{}, later(1)
	must(t, db.SaveInstallation(t.Context(), want))
	got, err := db.Installations(t.Context(), "anna")
	if err != nil || !reflect.DeepEqual(got, []skills.Installation{want}) {
		t.Errorf("got %+v, %v, want the last choice", got, err)
	}
}

// TestOwners: what belongs to another is not found, by any read.
func TestOwners(t *testing.T) {
	t.Parallel()
	db := open(t)
	create(t, db, "anna", "t1", "run-1")
	begin(t, db, "run-1")
	s := step("run-1", agent.Running, agent.AwaitingConfirmation)
	s.Confirmations = []agent.Confirmation{question("conf-1", "inv-1")}
	s.Invocations = []agent.Invocation{done(invocation("inv-1", "m", 0, ""))}
	must(t, db.Append(t.Context(), s))
	must(t, db.Apply(t.Context(), placed("inv-1", "anna")))
	remember(t, db, "不吃辣")
	must(t, db.SaveInstallation(t.Context(), skills.Installation{UserID: "anna", SkillID: "x", UpdatedAt: time.Now()}))

	ctx := t.Context()
	one := map[string]func(user string) error{
		"run":          func(user string) error { _, err := db.Run(ctx, user, "run-1"); return err },
		"label":        func(user string) error { _, err := db.RunByLabel(ctx, user, "client-run-1"); return err },
		"confirmation": func(user string) error { _, err := db.Confirmation(ctx, user, "conf-1"); return err },
		"conversation": func(user string) error { _, err := db.Conversation(ctx, user, "t1"); return err },
		"messages":     func(user string) error { _, _, err := db.Messages(ctx, user, "t1", agent.Page{Limit: 10}); return err },
		"rename":       func(user string) error { _, err := db.RenameConversation(ctx, user, "t1", "x"); return err },
		"preference":   func(user string) error { _, err := db.Preference(ctx, user, "pref-a"); return err },
		"order":        func(user string) error { _, err := db.Order(ctx, user, "order-inv-1"); return err },
	}
	for name, read := range one {
		must(t, read("anna"))
		if err := read("bob"); err == nil {
			t.Errorf("%s: bob reads anna's", name)
		} else {
			wantErr(t, err, agent.ErrNotFound)
		}
	}
	lists := map[string]func(user string) (int, error){
		"runs": func(user string) (int, error) {
			l, _, err := db.Runs(ctx, user, "", agent.Page{Limit: 10})
			return len(l), err
		},
		"runs of a thread": func(user string) (int, error) {
			l, _, err := db.Runs(ctx, user, "t1", agent.Page{Limit: 10})
			return len(l), err
		},
		"history": func(user string) (int, error) { l, err := db.History(ctx, user, "t1", false, 10); return len(l), err },
		"conversations": func(user string) (int, error) {
			l, _, err := db.Conversations(ctx, user, agent.Page{Limit: 10})
			return len(l), err
		},
		"open confirmations": func(user string) (int, error) { l, err := db.OpenConfirmations(ctx, user); return len(l), err },
		"open questions": func(user string) (int, error) {
			l, _, err := db.OpenQuestions(ctx, user, agent.Page{Limit: 10})
			return len(l), err
		},
		"active preferences": func(user string) (int, error) {
			l, _, err := db.Preferences(ctx, user, agent.Page{Limit: 10})
			return len(l), err
		},
		"orders": func(user string) (int, error) {
			l, _, err := db.Orders(ctx, user, agent.Page{Limit: 10})
			return len(l), err
		},
		"preferences":   func(user string) (int, error) { l, err := db.Recall(ctx, user, "", 10); return len(l), err },
		"search":        func(user string) (int, error) { l, err := db.Recall(ctx, user, "辣", 10); return len(l), err },
		"installations": func(user string) (int, error) { l, err := db.Installations(ctx, user); return len(l), err },
	}
	for name, read := range lists {
		for user, want := range map[string]int{"anna": 1, "bob": 0} {
			if n, err := read(user); err != nil || n != want {
				t.Errorf("%s: %s gets %d, %v, want %d", name, user, n, err, want)
			}
		}
	}
	if _, found, err := db.Finished(ctx, "bob", "inv-1"); err != nil || found {
		t.Errorf("bob gets anna's outcome: %v, %v", found, err)
	}
	if _, found, err := db.Finished(ctx, "anna", "inv-1"); err != nil || !found {
		t.Errorf("anna lacks her outcome: %v, %v", found, err)
	}
}
