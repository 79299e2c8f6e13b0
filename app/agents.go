package app

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"agentmesh/a2a"
	"agentmesh/a2a/gateway"
	"agentmesh/agent/orchestrator"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/mesh"
)

// agentsTime bounds how long the list of agents waits for the gateway and its agents.
const agentsTime = 8 * time.Second

// maxAgents is the largest list of agents that is read, in bytes.
const maxAgents = 1 << 20

// agents is the gateway's list, with what each agent's card says.
type agents struct {
	base   string // the gateway, as this process reaches it
	public string // the gateway, as others reach it
	http   *http.Client
}

// agentList makes the list. A gateway that only this process can dial is shown by the main listener.
func (w *wiring) agentList() agents {
	a := agents{base: w.network.BaseURL("gateway"), http: w.http}
	a.public = a.base
	if strings.HasSuffix(a.base, mesh.Domain) {
		a.public = w.publicURL
	}
	return a
}

// Agents asks the gateway which agents there are, and each reachable one for its card.
func (a agents) Agents(ctx context.Context) ([]orchestrator.Agent, error) {
	ctx, cancel := context.WithTimeout(ctx, agentsTime)
	defer cancel()
	found, err := a.list(ctx)
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "the gateway cannot be reached")
	}
	var asked sync.WaitGroup
	for i := range found {
		found[i].CardURL = a.public + gateway.Prefix + "/" + found[i].Name + a2a.CardPath
		found[i].Skills = []orchestrator.AgentSkill{}
		if found[i].Reachable {
			asked.Go(func() { a.describe(ctx, &found[i]) })
		}
	}
	asked.Wait()
	return found, nil
}

func (a agents) list(ctx context.Context) ([]orchestrator.Agent, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+gateway.Prefix, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := a.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fault.New(fault.FromStatus(resp.StatusCode), "the gateway answered %d", resp.StatusCode)
	}
	var answer struct {
		Items []struct {
			Name      string `json:"name"`
			Reachable bool   `json:"reachable"`
		} `json:"items"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, maxAgents)).Decode(&answer); err != nil {
		return nil, err
	}
	out := make([]orchestrator.Agent, 0, len(answer.Items))
	for _, item := range answer.Items {
		out = append(out, orchestrator.Agent{Name: item.Name, Reachable: item.Reachable})
	}
	return out, nil
}

// describe adds what the agent's card says.
func (a agents) describe(ctx context.Context, to *orchestrator.Agent) {
	card, err := a2a.NewClient(a.base+gateway.Prefix+"/"+to.Name, a.http).Card(ctx)
	if err != nil {
		flow.Log(ctx).Warn().Err(err).Str("agent", to.Name).Msg("agent card not read")
		to.Reachable = false
		return
	}
	to.Description, to.Version = card.Description, card.Version
	for _, s := range card.Skills {
		to.Skills = append(to.Skills, orchestrator.AgentSkill{ID: s.ID, Name: s.Name, Description: s.Description, Tags: s.Tags})
	}
}
