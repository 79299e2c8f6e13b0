package rundb_test

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"agentmesh/agent"
	"agentmesh/capability"
	"agentmesh/store/rundb"
)

// openRuns is how many runs are under way at once.
const openRuns = 32

// BenchmarkJournal prints what the store costs a run: CPU of the whole process, transactions, and commits,
// which many transactions share. The steps are those that the engine writes, with a journal read between
// them as it does; TestTransactions in agent/run holds the engine to their number.
func BenchmarkJournal(b *testing.B) {
	for name, calls := range map[string]int{"plain": 0, "one_tool": 1} {
		b.Run(name, func(b *testing.B) {
			db, err := rundb.Open(b.Context(), filepath.Join(b.TempDir(), "a.db"))
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			var number atomic.Int64
			commits, cpu := db.Commits(), cpuTime(b)
			b.ResetTimer()
			b.SetParallelism(openRuns)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := oneRun(b, db, int(number.Add(1)), calls); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.StopTimer()
			runs := float64(b.N)
			b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/1000/runs, "cpu-ms/run")
			b.ReportMetric(float64(db.Commits()-commits)/runs, "commits/run")
			b.ReportMetric(float64(3+3*calls), "transactions/run")
		})
	}
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// oneRun writes and reads what the engine does for one run.
func oneRun(b *testing.B, db *rundb.DB, n, calls int) error {
	ctx, at := b.Context(), time.Now()
	id := fmt.Sprintf("run-%d", n)
	r := agent.Run{ID: id, UserID: "ann", ThreadID: "t" + id, ClientRunID: "label", TraceID: "trace-" + id, Origin: agent.ByAPI, CreatedAt: at}
	input := agent.Message{ID: "u" + id, UserID: "ann", ThreadID: r.ThreadID, RunID: id, Role: agent.User, Text: "今天有什么好吃的？", CreatedAt: at}
	if err := db.CreateRun(ctx, r, "今天有什么好吃的？", input); err != nil {
		return err
	}
	running := []agent.Status{agent.Running}
	event := func(t agent.EventType) agent.Event {
		return agent.NewEvent(t, agent.ModelData{LLMCallID: "llm-" + id, Round: 1}, at)
	}
	steps := []agent.Step{{
		From: []agent.Status{agent.Pending}, To: agent.Running, Skills: []string{"builtin.basics"}, Tools: []string{"get_current_time"}, Model: "demo",
		Events: []agent.Event{event(agent.RunStarted), event(agent.SkillsRouted), event(agent.ModelCalled)},
	}}
	for i := range calls {
		inv := agent.Invocation{
			ID: fmt.Sprintf("inv-%s-%d", id, i), RunID: id, UserID: "ann", MessageID: fmt.Sprintf("m%s-%d", id, i), CallID: "c", Round: i + 1,
			Name: "get_current_time", Args: []byte(`{}`), Status: capability.Proposed, CreatedAt: at,
		}
		done := inv
		done.Status, done.Result, done.EndedAt = capability.Succeeded, []byte(`{"now":"2026-11-30T12:00:00+08:00"}`), at
		steps = append(
			steps,
			agent.Step{
				From: running, To: agent.Running, ModelCalls: []agent.ModelCall{modelCall(id, i, at)}, Invocations: []agent.Invocation{inv},
				Events: []agent.Event{
					agent.NewEvent(agent.CallProposed, agent.CallData{InvocationID: inv.ID, CallID: "c", MessageID: inv.MessageID, Name: inv.Name, Args: inv.Args}, at),
					event(agent.ModelAnswered),
				},
			},
			agent.Step{
				From: running, To: agent.Keep, Invocations: []agent.Invocation{done}, Events: []agent.Event{event(agent.CallEnded)},
				Records: []capability.Record{{At: at, UserID: "ann", RunID: id, Receipt: capability.Receipt{InvocationID: inv.ID, Capability: inv.Name, Status: capability.Succeeded}}},
			},
			agent.Step{From: running, To: agent.Running, Events: []agent.Event{event(agent.ModelCalled)}},
		)
	}
	steps = append(steps, agent.Step{
		From: running, To: agent.Succeeded, Finish: agent.Completed, ModelCalls: []agent.ModelCall{modelCall(id, calls, at)},
		Events: []agent.Event{
			agent.NewEvent(agent.MessageEnded, agent.MessageData{MessageID: "a" + id, Text: "今天有水煮牛肉、米饭和番茄炒蛋。"}, at),
			event(agent.ModelAnswered), event(agent.RunEnded),
		},
	})
	for _, s := range steps {
		s.RunID, s.At = id, at
		if _, err := db.Journal(ctx, id); err != nil {
			return err
		}
		if err := db.Append(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func modelCall(run string, i int, at time.Time) agent.ModelCall {
	return agent.ModelCall{ID: fmt.Sprintf("llm-%s-%d", run, i), RunID: run, Round: i + 1, Model: "demo", Request: make([]byte, 0), StartedAt: at}
}
