package crash

import (
	"context"
	"slices"
	"time"

	"agentmesh/agent"
	"agentmesh/agent/order"
	"agentmesh/capability"
	"agentmesh/mcp/catalog"
)

// late are the deliveries that should have been made. The release of a hold that an edit made is queued for
// later, until the edit counts; when its time has come, the relay finds it with its next look, within a minute.
const late = `FROM outbox WHERE done_at = 0
	AND (attempts > 0 OR next_at <= unixepoch('subsec') * 1000000 - iif(reason = 'abandoned', 70000000, 0))`

// holds is I03: no hold outlives its time, and nothing that is due waits to be delivered.
func (j *judge) holds(ctx context.Context) {
	rows, err := j.runs.Read().QueryContext(ctx, `SELECT op || ' ' || okey `+late)
	if err == nil {
		var found []string
		found, err = column(rows)
		for _, f := range found {
			j.wrong("I03", "the outbox still has %s", f)
		}
	}
	j.check("I03", err)
	entries, err := j.stocks.Entries(ctx)
	j.check("I03", err)
	for _, e := range entries {
		if e.State == catalog.Held && time.Since(e.ExpiresAt) > time.Minute {
			j.wrong("I03", "%s is held since its time ended at %s", e.Key, e.ExpiresAt)
		}
	}
	for _, o := range j.orders {
		if o.Status == order.Placing && !waits(j.journals[o.RunID]) {
			j.wrong("I03", "the order %s is PLACING and its run %s does not wait", o.ID, o.RunID)
		}
	}
}

// waits tells whether a run waits truthfully: it says so, and a question is open.
func waits(j agent.Journal) bool {
	return j.Run.Status == agent.AwaitingConfirmation &&
		slices.ContainsFunc(j.Confirmations, func(c agent.Confirmation) bool { return c.Status == agent.ConfirmationOpen })
}

// ends is I04: every run has ended or waits, and none failed because of us.
func (j *judge) ends() {
	for _, r := range j.all {
		switch {
		case r.Status == agent.Failed:
			j.wrong("I04", "the run %s FAILED: %s %s", r.ID, r.ErrorCode, r.ErrorMessage)
		case r.CancelReason != "" && r.Status == agent.Succeeded:
			j.wrong("I04", "the run %s SUCCEEDED after somebody asked to cancel it", r.ID)
		case r.Status == agent.Cancelled && r.FinishReason != agent.ByUser:
			j.wrong("I04", "the run %s was CANCELLED by nobody: %s", r.ID, r.FinishReason)
		case !r.Status.Final() && !waits(j.journals[r.ID]):
			j.wrong("I04", "the run %s is %s and nothing is open", r.ID, r.Status)
		}
	}
}

// answers is I05: what was answered holds.
func (j *judge) answers() {
	t := j.w.tally
	for id := range t.accepted {
		if journal, there := j.journals[id]; !there || len(journal.Messages) == 0 || journal.Messages[0].Role != agent.User {
			j.wrong("I05", "the run %s was accepted, and it or its message is not there", id)
		}
	}
	for id, status := range t.runs {
		if got := j.journals[id].Run.Status; got != agent.Cancelled {
			j.wrong("I05", "the cancel of the run %s was answered with %s, and it is %s", id, status, got)
		}
	}
	for _, o := range j.orders {
		if told, ok := t.orders[o.ID]; ok && string(o.Status) != told {
			j.wrong("I05", "the order %s was said to be %s, and it is %s", o.ID, told, o.Status)
		}
	}
	for _, journal := range j.journals {
		for _, c := range journal.Confirmations {
			if told, ok := t.decided[c.ID]; ok && string(c.Status) != told {
				j.wrong("I05", "the question %s was said to be %s, and it is %s", c.ID, told, c.Status)
			}
			j.outcome(journal, c)
		}
	}
}

// outcome compares a question's end with its order's and its call's.
func (j *judge) outcome(journal agent.Journal, c agent.Confirmation) {
	if c.Tool != "place_order" || c.ReplacedBy != "" {
		return
	}
	o, ordered := j.orders[c.InvocationID]
	if !ordered {
		j.wrong("I05", "the question %s is about an order that is not there", c.ID)
		return
	}
	at := slices.IndexFunc(journal.Invocations, func(i agent.Invocation) bool { return i.ID == c.InvocationID })
	inv := journal.Invocations[at]
	sold := o.Status == order.Confirmed || o.Status == order.Cancelled
	switch {
	case c.Status == agent.ConfirmationOpen:
	case c.Status != agent.ConfirmationConfirmed && sold:
		j.wrong("I05", "the question %s is %s, and its order %s is %s", c.ID, c.Status, o.ID, o.Status)
	case inv.Status == capability.Succeeded && !sold:
		j.wrong("I05", "the call %s SUCCEEDED, and its order %s is %s (%s)", inv.ID, o.ID, o.Status, o.Reason)
	case !inv.Status.Final() && journal.Run.Status.Final():
		j.wrong("I05", "the call %s is %s, and its run has ended", inv.ID, inv.Status)
	}
}
