package gateway

import (
	"net/http"

	"agentmesh/app/platform/fault"
)

// admit lets a caller call agents: the mesh itself always, everybody else only through an open gateway.
func (m *Module) admit(r *http.Request) error {
	if m.options.Open || m.options.HasKey(r) {
		return nil
	}
	return fault.New(fault.Denied, "calling an agent needs a key")
}
