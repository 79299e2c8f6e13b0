package agent

import (
	"context"

	"agentmesh/app/platform/wrap"
)

// StreamFunc is one call of a model, as Model.Stream makes it.
type StreamFunc func(ctx context.Context, p Prompt, l Listener) (Answer, error)

// WrapModel puts functions around each call of a model; the first is outermost. They see one prompt and one answer,
// as a proxy before the endpoint would, and nothing of the journal or the store.
func WrapModel(m Model, wrappers ...wrap.Wrapper[StreamFunc]) Model {
	return wrapped{m, wrap.Around(StreamFunc(m.Stream), wrappers...)}
}

type wrapped struct {
	Model
	call StreamFunc
}

// Stream makes the wrapped call.
func (w wrapped) Stream(ctx context.Context, p Prompt, l Listener) (Answer, error) {
	return w.call(ctx, p, l)
}
