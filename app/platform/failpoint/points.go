package failpoint

// Point is a place in the code where a fault can be put.
type Point string

// The places, in the order in which an order's journey passes them (docs/durability.md says what each is
// for).
const (
	BeforeReserve Point = "order.reserve.before" // the hold is not asked for yet
	AfterReserve  Point = "order.reserve.after"  // it is held, and nothing here knows
	BeforeAsk     Point = "run.ask.before"       // the question's transaction
	AfterAsk      Point = "run.ask.after"
	BeforeDecide  Point = "run.decide.before" // the decision's transaction
	AfterDecide   Point = "run.decide.after"  // it is written, and nobody was told
	CallStarted   Point = "run.call.started"  // call_started is written, and nothing was sent
	BeforeCommit  Point = "order.commit.before"
	CatalogBefore Point = "catalog.commit.before" // the commit has arrived, and nothing is written
	CatalogAfter  Point = "catalog.commit.after"  // it is written, and not answered
	AfterCommit   Point = "order.commit.after"    // it is answered, and nothing here is written
	BeforeResult  Point = "run.result.before"     // the result's transaction, which confirms an order
	AfterResult   Point = "run.result.after"
	AfterOffload  Point = "run.offload.after"  // the call goes on in the background
	BeforeTaskEnd Point = "run.task.before"    // a task has its outcome, and nobody knows of it
	AfterTaskEnd  Point = "run.task.after"     // its outcome is written, and nobody was told
	ModelAnswered Point = "run.model.answered" // the answer is there, and not written
	BeforeEnd     Point = "run.end.before"     // the transaction of the run's last event
	AfterEnd      Point = "run.end.after"
	CancelWritten Point = "run.cancel.recorded" // the wish is written, and no work was told
	BeforeDeliver Point = "outbox.deliver.before"
	AfterDeliver  Point = "outbox.deliver.after" // it is delivered, and not ticked off
	Recovering    Point = "run.recover"          // once for each open run at a start
	StoreBefore   Point = "store.commit.before"  // of every write transaction of every database
	StoreAfter    Point = "store.commit.after"
)

// Points lists every place.
func Points() []Point {
	return []Point{
		BeforeReserve, AfterReserve, BeforeAsk, AfterAsk, BeforeDecide, AfterDecide, CallStarted, BeforeCommit,
		CatalogBefore, CatalogAfter, AfterCommit, BeforeResult, AfterResult, AfterOffload, BeforeTaskEnd, AfterTaskEnd, ModelAnswered, BeforeEnd, AfterEnd,
		CancelWritten, BeforeDeliver, AfterDeliver, Recovering, StoreBefore, StoreAfter,
	}
}

// Mutant is a rule that is left out on purpose, so that the crash harness can be seen to miss it.
const (
	// NoKey gives each attempt of a hold a key of its own.
	NoKey Point = "mutant.nokey"
	// Forgetful makes a call without writing down first that it begins.
	Forgetful Point = "mutant.forgetful"
	// BestEffort confirms an order whatever the catalog says to its commit.
	BestEffort Point = "mutant.besteffort"
	// Early answers before the commit.
	Early Point = "mutant.early"
)

// Mutants lists every rule that can be left out.
func Mutants() []Point { return []Point{NoKey, Forgetful, BestEffort, Early} }
