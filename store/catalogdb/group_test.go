package catalogdb_test

import (
	"sync"
	"testing"
	"time"

	"agentmesh/mcp/catalog"
	"agentmesh/store/catalogdb"
)

// alternative is a request beside others of a group.
func alternative(group, n string, lines ...catalog.Wanted) catalog.Request {
	r := request(group+"/"+n, "anna", lines...)
	r.Group = group
	return r
}

func wantStock(t *testing.T, db *catalogdb.DB, what, dish string, want int) {
	t.Helper()
	if got := stock(t, db, dish); got != want {
		t.Errorf("%s: got %d of %s left, want %d", what, got, dish, want)
	}
	checkBooks(t, db)
}

// TestGroup_TakesWhatItsLargestTakes: an order that is edited holds no portion twice, and whichever
// alternative goes, the other keeps all of its own.
func TestGroup_TakesWhatItsLargestTakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		first, second   int // portions
		release, commit string
		want            int // portions gone in the end
	}{
		{"more, and the first released", 1, 3, "g/1", "g/2", 3},
		{"fewer, and the first released", 3, 1, "g/1", "g/2", 1},
		{"more, and the second released", 1, 3, "g/2", "g/1", 1},
		{"fewer, and the second released", 3, 1, "g/2", "g/1", 3},
		{"the second committed at once", 1, 3, "", "g/2", 3},
		{"the first committed at once", 3, 1, "", "g/1", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db, _ := open(t)
			all := stock(t, db, "food-001")
			reserve(t, db, alternative("g", "1", line("food-001", c.first)))
			reserve(t, db, alternative("g", "2", line("food-001", c.second)))
			wantStock(t, db, "both held", "food-001", all-max(c.first, c.second))
			if c.release != "" {
				if _, err := db.Release(t.Context(), c.release, "edited"); err != nil {
					t.Fatal(err)
				}
				wantStock(t, db, "one released", "food-001", all-c.want)
			}
			if got, err := db.Commit(t.Context(), c.commit); err != nil || got.State != catalog.Committed {
				t.Fatalf("commit: got %+v, %v", got, err)
			}
			wantStock(t, db, "committed", "food-001", all-c.want)
			other := map[string]string{"g/1": "g/2", "g/2": "g/1"}[c.commit]
			if got, err := db.Commit(t.Context(), other); err != nil || got.State != catalog.Released {
				t.Errorf("the other alternative: got %+v, %v, want it RELEASED", got, err)
			}
			if _, err := db.Return(t.Context(), c.commit); err != nil {
				t.Fatal(err)
			}
			wantStock(t, db, "returned", "food-001", all)
		})
	}
}

// TestGroup_TheLastPortion: who holds the last portion may change their order to it again, nobody else.
func TestGroup_TheLastPortion(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	all := stock(t, db, "food-001")
	for i, left := 0, all-1; left > 0; i++ {
		take := min(left, 20)
		r := request("others/"+string(rune('a'+i)), "owner-"+string(rune('a'+i)), line("food-001", take))
		if got := reserve(t, db, r); got.State != catalog.Held {
			t.Fatalf("got %+v", got)
		}
		left -= take
	}
	reserve(t, db, alternative("g", "1", line("food-001", 1)))
	wantStock(t, db, "sold out", "food-001", 0)
	if got := reserve(t, db, alternative("g", "2", line("food-001", 1), line("food-002", 1))); got.State != catalog.Held {
		t.Errorf("the same last portion with something else: got %+v, want it HELD", got)
	}
	got := reserve(t, db, alternative("g", "3", line("food-001", 2)))
	if got.State != catalog.Refused || len(got.Short) != 1 || got.Short[0].Available != 1 || got.Short[0].Wanted != 2 {
		t.Errorf("one more than there is: got %+v, want it REFUSED with 1 left", got)
	}
	wantStock(t, db, "after the refusal", "food-001", 0)
}

// TestGroup_CountsOnce: alternatives are one hold of the three, and their largest counts to the portions.
func TestGroup_CountsOnce(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	for n := range 5 {
		if got := reserve(t, db, alternative("g", string(rune('1'+n)), line("food-001", 9+n))); got.State != catalog.Held {
			t.Errorf("alternative %d: got %+v, want it HELD", n+1, got)
		}
	}
	if got := reserve(t, db, request("h/1", "anna", line("food-002", 8))); got.Reason != catalog.ReasonTooManyPortions {
		t.Errorf("13 and 8 portions: got %+v, want them refused", got)
	}
	for _, group := range []string{"i", "j"} {
		if got := reserve(t, db, alternative(group, "1", line("food-002", 1))); got.State != catalog.Held {
			t.Errorf("hold %s: got %+v, want it HELD", group, got)
		}
	}
	if got := reserve(t, db, alternative("k", "1", line("food-002", 1))); got.Reason != catalog.ReasonTooManyHolds {
		t.Errorf("a fourth hold: got %+v, want it refused", got)
	}
}

// TestGroup_NothingBesideACommitted: an edit that comes after the commit takes nothing.
func TestGroup_NothingBesideACommitted(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	all := stock(t, db, "food-001")
	reserve(t, db, alternative("g", "1", line("food-001", 1)))
	if _, err := db.Commit(t.Context(), "g/1"); err != nil {
		t.Fatal(err)
	}
	if got := reserve(t, db, alternative("g", "2", line("food-001", 3))); got.State != catalog.Refused || got.Reason != catalog.ReasonGroupCommitted {
		t.Errorf("got %+v, want it refused", got)
	}
	wantStock(t, db, "in the end", "food-001", all-1)
}

func TestGroup_ExpiresApart(t *testing.T) {
	t.Parallel()
	db, clock := open(t)
	all := stock(t, db, "food-001")
	reserve(t, db, alternative("g", "1", line("food-001", 3)))
	clock.move(10 * time.Minute)
	reserve(t, db, alternative("g", "2", line("food-001", 2)))
	clock.move(5 * time.Minute)
	if n, err := db.Expire(t.Context(), clock.now()); err != nil || n != 1 {
		t.Errorf("got %d expired, %v, want the first", n, err)
	}
	wantStock(t, db, "the first expired", "food-001", all-2)
	clock.move(10 * time.Minute)
	if _, err := db.Expire(t.Context(), clock.now()); err != nil {
		t.Fatal(err)
	}
	wantStock(t, db, "both expired", "food-001", all)
}

// TestGroup_CommitsOne: whatever comes at once, one alternative is committed and the books agree.
func TestGroup_CommitsOne(t *testing.T) {
	t.Parallel()
	db, _ := open(t)
	all := stock(t, db, "food-001")
	reserve(t, db, alternative("g", "1", line("food-001", 1)))
	reserve(t, db, alternative("g", "2", line("food-001", 4)))
	var wg sync.WaitGroup
	states := make([]catalog.State, 2)
	for i, key := range []string{"g/1", "g/2"} {
		wg.Go(func() {
			got, err := db.Commit(t.Context(), key)
			if err != nil {
				t.Error(err)
			}
			states[i] = got.State
		})
	}
	wg.Wait()
	want := all - 1
	if states[1] == catalog.Committed {
		want = all - 4
	}
	if states[0] == states[1] {
		t.Errorf("got %v, want one COMMITTED and one RELEASED", states)
	}
	wantStock(t, db, "in the end", "food-001", want)
}
