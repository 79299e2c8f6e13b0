// Package a2a speaks Agent2Agent 1.0 over JSON-RPC: the agent card, the HTTP edge of an agent, the task engine behind it
// and the client. It is the door of a2a-go. It must not know what any agent does, where it runs or who may call it.
package a2a

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"agentmesh/app/platform/fault"
)

const (
	// CardPath is where an agent's card is, below the agent's address.
	CardPath = "/.well-known/agent-card.json"
	// Version is the protocol version that this package speaks.
	Version = "1.0"
	// BindingJSONRPC names the JSON-RPC binding in an interface of a card.
	BindingJSONRPC = "JSONRPC"
	// MaxCard is the largest card that ReadCard takes, in bytes.
	MaxCard = 256 << 10
)

// Card tells what an agent is, what it can do and where to reach it (A2A 1.0, section 4.4.1).
type Card struct {
	Name                string       `json:"name"`
	Description         string       `json:"description"`
	Version             string       `json:"version"`
	Provider            *Provider    `json:"provider,omitempty"`
	DocumentationURL    string       `json:"documentationUrl,omitempty"`
	SupportedInterfaces []Interface  `json:"supportedInterfaces"`
	Capabilities        Capabilities `json:"capabilities"`
	DefaultInputModes   []string     `json:"defaultInputModes"`
	DefaultOutputModes  []string     `json:"defaultOutputModes"`
	Skills              []Skill      `json:"skills"`
}

// Provider is who offers an agent.
type Provider struct {
	Organization string `json:"organization"`
	URL          string `json:"url"`
}

// Interface is one address of an agent and what is spoken there. The first of a card is preferred.
type Interface struct {
	URL             string `json:"url"`
	ProtocolBinding string `json:"protocolBinding"`
	ProtocolVersion string `json:"protocolVersion"`
	Tenant          string `json:"tenant,omitempty"`
}

// Capabilities are the optional parts of the protocol that an agent has.
type Capabilities struct {
	Streaming         bool `json:"streaming"`
	PushNotifications bool `json:"pushNotifications"`
	ExtendedAgentCard bool `json:"extendedAgentCard,omitempty"`
}

// Skill is one thing that an agent can do.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Examples    []string `json:"examples,omitempty"`
	InputModes  []string `json:"inputModes,omitempty"`
	OutputModes []string `json:"outputModes,omitempty"`
}

// At gives the card as published at an address: JSON-RPC there and nothing else.
func (c Card) At(baseURL string) Card {
	c.SupportedInterfaces = []Interface{{
		URL:             strings.TrimSuffix(baseURL, "/") + "/",
		ProtocolBinding: BindingJSONRPC,
		ProtocolVersion: Version,
	}}
	return c
}

// Check says what a card lacks that the protocol requires (sections 4.4 and 5.7).
func (c Card) Check() error {
	for _, need := range []struct {
		field string
		there bool
	}{
		{"name", c.Name != ""},
		{"description", c.Description != ""},
		{"version", c.Version != ""},
		{"supportedInterfaces", len(c.SupportedInterfaces) > 0},
		{"defaultInputModes", len(c.DefaultInputModes) > 0},
		{"defaultOutputModes", len(c.DefaultOutputModes) > 0},
		{"skills", len(c.Skills) > 0},
	} {
		if !need.there {
			return fault.New(fault.Invalid, "the agent card has no %s", need.field)
		}
	}
	for _, s := range c.Skills {
		if s.ID == "" || s.Name == "" || s.Description == "" || len(s.Tags) == 0 {
			return fault.New(fault.Invalid, "skill %q of the agent card lacks an id, a name, a description or tags", s.ID)
		}
	}
	return nil
}

// ReadCard reads and checks a card that came from elsewhere. Fields that this package does not know are ignored.
func ReadCard(r io.Reader) (Card, error) {
	raw, err := io.ReadAll(io.LimitReader(r, MaxCard+1))
	if err != nil {
		return Card{}, fault.Wrap(err, fault.Unavailable, "the agent card could not be read")
	}
	if len(raw) > MaxCard {
		return Card{}, fault.New(fault.TooLarge, "the agent card is larger than %d bytes", MaxCard)
	}
	var c Card
	if err := json.Unmarshal(raw, &c); err != nil {
		return Card{}, fault.Wrap(err, fault.Invalid, "the agent card is not readable")
	}
	if err := c.Check(); err != nil {
		return Card{}, err
	}
	return c, nil
}

// ServeCard answers a GET with a card, with an entity tag and a lifetime (section 8.6.1).
func ServeCard(w http.ResponseWriter, r *http.Request, c Card) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		fault.MethodNotAllowed(w, "GET, HEAD")
		return
	}
	body, err := json.Marshal(c)
	if err != nil {
		fault.Write(w, fmt.Errorf("write card: %w", err))
		return
	}
	sum := sha256.Sum256(body)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("ETag", `"`+hex.EncodeToString(sum[:12])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
