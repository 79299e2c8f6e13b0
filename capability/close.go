package capability

import (
	"encoding/json"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/text"
)

// Close makes the outcome of a call that has none of its own: denied by a person or by time, cancelled
// before or while it ran, interrupted so that nobody knows (INDETERMINATE), or as a person says that it
// ended. It is not an error (D-96). What its capability wants written when a call does not run goes with it,
// unless it ran or may have run.
func (p *Pipeline) Close(call Call, status Status, reason, message string) Outcome {
	r := p.receipt(call, p.now(), status, StageConfirm, nil)
	r.Code, r.Message = reason, message
	out := Outcome{Receipt: r, Result: closedResult(status, reason, message)}
	switch status {
	case Indeterminate:
		out.Receipt.Stage = StageAttempt
		return out
	case Succeeded:
		return out
	}
	if d := p.registry.entries[call.Name].Definition; d.Dismiss != nil {
		out.Changes = d.Dismiss(call, reason)
	}
	return out
}

// Answered makes the outcome of a call that somebody else made, as they say it: with a failure, it failed.
func (p *Pipeline) Answered(call Call, began time.Time, result json.RawMessage, failure string) Outcome {
	r := p.receipt(call, began, Succeeded, StageAnswer, nil)
	if failure != "" {
		r.Status, r.Code, r.Message = Failed, "failed", text.Clip(failure, summarySize)
	}
	return Outcome{Receipt: r, Result: result}
}

// ErrorResult is the one form in which a model reads a failed call.
func ErrorResult(err error) json.RawMessage {
	out, _ := json.Marshal(map[string]any{"error": map[string]string{
		"code": string(fault.CodeOf(err)), "message": fault.MessageOf(err),
	}})
	return out
}

// refusedResult is the one form in which a model reads a call that was refused before it ran.
func refusedResult(err error) json.RawMessage {
	out, _ := json.Marshal(map[string]any{"ran": false, "error": map[string]string{
		"code": string(fault.CodeOf(err)), "message": fault.MessageOf(err),
	}})
	return out
}

// closedResult is the one form in which a model reads a call that was not run to its end.
func closedResult(status Status, reason, message string) json.RawMessage {
	out, _ := json.Marshal(map[string]string{"status": string(status), "reason": reason, "message": message})
	return out
}

// unknownResult is the one form in which a model reads a call that may have happened.
func unknownResult(err error) json.RawMessage {
	return closedResult(Indeterminate, string(fault.CodeOf(err)), fault.MessageOf(err)+"; it is not known whether it happened")
}

// NoResult is what a model reads of a call of which nothing is stored.
func NoResult() json.RawMessage {
	return closedResult(Indeterminate, "unknown", "there is no result of this call")
}
