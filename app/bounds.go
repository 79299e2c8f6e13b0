package app

import (
	"strconv"
	"time"

	"agentmesh/a2a"
	"agentmesh/agent"
	"agentmesh/agent/agui"
	"agentmesh/agent/openai"
	"agentmesh/agent/orchestrator"
	"agentmesh/agent/order"
	"agentmesh/agent/run"
	"agentmesh/agent/schedule"
	"agentmesh/capability"
	"agentmesh/capability/starlarktool"
	"agentmesh/mcp"
	"agentmesh/mcp/catalog"
	"agentmesh/store/spandb"
)

// bound is a limit of the program that no setting moves.
type bound struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// bounds lists what `config` prints (design, section 12). Each value is the constant that holds.
func bounds() []bound {
	ofRun := run.DefaultBounds()
	return []bound{
		{"headers of a request", size(maxHeaders) + ", within " + headerTime.String()},
		{"body of a REST or AG-UI request", size(orchestrator.MaxBody) + ", within " + bodyTime.String()},
		{"body of an MCP request", size(mcp.MaxRequest)},
		{"body of an A2A request", size(a2a.MaxBody)},
		{"one message of a person", size(agui.MaxMessage)},
		{"messages sent along with it", strconv.Itoa(agui.MaxHistory)},
		{"tools of a client", strconv.Itoa(agui.MaxTools) + ", " + size(agui.MaxToolsSize) + " together"},
		{"context of a client", strconv.Itoa(agui.MaxContext) + " entries, " + size(agui.MaxContextSize) + " together"},
		{"answer of a client's tool", size(agui.MaxAnswer)},
		{"one piece of an answer, to be taken", writeTime.String()},
		{"open streams of one user", strconv.Itoa(orchestrator.MaxStreamsOfUser)},
		{"open streams", strconv.Itoa(orchestrator.MaxStreams)},
		{"items of one page of a list", strconv.Itoa(orchestrator.MaxItems)},
		{"an idle connection", idleTime.String()},
		{"heartbeat of a silent stream", run.Heartbeat.String()},
		{"a left run: POST /api/v1/runs", leaveTimes()[agent.ByAPI].String()},
		{"a left run: POST /agui", leaveTimes()[agent.ByAGUI].String()},
		{"model rounds of a run", strconv.Itoa(ofRun.Rounds)},
		{"calls of a run", strconv.Itoa(ofRun.Calls)},
		{"identical calls in a row", strconv.Itoa(ofRun.Repeats)},
		{"runs that only tell of tasks, with nobody saying anything", strconv.Itoa(ofRun.Tellings)},
		{"working time of a run", ofRun.Active.String()},
		{"earlier messages read for a prompt", strconv.Itoa(run.HistoryLimit)},
		{"one tool result in a prompt", size(run.ResultLimit)},
		{"one tool result, as it is kept", size(capability.MaxResult)},
		{"answer of a model", size(openai.MaxAnswer)},
		{"answer of an MCP server", size(mcp.MaxAnswer)},
		{"answer of an agent", size(a2a.MaxAnswer)},
		{"an agent's card", size(a2a.MaxCard)},
		{"tasks that an agent remembers", strconv.Itoa(a2a.MaxTasks)},
		{"one call of a capability", capability.DefaultTimeout.String()},
		{"one call of an MCP tool", mcp.ToolTimeout.String()},
		{"holds of one person at a time", strconv.Itoa(catalog.MaxHolds)},
		{"portions held by one person", strconv.Itoa(catalog.MaxPortions)},
		{"a hold, beyond its question", order.HoldMargin.String()},
		{"dishes of one import", strconv.Itoa(catalog.MaxEdits) + ", " + size(catalog.MaxFile)},
		{"schedules of one user", strconv.Itoa(schedule.MaxOfUser)},
		{"a due time that is found late", schedule.Grace.String()},
		{"a program of execute_python", strconv.Itoa(starlarktool.MaxSteps) + " steps, " + size(starlarktool.MaxMemory)},
		{"spans of one trace", strconv.Itoa(spandb.MaxSpans)},
		{"an orderly stop", stopTime.String()},
	}
}

// size writes a number of bytes.
func size(bytes int) string {
	switch {
	case bytes >= 1<<20 && bytes%(1<<20) == 0:
		return strconv.Itoa(bytes>>20) + " MiB"
	case bytes >= 1<<10 && bytes%(1<<10) == 0:
		return strconv.Itoa(bytes>>10) + " KiB"
	}
	return strconv.Itoa(bytes) + " bytes"
}

// since writes how long something has lasted, in words of at most two units.
func since(d time.Duration) string {
	d = d.Truncate(time.Second)
	switch {
	case d >= 24*time.Hour && d%(24*time.Hour) < time.Hour:
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	case d >= 24*time.Hour:
		return strconv.Itoa(int(d/(24*time.Hour))) + "d" + strconv.Itoa(int(d%(24*time.Hour)/time.Hour)) + "h"
	case d >= time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h" + strconv.Itoa(int(d%time.Hour/time.Minute)) + "m"
	}
	return d.String()
}
