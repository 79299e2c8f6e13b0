package crash

import (
	"context"
	"strings"

	"agentmesh/agent"
)

// gaps is I06 in one statement, so that it can look beside the running program.
func (j *judge) gaps(ctx context.Context) {
	rows, err := j.runs.Read().QueryContext(ctx, `SELECT printf('the journal of %s has %d events from %d to %d, and its head is %d', r.id,
			count(e.seq), coalesce(min(e.seq), 0), coalesce(max(e.seq), 0), r.head)
		FROM runs r LEFT JOIN run_events e ON e.run_n = r.n GROUP BY r.n
		HAVING count(e.seq) <> r.head OR coalesce(max(e.seq), 0) <> r.head OR (r.head > 0 AND min(e.seq) <> 1)
		UNION ALL
		SELECT printf('the run %s is in state %d and has %d ends', r.id, r.state, count(e.seq))
		FROM runs r LEFT JOIN run_events e ON e.run_n = r.n AND e.type = 'run_ended' GROUP BY r.n
		HAVING count(e.seq) <> (r.state >= 10) OR (r.state >= 10 AND max(e.seq) <> r.head)`)
	if err == nil {
		var found []string
		if found, err = column(rows); err == nil {
			for _, f := range found {
				j.wrong("I06", "%s", f)
			}
		}
	}
	j.check("I06", err)
}

// journal is I07 and the calls' part of I08: runs of a conversation go one after another, and each call
// has one result.
func (j *judge) journal() {
	before := map[string]agent.Run{}
	for _, r := range j.all {
		conversation := r.UserID + " " + r.ThreadID
		if last, ok := before[conversation]; ok && !r.StartedAt.IsZero() && (last.EndedAt.IsZero() || r.StartedAt.Before(last.EndedAt)) {
			j.wrong("I07", "the run %s began while %s of the same conversation was at work", r.ID, last.ID)
		}
		before[conversation] = r
		results := map[string]int{}
		for _, e := range j.events[r.ID] {
			switch e.Type {
			case agent.CallEnded, agent.CallOffloaded:
				results[callOf(e)]++
			case agent.RunEnded:
				if told := endOf(e); told != r.Status.String() {
					j.wrong("I05", "the stream of %s ends with %s, and the run is %s", r.ID, told, r.Status)
				}
			}
		}
		for _, inv := range j.journals[r.ID].Invocations {
			if want := map[bool]int{true: 1}[inv.Status.Settled()]; results[inv.ID] != want {
				j.wrong("I08", "the call %s is %s and has %d results", inv.ID, inv.Status, results[inv.ID])
			}
		}
	}
}

// audit is the last part of I08: each call that has ended is in the audit once. That a person had it tried
// again is a record of its own.
func (j *judge) audit(ctx context.Context) {
	rows, err := j.runs.Read().QueryContext(ctx, `SELECT printf('the call %s is %s and has %d audit records', i.id, i.status, count(a.n))
		FROM invocations i LEFT JOIN audit_log a ON a.invocation_id = i.id
			AND NOT (a.status = 'INDETERMINATE' AND a.stage = 'confirm') GROUP BY i.id HAVING count(a.n) <> i.final`)
	if err == nil {
		var found []string
		found, err = column(rows)
		for _, f := range found {
			j.wrong("I08", "%s", f)
		}
	}
	j.check("I08", err)
}

// tasks is the tasks' part of I08, with what the books say of them: each is told of, if nothing else of its conversation
// is still to come.
func (j *judge) tasks(ctx context.Context) {
	rows, err := j.runs.Read().QueryContext(ctx, `SELECT printf('the task %s is %s, and nobody has told of it', t.id, t.state) FROM tasks t
		WHERE t.delivered_run = '' AND NOT EXISTS (SELECT 1 FROM runs o WHERE o.user_id = t.user_id AND o.thread_id = t.thread_id AND o.state < 10)`)
	if err == nil {
		var found []string
		found, err = column(rows)
		for _, f := range found {
			j.wrong("I08", "%s", f)
		}
	}
	j.check("I08", err)
}

// logs finds what no process may say of itself.
func (j *judge) logs() {
	for _, p := range j.w.processes() {
		for _, word := range []string{"DATA RACE", "panicked", "goroutine "} {
			if at := strings.Index(p.log.String(), word); at >= 0 {
				j.wrong("log", "%s: %.2000s", word, p.log.String()[at:])
			}
		}
	}
}

// turns is the model's part of I08: what is stored as said is what the model gave, whole.
func (j *judge) turns() {
	for id, journal := range j.journals {
		for _, m := range journal.Messages {
			if m.Role == agent.Assistant && !m.Abandoned && m.Text != "" && !j.w.model.gave(m.Text) {
				j.wrong("I08", "the run %s says %q, which the model never gave", id, m.Text)
			}
		}
	}
}
