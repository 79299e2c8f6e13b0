package orchestrator

import (
	"time"

	"github.com/labstack/echo/v4"

	"agentmesh/agent"
)

// messageView is a message as the API shows it.
type messageView struct {
	ID         string       `json:"id"`
	RunID      string       `json:"runId"`
	RunStatus  agent.Status `json:"runStatus"`
	Role       agent.Role   `json:"role"`
	Content    string       `json:"content"`
	ToolCalls  []callView   `json:"toolCalls,omitempty"`
	ToolCallID string       `json:"toolCallId,omitempty"`
	Abandoned  bool         `json:"abandoned,omitempty"`
	CreatedAt  time.Time    `json:"createdAt"`
}

type callView struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func (m *Module) listConversations(c echo.Context) error {
	user := userOf(c)
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	found, err := m.deps.Runs.Conversations(c.Request().Context(), user, limit)
	return list(c, found, err)
}

// newestMessages is how much of a conversation is shown.
const newestMessages = 500

func (m *Module) listMessages(c echo.Context) error {
	user := userOf(c)
	messages, err := m.deps.Runs.History(c.Request().Context(), user, c.Param("id"), false, newestMessages)
	views := make([]messageView, 0, len(messages))
	for _, msg := range messages {
		v := messageView{
			ID: msg.ID, RunID: msg.RunID, RunStatus: msg.RunStatus, Role: msg.Role, Content: msg.Text,
			ToolCallID: msg.ToolCallID, Abandoned: msg.Abandoned, CreatedAt: msg.CreatedAt,
		}
		for _, call := range msg.Calls {
			v.ToolCalls = append(v.ToolCalls, callView{call.ID, call.Name, string(call.Args)})
		}
		views = append(views, v)
	}
	return list(c, views, err)
}
