package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"agentmesh/a2a"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
)

// cardLimit is how long the gateway waits for an agent's card.
const cardLimit = 3 * time.Second

// Agent is one agent behind the gateway.
type Agent struct {
	Name string // in the gateway's paths
	URL  string // where it is, inside the mesh
}

// directory holds the agents by name. Agents are told apart by configuration, never by what their cards say.
type directory []Agent

func newDirectory(agents []Agent) directory {
	d := make(directory, 0, len(agents))
	for _, a := range agents {
		a.URL = strings.TrimSuffix(a.URL, "/")
		d = append(d, a)
	}
	slices.SortFunc(d, func(a, b Agent) int { return strings.Compare(a.Name, b.Name) })
	return d
}

func (d directory) find(name string) (Agent, error) {
	for _, a := range d {
		if a.Name == name {
			return a, nil
		}
	}
	return Agent{}, fault.New(fault.NotFound, "there is no agent of this name")
}

// entry is one line of the list of agents.
type entry struct {
	Name        string `json:"name"`
	URL         string `json:"url"`
	CardURL     string `json:"cardUrl"`
	Reachable   bool   `json:"reachable"`
	AgentName   string `json:"agentName,omitempty"`
	Description string `json:"description,omitempty"`
	Version     string `json:"version,omitempty"`
	SkillsCount int    `json:"skillsCount"`
}

// list answers with the agents and what their cards say.
func (m *Module) list(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		fault.MethodNotAllowed(w, "GET, HEAD")
		return
	}
	items := make([]entry, 0, len(m.agents))
	for _, a := range m.agents {
		url := m.publicURL(r, a.Name)
		e := entry{Name: a.Name, URL: url + "/", CardURL: url + a2a.CardPath}
		if card, err := m.fetch(r.Context(), a); err == nil {
			e.Reachable, e.AgentName, e.Description = true, card.Name, card.Description
			e.Version, e.SkillsCount = card.Version, len(card.Skills)
		}
		items = append(items, e)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string]any{"items": items})
}

// card answers with an agent's card, rewritten to the gateway's address. What the gateway does not pass on is left out:
// signatures (they cover the addresses), the agent's own security schemes, push notifications.
func (m *Module) card(w http.ResponseWriter, r *http.Request) {
	agent, err := m.agents.find(r.PathValue("name"))
	if err != nil {
		fault.Write(w, err)
		return
	}
	card, err := m.fetch(r.Context(), agent)
	if err != nil {
		flow.Log(r.Context()).Warn().Err(err).Str("agent", agent.Name).Msg("agent card not fetched")
		problem := fault.ProblemOf(fault.New(fault.Unavailable, "the agent %s cannot be reached", agent.Name))
		problem.Status, problem.Title = http.StatusBadGateway, http.StatusText(http.StatusBadGateway)
		fault.WriteProblem(w, problem)
		return
	}
	card = card.At(m.publicURL(r, agent.Name))
	card.Capabilities.PushNotifications = false
	card.Capabilities.ExtendedAgentCard = false
	a2a.ServeCard(w, r, card)
}

func (m *Module) fetch(ctx context.Context, agent Agent) (a2a.Card, error) {
	ctx, cancel := context.WithTimeout(ctx, cardLimit)
	defer cancel()
	return a2a.NewClient(agent.URL, &http.Client{Transport: m.options.Transport}).Card(ctx)
}

func (m *Module) noSuchPath(w http.ResponseWriter, _ *http.Request) {
	fault.Write(w, fault.New(fault.NotFound, "the gateway has no such address"))
}
