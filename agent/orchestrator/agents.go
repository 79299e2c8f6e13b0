package orchestrator

import "github.com/labstack/echo/v4"

// Agent is an A2A agent as the API shows it.
type Agent struct {
	Name        string       `json:"name"`
	CardURL     string       `json:"cardUrl"`
	Reachable   bool         `json:"reachable"`
	Description string       `json:"description"`
	Version     string       `json:"version,omitempty"`
	Skills      []AgentSkill `json:"skills"`
}

// AgentSkill is one thing that an agent says it can do.
type AgentSkill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
}

func (m *Module) listAgents(c echo.Context) error {
	all, err := m.deps.Agents.Agents(c.Request().Context())
	return listWhole(c, "agents", all, func(a Agent) string { return a.Name }, err)
}
