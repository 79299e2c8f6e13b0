package agui_test

import (
	"encoding/json"
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/agui"
)

// FuzzTranslator feeds a run's events in any order, as bytes pick them; what comes out must always be a
// stream that an AG-UI 1.0 client takes.
func FuzzTranslator(f *testing.F) {
	f.Add([]byte{0, 1, 2, 20, 30, 4, 5, 3, 7, 8, 6, 9}, false)
	f.Add([]byte{30, 0, 0, 9, 30, 9}, true)
	f.Add([]byte{2, 30, 31, 2, 3, 20, 21, 4, 24, 10}, false)
	f.Fuzz(func(t *testing.T, script []byte, modern bool) {
		r := theRun()
		r.Modern = modern
		var pieces []piece
		for _, b := range script {
			pieces = append(pieces, pieceOf(b))
		}
		out := play(t, r, pieces)
		translator := agui.NewTranslator(r, now)
		checker := newReader()
		for _, p := range pieces[:len(pieces)/2] {
			var events []agui.Event
			if p.kind == "" {
				events = translator.Text(p.messageID, p.text)
			} else {
				events, _ = translator.Event(agent.NewEvent(p.kind, p.data, began))
			}
			for _, e := range events {
				_ = checker.take(e)
			}
		}
		for _, e := range translator.Interrupted([]agui.Asked{{Confirmation: question()}}) {
			if err := checker.take(e); err != nil {
				t.Errorf("interrupted after %d of %d events: %v", len(pieces)/2, len(out), err)
			}
		}
	})
}

// pieceOf makes one entry of a log: the tens pick an id, the ones a kind.
func pieceOf(b byte) piece {
	id := string('a' + rune(b/10%3))
	switch b % 10 {
	case 0:
		return piece{kind: agent.RunStarted, data: agent.StartedData{ThreadID: "thread-1"}}
	case 1:
		return piece{kind: agent.SkillsRouted, data: agent.RoutedData{}}
	case 2:
		return piece{kind: agent.ModelCalled, data: agent.ModelData{Round: int(b / 10 % 3)}}
	case 3:
		return piece{kind: agent.ModelAnswered, data: agent.ModelData{Round: int(b / 10 % 3)}}
	case 4:
		return piece{kind: agent.CallStarted, data: agent.CallData{InvocationID: "i" + id, CallID: id, Name: "look"}}
	case 5:
		return piece{kind: agent.MessageEnded, data: agent.MessageData{MessageID: id, Text: "x"}}
	case 6:
		return piece{kind: agent.CallProposed, data: agent.CallData{InvocationID: "i" + id, CallID: id, Name: "look", Args: json.RawMessage(`{}`)}}
	case 7:
		return piece{kind: agent.CallEnded, data: agent.CallData{InvocationID: "i" + id, CallID: id, Name: "look", Result: json.RawMessage(`{"a":1}`)}}
	case 8:
		kind := agent.ConfirmationRequired
		if b > 100 {
			kind = agent.ConfirmationResolved
		}
		return piece{kind: kind, data: question()}
	case 9:
		if b > 80 {
			return piece{messageID: id, text: "x"}
		}
		status := []string{"SUCCEEDED", "FAILED", "CANCELLED"}[b/10%3]
		if b < 30 {
			return piece{messageID: id, text: string([]byte{b})}
		}
		return piece{kind: agent.RunEnded, data: agent.EndData{Status: status, Reason: agent.Completed}}
	}
	return piece{messageID: id}
}
