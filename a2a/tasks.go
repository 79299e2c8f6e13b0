package a2a

import (
	"context"
	"slices"
	"strconv"
	"sync"

	wire "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"agentmesh/app/platform/flow"
)

// MaxTasks is how many tasks an agent remembers; the oldest ended ones are forgotten first.
const MaxTasks = 2000

// taskTable is the engine's memory of tasks. Each belongs to the user it was sent for; to others it is not found (A2A 1.0,
// section 3.3.2; design, section 12). The SDK's own never forgets one and lists nothing without a user.
type taskTable struct {
	mu    sync.Mutex
	tasks map[wire.TaskID]*taskstore.StoredTask // each with its owner
	order []wire.TaskID                         // by time of the last change, oldest first
}

func newTaskTable() *taskTable {
	return &taskTable{tasks: map[wire.TaskID]*taskstore.StoredTask{}}
}

// Create implements taskstore.Store.
func (t *taskTable) Create(ctx context.Context, task *wire.Task) (taskstore.TaskVersion, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tasks[task.ID] != nil {
		return taskstore.TaskVersionMissing, taskstore.ErrTaskAlreadyExists
	}
	t.tasks[task.ID] = &taskstore.StoredTask{Task: copyTask(task), Version: 1, User: ownerOf(ctx)}
	t.order = append(t.order, task.ID)
	t.forget()
	return 1, nil
}

// Update implements taskstore.Store.
func (t *taskTable) Update(ctx context.Context, req *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	stored := t.owned(ctx, req.Task.ID)
	if stored == nil {
		return taskstore.TaskVersionMissing, wire.ErrTaskNotFound
	}
	if req.PrevVersion != taskstore.TaskVersionMissing && req.PrevVersion != stored.Version {
		return taskstore.TaskVersionMissing, taskstore.ErrConcurrentModification
	}
	next := stored.Version + 1
	t.tasks[req.Task.ID] = &taskstore.StoredTask{Task: copyTask(req.Task), Version: next, User: stored.User}
	t.order = append(slices.DeleteFunc(t.order, func(id wire.TaskID) bool { return id == req.Task.ID }), req.Task.ID)
	return next, nil
}

// Get implements taskstore.Store.
func (t *taskTable) Get(ctx context.Context, id wire.TaskID) (*taskstore.StoredTask, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	stored := t.owned(ctx, id)
	if stored == nil {
		return nil, wire.ErrTaskNotFound
	}
	return &taskstore.StoredTask{Task: copyTask(stored.Task), Version: stored.Version, User: stored.User}, nil
}

// ownerOf is the user for whom a request was sent.
func ownerOf(ctx context.Context) string { return flow.From(ctx).UserID }

// owned gives the caller's task of an id, or nil; the lock is held.
func (t *taskTable) owned(ctx context.Context, id wire.TaskID) *taskstore.StoredTask {
	if stored := t.tasks[id]; stored != nil && stored.User == ownerOf(ctx) {
		return stored
	}
	return nil
}

// List implements taskstore.Store: newest change first, page tokens are offsets.
func (t *taskTable) List(ctx context.Context, req *wire.ListTasksRequest) (*wire.ListTasksResponse, error) {
	size, from := req.PageSize, 0
	if size == 0 {
		size = 50
	}
	if req.PageToken != "" {
		n, err := strconv.Atoi(req.PageToken)
		if err != nil || n < 0 {
			return nil, wire.ErrInvalidParams
		}
		from = n
	}
	if size < 1 || size > 100 {
		return nil, wire.ErrInvalidParams
	}
	found := t.matching(ctx, req)
	from = min(from, len(found))
	page := found[from:min(from+size, len(found))]
	answer := &wire.ListTasksResponse{Tasks: []*wire.Task{}, TotalSize: len(found), PageSize: size}
	for _, task := range page {
		if !req.IncludeArtifacts {
			task.Artifacts = nil
		}
		trimHistory(task, req.HistoryLength)
		answer.Tasks = append(answer.Tasks, task)
	}
	if from+size < len(found) {
		answer.NextPageToken = strconv.Itoa(from + size)
	}
	return answer, nil
}

func (t *taskTable) matching(ctx context.Context, req *wire.ListTasksRequest) []*wire.Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []*wire.Task
	for _, id := range slices.Backward(t.order) {
		task := t.tasks[id].Task
		stamp := task.Status.Timestamp
		switch {
		case t.owned(ctx, id) == nil:
		case req.ContextID != "" && task.ContextID != req.ContextID:
		case req.Status != "" && task.Status.State != req.Status:
		case req.StatusTimestampAfter != nil && stamp != nil && stamp.Before(*req.StatusTimestampAfter):
		default:
			found = append(found, copyTask(task))
		}
	}
	return found
}

// forget drops the oldest ended task of a full table.
func (t *taskTable) forget() {
	if len(t.order) <= MaxTasks {
		return
	}
	for i, id := range t.order {
		if t.tasks[id].Task.Status.State.Terminal() {
			delete(t.tasks, id)
			t.order = slices.Delete(t.order, i, i+1)
			return
		}
	}
}

// copyTask copies a task as deep as the SDK changes one in place: its lists, not what is in them.
func copyTask(task *wire.Task) *wire.Task {
	out := *task
	out.History = slices.Clone(task.History)
	out.Artifacts = slices.Clone(task.Artifacts)
	return &out
}

func trimHistory(task *wire.Task, length *int) {
	if length != nil && *length < len(task.History) {
		task.History = task.History[len(task.History)-*length:]
	}
}
