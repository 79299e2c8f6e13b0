package a2a

import (
	"context"
	"encoding/json"
	"net/http"

	wire "github.com/a2aproject/a2a-go/v2/a2a"

	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/span"
)

// The JSON-RPC methods (A2A 1.0, section 9.4).
const (
	methodSend      = "SendMessage"
	methodStream    = "SendStreamingMessage"
	methodTask      = "GetTask"
	methodTasks     = "ListTasks"
	methodCancel    = "CancelTask"
	methodSubscribe = "SubscribeToTask"
)

// dispatch calls the method of a request that has one answer.
func (h *Handler) dispatch(ctx context.Context, call Call) (any, error) {
	switch call.Method {
	case methodSend:
		req, err := decodeSend(call.Params)
		if err != nil {
			return nil, err
		}
		event, err := h.rpc.SendMessage(withMetadata(ctx, req.Message), req)
		if err != nil {
			return nil, err
		}
		if task, ok := event.(*wire.Task); ok && req.Config != nil {
			trimHistory(task, req.Config.HistoryLength)
		}
		return wire.StreamResponse{Event: event}, nil
	case methodTask:
		req, err := decode[wire.GetTaskRequest](call.Params)
		if err == nil {
			err = checkLength(req.HistoryLength)
		}
		if err != nil {
			return nil, err
		}
		return h.rpc.GetTask(ctx, req)
	case methodTasks:
		req, err := decode[wire.ListTasksRequest](call.Params)
		if err == nil {
			err = checkLength(req.HistoryLength)
		}
		if err != nil {
			return nil, err
		}
		return h.rpc.ListTasks(ctx, req)
	case methodCancel:
		req, err := decode[wire.CancelTaskRequest](call.Params)
		if err != nil {
			return nil, err
		}
		return h.rpc.CancelTask(ctx, req)
	case "GetExtendedAgentCard":
		return nil, wire.ErrExtendedCardNotConfigured
	case "CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig",
		"ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig":
		return nil, wire.ErrPushNotificationNotSupported
	}
	return nil, wire.ErrMethodNotFound
}

// decodeSend reads and checks the parameters of the two sending methods.
func decodeSend(params json.RawMessage) (*wire.SendMessageRequest, error) {
	req, err := decode[wire.SendMessageRequest](params)
	if err != nil {
		return nil, err
	}
	switch msg := req.Message; {
	case msg == nil:
		return nil, fault.New(fault.Invalid, "the parameters have no message")
	case msg.ID == "":
		return nil, fault.New(fault.Invalid, "the message has no messageId")
	case msg.Role != wire.MessageRoleUser:
		return nil, fault.New(fault.Invalid, "the role of a message to an agent is ROLE_USER")
	case len(msg.Parts) == 0:
		return nil, fault.New(fault.Invalid, "the message has no parts")
	}
	if req.Config != nil {
		if req.Config.PushConfig != nil {
			return nil, wire.ErrPushNotificationNotSupported
		}
		if err := checkLength(req.Config.HistoryLength); err != nil {
			return nil, err
		}
	}
	return req, keepRaw(req)
}

func checkLength(n *int) error {
	if n != nil && *n < 0 {
		return fault.New(fault.Invalid, "historyLength is below zero")
	}
	return nil
}

// keepRaw turns free-form values into raw JSON, because the SDK's copies lose a task that holds a null.
func keepRaw(req *wire.SendMessageRequest) error {
	for _, part := range req.Message.Parts {
		if data, ok := part.Content.(wire.Data); ok {
			raw, err := json.Marshal(data.Value)
			if err != nil {
				return fault.Wrap(err, fault.Invalid, "a data part is not readable")
			}
			part.Content = wire.Data{Value: json.RawMessage(raw)}
		}
		rawValues(part.Metadata)
	}
	rawValues(req.Message.Metadata)
	rawValues(req.Metadata)
	return nil
}

func rawValues(values map[string]any) {
	for name, value := range values {
		if _, plain := value.(string); plain {
			continue
		}
		if raw, err := json.Marshal(value); err == nil {
			values[name] = json.RawMessage(raw)
		}
	}
}

// withMetadata takes over the identifiers that a message carries (D-74).
func withMetadata(ctx context.Context, msg *wire.Message) context.Context {
	h := http.Header{}
	for header, name := range map[string]string{
		flow.HeaderRun: metaRun, flow.HeaderThread: metaThread, flow.HeaderInvocation: metaInvocation,
	} {
		if id, ok := msg.Metadata[name].(string); ok {
			h.Set(header, id)
		}
	}
	if id, ok := msg.Metadata[metaTrace].(string); ok {
		h.Set(flow.HeaderTrace, "00-"+id+"-"+flow.NewSpanID()+"-01")
	}
	ids := flow.Override(flow.From(ctx), h)
	ids.ContextID = msg.ContextID
	span.Adopt(ctx, ids)
	return flow.With(ctx, ids)
}
