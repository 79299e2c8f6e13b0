package trace

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentmesh/agent"
	"agentmesh/app/platform/span"
	"agentmesh/capability"
)

const ownModule = "orchestrator"

// ofJournal reads a run's spans from its journal: the run, its model rounds, its calls, and the waits for
// a person. Nothing is recorded twice, and a crash loses none of them.
func ofJournal(r Run) []span.Span {
	j := r.Journal
	of := journal{run: j.Run, root: span.IDOf(j.Run.ID)}
	out := []span.Span{of.rootSpan()}
	for _, c := range r.ModelCalls {
		out = append(out, of.round(c))
	}
	out = append(out, of.openRound(r)...)
	for _, inv := range j.Invocations {
		out = append(out, of.call(inv))
	}
	for _, c := range j.Confirmations {
		out = append(out, of.wait(c))
	}
	return out
}

// journal makes the spans of one run.
type journal struct {
	run  agent.Run
	root string
}

func (of journal) span(kind span.Kind, id, parent, name string, start, end time.Time, attributes ...string) span.Span {
	s := span.Span{
		TraceID: of.run.TraceID, ID: id, ParentID: parent, RunID: of.run.ID, Module: ownModule,
		Kind: kind, Name: name, Start: start, End: end, Attributes: map[string]string{},
	}
	if end.IsZero() { // what a run's end found open ended with it
		s.End = of.run.EndedAt
	}
	for i := 0; i+1 < len(attributes); i += 2 {
		if value := attributes[i+1]; value != "" {
			s.Attributes[attributes[i]] = value
		}
	}
	return s
}

func (of journal) rootSpan() span.Span {
	r := of.run
	s := of.span(span.Run, of.root, "", "invoke_agent agentmesh", r.CreatedAt, r.EndedAt,
		"gen_ai.operation.name", "invoke_agent",
		"gen_ai.agent.name", "agentmesh",
		"gen_ai.conversation.id", r.ThreadID,
		"gen_ai.response.model", r.Model,
		"gen_ai.usage.input_tokens", count(r.Usage.Input),
		"gen_ai.usage.output_tokens", count(r.Usage.Output),
		"agentmesh.run.id", r.ID,
		"agentmesh.run.status", r.Status.String(),
		"agentmesh.run.finish_reason", string(r.FinishReason),
		"error.type", r.ErrorCode)
	s.Error = r.ErrorCode
	return s
}

func (of journal) round(c agent.ModelCall) span.Span {
	s := of.span(span.Model, span.IDOf(c.ID), of.root, strings.TrimSpace("chat "+c.Model), c.StartedAt, c.StartedAt.Add(c.Duration),
		"gen_ai.operation.name", "chat",
		"gen_ai.request.model", c.Model,
		"gen_ai.response.finish_reasons", c.Finish,
		"gen_ai.usage.input_tokens", count(c.Usage.Input),
		"gen_ai.usage.output_tokens", count(c.Usage.Output),
		"agentmesh.llm_call.id", c.ID,
		"agentmesh.round", strconv.Itoa(c.Round))
	if c.Error != "" { // the record has words only; a round that fails ends its run with its code
		s.Error = cmp.Or(of.run.ErrorCode, "internal")
		s.Attributes["error.type"] = s.Error
	}
	return s
}

// openRound is the model call that has not ended, if there is one.
func (of journal) openRound(r Run) []span.Span {
	for _, e := range slices.Backward(r.Events) {
		if e.Type != agent.ModelCalled {
			continue
		}
		var asked agent.ModelData
		if json.Unmarshal(e.Data, &asked) != nil || slices.ContainsFunc(r.ModelCalls, func(c agent.ModelCall) bool { return c.ID == asked.LLMCallID }) {
			return nil
		}
		return []span.Span{of.span(span.Model, span.IDOf(asked.LLMCallID), of.root, strings.TrimSpace("chat "+of.run.Model), e.At, time.Time{},
			"gen_ai.operation.name", "chat", "gen_ai.request.model", of.run.Model, "agentmesh.llm_call.id", asked.LLMCallID, "agentmesh.round", strconv.Itoa(asked.Round))}
	}
	return nil
}

func (of journal) call(inv agent.Invocation) span.Span {
	s := of.span(span.Tool, span.IDOf(inv.ID), of.root, "execute_tool "+inv.Name, inv.CreatedAt, inv.EndedAt,
		"gen_ai.operation.name", "execute_tool",
		"gen_ai.tool.name", inv.Name,
		"gen_ai.tool.call.id", inv.CallID,
		"agentmesh.tool_invocation.id", inv.ID,
		"agentmesh.capability.kind", string(inv.Receipt.Kind),
		"agentmesh.status", string(inv.Status),
		"agentmesh.stage", string(inv.Receipt.Stage),
		"error.type", inv.Receipt.Code)
	if failed(inv.Status) {
		s.Error = inv.Receipt.Code
		if s.Error == "" {
			s.Error = strings.ToLower(string(inv.Status))
		}
	}
	return s
}

// failed tells whether a call's state is an error; that a person said no is not (design, section 6).
func failed(s capability.Status) bool {
	switch s {
	case capability.Failed, capability.TimedOut, capability.Invalid, capability.Refused, capability.Indeterminate:
		return true
	}
	return false
}

func (of journal) wait(c agent.Confirmation) span.Span {
	var decided time.Time
	if c.DecidedAt != nil {
		decided = *c.DecidedAt
	}
	return of.span(span.Person, span.IDOf(c.ID), span.IDOf(c.InvocationID), string(cmp.Or(c.Kind, agent.AskConfirm))+" "+c.Tool, c.CreatedAt, decided,
		"gen_ai.tool.name", c.Tool,
		"agentmesh.confirmation.id", c.ID,
		"agentmesh.status", string(c.Status),
		"agentmesh.answer", string(c.Answer),
		"agentmesh.decided_via", c.DecidedVia)
}

func count(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
