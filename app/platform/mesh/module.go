// Package mesh is the one seam between modules: a module's name becomes a base URL, and the dialer
// decides whether the connection is a pipe in memory or TCP. Servers and clients around it are
// net/http's own, so nothing else knows or asks where a module runs.
package mesh

import (
	"context"
	"net/http"
)

// Module is one of the parts that can run in this process or in one of its own.
type Module interface {
	Name() string                    // "food": the flag value, the log field, the host name
	Prefixes() []string              // "/agents/food": the same in every placement
	Handler() http.Handler           // serves the paths below its prefixes
	Start(ctx context.Context) error // returns once the module can work, e.g. after recovery
	Stop(ctx context.Context) error  // returns once nothing of it runs
	Ready(ctx context.Context) error // nil, or why it can't serve now
}
