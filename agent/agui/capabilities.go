package agui

import "encoding/json"

// Capabilities is what an agent declares of itself, in AG-UI's fixed groups. What is left out is unknown;
// what is declared holds.
type Capabilities struct {
	Identity       Identity       `json:"identity"`
	Transport      Transport      `json:"transport"`
	Tools          Tools          `json:"tools"`
	Output         Output         `json:"output"`
	State          State          `json:"state"`
	MultiAgent     MultiAgent     `json:"multiAgent"`
	Reasoning      Reasoning      `json:"reasoning"`
	HumanInTheLoop HumanInTheLoop `json:"humanInTheLoop"`
}

// Identity says who the agent is.
type Identity struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Version     string `json:"version"`
}

// Transport says how its events travel. Resumable would mean that a cut stream
// goes on by itself; here it is had again from a route of its own.
type Transport struct {
	Streaming         bool `json:"streaming"`
	WebSocket         bool `json:"websocket"`
	HTTPBinary        bool `json:"httpBinary"`
	PushNotifications bool `json:"pushNotifications"`
	Resumable         bool `json:"resumable"`
}

// Tools lists what it may call. ClientProvided means that it calls tools of the client, too.
type Tools struct {
	Supported      bool   `json:"supported"`
	Items          []Tool `json:"items"`
	ParallelCalls  bool   `json:"parallelCalls"`
	ClientProvided bool   `json:"clientProvided"`
}

// Tool is one tool; its parameters are a JSON Schema.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Output says what its answers are.
type Output struct {
	StructuredOutput bool `json:"structuredOutput"`
}

// State says what it keeps. Memory lasts from one conversation to the next.
type State struct {
	Snapshots       bool `json:"snapshots"`
	Deltas          bool `json:"deltas"`
	Memory          bool `json:"memory"`
	PersistentState bool `json:"persistentState"`
}

// MultiAgent lists the agents that it hands tasks to.
type MultiAgent struct {
	Supported  bool       `json:"supported"`
	Delegation bool       `json:"delegation"`
	Handoffs   bool       `json:"handoffs"`
	Subagents  []Subagent `json:"subagents"`
}

// Subagent is one of them.
type Subagent struct {
	Name string `json:"name"`
}

// Reasoning says whether a model's thoughts are shown.
type Reasoning struct {
	Supported bool `json:"supported"`
}

// HumanInTheLoop says what a person can do in a run.
type HumanInTheLoop struct {
	Supported        bool `json:"supported"`
	Approvals        bool `json:"approvals"`
	Interrupts       bool `json:"interrupts"`
	ApproveWithEdits bool `json:"approveWithEdits"`
}
