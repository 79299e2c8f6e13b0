package orchestrator

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"agentmesh/agent/agui"
	"agentmesh/capability"
)

// agentDescription is what clients show of the agent.
const agentDescription = "Answers about dishes, weather and time, remembers preferences, and orders food once a person agrees."

// declare tells an AG-UI client what this agent can do. The standard leaves open how a client asks.
func (m *Module) declare(c echo.Context) error { return c.JSON(http.StatusOK, m.declared()) }

// declared is what holds for every run; which tools a run is offered, its skills decide.
func (m *Module) declared() agui.Capabilities {
	d := agui.Capabilities{
		Identity:       agui.Identity{Name: "AgentMesh", Description: agentDescription, Version: m.deps.About.Version},
		Transport:      agui.Transport{Streaming: true},
		Tools:          agui.Tools{Supported: true, ParallelCalls: true, ClientProvided: true, Items: []agui.Tool{}},
		Reasoning:      agui.Reasoning{Supported: true},
		State:          agui.State{Snapshots: true, Memory: true},
		MultiAgent:     agui.MultiAgent{Supported: true, Delegation: true, Subagents: []agui.Subagent{}},
		HumanInTheLoop: agui.HumanInTheLoop{Supported: true, Approvals: true, Interrupts: true, ApproveWithEdits: true},
	}
	for _, t := range m.deps.Registry.All() {
		if t.Hidden || t.Disabled {
			continue
		}
		d.Tools.Items = append(d.Tools.Items, agui.Tool{Name: t.Name, Description: t.Description, Parameters: t.InputSchema})
		if s := (agui.Subagent{Name: t.Provider}); t.Kind == capability.A2A && !slices.Contains(d.MultiAgent.Subagents, s) {
			d.MultiAgent.Subagents = append(d.MultiAgent.Subagents, s)
		}
	}
	return d
}
