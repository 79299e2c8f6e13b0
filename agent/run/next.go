package run

import (
	"bytes"
	"fmt"
	"time"

	"agentmesh/agent"
	"agentmesh/capability"
)

// Bounds end a run that would not end by itself (design, section 4).
type Bounds struct {
	Rounds   int           // model rounds
	Calls    int           // calls of capabilities
	Repeats  int           // identical calls in a row: this one is refused with words, the next ends the run
	Active   time.Duration // working time; waiting for a person does not count
	Tellings int           // runs that only tell of ended tasks, with nobody saying anything: from the last one on there are no tools
}

// DefaultBounds are the values of design section 10.
func DefaultBounds() Bounds {
	return Bounds{Rounds: 12, Calls: 40, Repeats: 3, Active: 10 * time.Minute, Tellings: 5}
}

// action is what a run does next.
type action int

const (
	actDone   action = iota // nothing: it has ended
	actBegin                // leave PENDING
	actModel                // ask the model
	actCalls                // run calls
	actWait                 // nothing to do before a person decides
	actFinish               // end
)

// next is the next step of a run.
type next struct {
	do     action
	calls  []agent.Invocation // with actCalls
	last   bool               // with actModel: the last round, without tools
	status agent.Status       // with actFinish
	reason agent.FinishReason // with actFinish
}

// nextStep decides, from the journal alone, what a run does next. It is pure: the same journal gives the
// same step, in this process or in the one that comes after a crash.
func nextStep(j agent.Journal, b Bounds) next {
	switch {
	case j.Run.Status.Final():
		return next{do: actDone}
	case j.Run.CancelReason != "":
		return next{do: actFinish, status: agent.Cancelled, reason: j.Run.CancelReason}
	case j.Run.Status == agent.Pending:
		return next{do: actBegin}
	}
	answers := answersOf(j)
	if len(answers) == 0 {
		return next{do: actModel, last: bound(j, b, 0) != ""}
	}
	if len(answers[len(answers)-1].Calls) == 0 {
		return next{do: actFinish, status: agent.Succeeded, reason: finishOf(j, b, len(answers)-1)}
	}
	todo, asking := pendingCalls(j, len(answers))
	switch {
	case len(todo) > 0:
		return next{do: actCalls, calls: todo}
	case asking:
		return next{do: actWait}
	case len(waitsOutside(j)) > 0:
		return next{do: actFinish, status: agent.Succeeded, reason: leftTo(j)}
	}
	return next{do: actModel, last: bound(j, b, len(answers)) != ""}
}

func answersOf(j agent.Journal) []agent.Message {
	var out []agent.Message
	for _, m := range j.Messages {
		if m.Role == agent.Assistant && !m.Abandoned {
			out = append(out, m)
		}
	}
	return out
}

// pendingCalls lists the calls of a round that can go on, and tells whether others wait for a person.
func pendingCalls(j agent.Journal, round int) (todo []agent.Invocation, asking bool) {
	for _, inv := range j.Invocations {
		if inv.Round != round || inv.Status.Settled() {
			continue
		}
		if inv.Status.Waits() {
			asking = asking || inv.Status == capability.Asking
			continue
		}
		todo = append(todo, inv)
	}
	return todo, asking
}

// finishOf gives the finish reason of a run whose last answer has no calls: the bound that forced that
// answer, or none.
func finishOf(j agent.Journal, b Bounds, roundsBefore int) agent.FinishReason {
	if reason := bound(j, b, roundsBefore); reason != "" {
		return reason
	}
	return agent.Completed
}

// bound names the bound that a run has reached, if any.
func bound(j agent.Journal, b Bounds, rounds int) agent.FinishReason {
	switch {
	case rounds >= b.Rounds:
		return agent.MaxRounds
	case len(j.Invocations) >= b.Calls:
		return agent.MaxCalls
	case repeats(j.Invocations) > b.Repeats: // it was told at the one before
		return agent.RepeatedCalls
	case j.Run.Active >= b.Active:
		return agent.OutOfTime
	case b.Tellings > 0 && j.Tellings >= b.Tellings:
		return agent.MaxTellings
	}
	return ""
}

// refusal says why a call that the model asks for after others is not made at all: the run may make no more, or
// it is the same again. The words tell the model what to do instead.
func refusal(before []agent.Invocation, inv agent.Invocation, b Bounds) (reason agent.FinishReason, words string) {
	n := repeats(append(before, inv))
	switch {
	case len(before) >= b.Calls:
		return agent.MaxCalls, "no more calls can be made in this run"
	case n >= b.Repeats:
		return agent.RepeatedCalls, fmt.Sprintf(
			"%s was called with these very arguments %d times just before, so it was not called again: use the results above, call it with other arguments, call another tool, or answer",
			inv.Name, n-1)
	}
	return "", ""
}

// repeats counts how many of the newest calls are the same.
func repeats(calls []agent.Invocation) int {
	n := 0
	for i := len(calls) - 1; i >= 0; i-- {
		last := calls[len(calls)-1]
		if calls[i].Name != last.Name || !bytes.Equal(calls[i].Args, last.Args) {
			break
		}
		n++
	}
	return n
}
