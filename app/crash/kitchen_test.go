package crash

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// kitchen counts the effects of calls that carry no key. It stands outside of the program, so what it saw
// has happened.
type kitchen struct {
	*httptest.Server
	mu   sync.Mutex
	rang map[string]int // by invocation
}

// ringing is how long a bell rings, so that a kill can fall between the effect and its answer.
const ringing = 30 * time.Millisecond

func newKitchen() *kitchen {
	k := &kitchen{rang: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /ring/{id}", func(w http.ResponseWriter, r *http.Request) {
		k.mu.Lock()
		k.rang[r.PathValue("id")]++
		k.mu.Unlock()
		pause(r.Context().Done(), ringing)
	})
	k.Server = httptest.NewServer(mux)
	return k
}

func (k *kitchen) effects() map[string]int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.rang)
}

// pause waits, and tells whether it waited to the end.
func pause(stop <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-stop:
		return false
	}
}
