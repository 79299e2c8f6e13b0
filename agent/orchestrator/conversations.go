package orchestrator

import (
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
)

// messageView is a message as the API shows it.
type messageView struct {
	ID         string       `json:"id"`
	RunID      string       `json:"runId"`
	RunStatus  agent.Status `json:"runStatus"`
	Role       agent.Role   `json:"role"`
	Content    string       `json:"content"`
	Reasoning  string       `json:"reasoning,omitempty"`
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
	part, err := partOf(c, "conversations", usualLimit)
	if err != nil {
		return err
	}
	found, next, err := m.deps.Conversations.Conversations(c.Request().Context(), userOf(c), part.Page)
	return list(c, part, found, next, err)
}

func (m *Module) getConversation(c echo.Context) error {
	found, err := m.deps.Conversations.Conversation(c.Request().Context(), userOf(c), c.Param("id"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, found)
}

func (m *Module) renameConversation(c echo.Context) error {
	var body struct {
		Title string `json:"title"`
	}
	if err := readJSON(c.Request().Body, &body); err != nil {
		return err
	}
	const most = 200
	title := strings.TrimSpace(body.Title)
	if n := utf8.RuneCountInString(title); n < 1 || n > most || strings.ContainsFunc(title, unicode.IsControl) {
		return fault.New(fault.Invalid, "title must have 1 to %d characters, in one line", most)
	}
	renamed, err := m.deps.Conversations.RenameConversation(c.Request().Context(), userOf(c), c.Param("id"), title)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, renamed)
}

func (m *Module) deleteConversation(c echo.Context) error {
	if err := m.deps.Conversations.DeleteConversation(c.Request().Context(), userOf(c), c.Param("id")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// newestMessages is how much of a conversation is shown when nothing else is asked for.
const newestMessages = 500

func (m *Module) listMessages(c echo.Context) error {
	part, err := partOf(c, "messages", newestMessages)
	if err != nil {
		return err
	}
	messages, next, err := m.deps.Conversations.Messages(c.Request().Context(), userOf(c), c.Param("id"), part.Page)
	views := make([]messageView, 0, len(messages))
	for _, msg := range messages {
		v := messageView{
			ID: msg.ID, RunID: msg.RunID, RunStatus: msg.RunStatus, Role: msg.Role, Content: msg.Text, Reasoning: msg.Reasoning,
			ToolCallID: msg.ToolCallID, Abandoned: msg.Abandoned, CreatedAt: msg.CreatedAt,
		}
		for _, call := range msg.Calls {
			v.ToolCalls = append(v.ToolCalls, callView{call.ID, call.Name, string(call.Args)})
		}
		views = append(views, v)
	}
	return list(c, part, views, next, err)
}
