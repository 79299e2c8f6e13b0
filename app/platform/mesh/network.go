package mesh

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
)

// HeaderKey carries the internal key between modules. It is what an agent's own paths and the
// catalog's writing tools ask for in every placement.
const HeaderKey = "X-AgentMesh-Internal-Key"

// HeaderUser says, beside the internal key, for whom a module calls another; escaped as in a query. From
// anybody else it counts for nothing.
const HeaderUser = "X-AgentMesh-User"

// Domain is the suffix of a module's host name while it runs in this process.
const Domain = ".internal"

// Network knows where each module is.
type Network struct {
	key string

	mu    sync.Mutex
	local map[string]*pipeListener
	peers map[string]string
}

// NewNetwork makes an empty network whose modules recognise each other by key.
func NewNetwork(key string) *Network {
	return &Network{key: key, local: map[string]*pipeListener{}, peers: map[string]string{}}
}

// Listen gives the in-memory listener of a module of this process.
func (n *Network) Listen(name string) net.Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := newPipeListener(name)
	n.local[name] = l
	return l
}

// AddPeer says that a module runs at a base URL.
func (n *Network) AddPeer(name, baseURL string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.peers[name] = strings.TrimSuffix(baseURL, "/")
}

// BaseURL gives the address of a module, without a slash at the end.
func (n *Network) BaseURL(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if base, ok := n.peers[name]; ok {
		return base
	}
	return "http://" + name + Domain
}

// DialContext connects to a module's host by pipe and to any other host by TCP.
func (n *Network) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", addr, err)
	}
	if l := n.localTo(host); l != nil {
		return l.dial(ctx)
	}
	d := net.Dialer{Timeout: 5 * time.Second}
	return d.DialContext(ctx, network, addr)
}

// Transport is the round-tripper for calls between modules: the mesh's dialer, and the internal key on
// requests that go to a module, never elsewhere.
func (n *Network) Transport() http.RoundTripper {
	base := &http.Transport{
		DialContext:           n.DialContext,
		MaxIdleConnsPerHost:   32,
		IdleConnTimeout:       90 * time.Second,
		ResponseHeaderTimeout: 2 * time.Minute,
	}
	return keyTransport{network: n, base: base}
}

type keyTransport struct {
	network *Network
	base    *http.Transport
}

func (t keyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !t.network.owns(r.URL.Scheme + "://" + r.URL.Host) {
		return t.base.RoundTrip(r)
	}
	out := r.Clone(r.Context())
	out.Header.Set(HeaderKey, t.network.key)
	if user := flow.From(r.Context()).UserID; user != "" {
		out.Header.Set(HeaderUser, url.QueryEscape(user))
	}
	return t.base.RoundTrip(out)
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the pool.
func (t keyTransport) CloseIdleConnections() { t.base.CloseIdleConnections() }

// localTo gives the listener of a module of this process by its host name. Other hosts under the same
// domain are not ours: it is a common one for private networks.
func (n *Network) localTo(host string) *pipeListener {
	name, ok := strings.CutSuffix(host, Domain)
	if !ok {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.local[name]
}

func (n *Network) owns(origin string) bool {
	if n.localTo(strings.TrimPrefix(origin, "http://")) != nil {
		return true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, base := range n.peers {
		if base == origin || strings.HasPrefix(base, origin+"/") {
			return true
		}
	}
	return false
}

// HasKey tells whether a request carries the internal key. Without a key nobody has it.
func (n *Network) HasKey(r *http.Request) bool {
	return n.key != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get(HeaderKey)), []byte(n.key)) == 1
}

// UserOf gives the user for whom another module calls, if the request is one of the mesh's own and says it.
func (n *Network) UserOf(r *http.Request) (user string, ok bool) {
	if !n.HasKey(r) {
		return "", false
	}
	user, err := url.QueryUnescape(r.Header.Get(HeaderUser))
	return user, err == nil && user != ""
}

// HeaderOperator carries the operator's key, which commands of the data folder show to the processes on it.
const HeaderOperator = "X-AgentMesh-Operator-Key"

// OperatorKey follows from the internal key, and not the other way round: whoever has it asks how the
// program is and edits the catalog, and is no module. Without an internal key there is none.
func (n *Network) OperatorKey() string {
	if n.key == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(n.key))
	mac.Write([]byte("agentmesh operator"))
	return hex.EncodeToString(mac.Sum(nil))
}

// IsOperator tells whether a request carries the operator's key.
func (n *Network) IsOperator(r *http.Request) bool {
	key := n.OperatorKey()
	return key != "" && subtle.ConstantTimeCompare([]byte(r.Header.Get(HeaderOperator)), []byte(key)) == 1
}

// RequireKey lets only requests with the internal key through.
func (n *Network) RequireKey(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !n.HasKey(r) {
			fault.Write(w, fault.New(fault.Denied, "this path is for the mesh's own modules; use the gateway"))
			return
		}
		next.ServeHTTP(w, r)
	})
}
