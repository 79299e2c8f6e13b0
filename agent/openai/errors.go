package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	oai "github.com/openai/openai-go/v3"

	"agentmesh/app/platform/fault"
)

// classify turns what went wrong into a fault whose words hold no address and no key.
func classify(ctx context.Context, err error) error {
	var api *oai.Error
	var upstream errUpstream
	switch {
	case ctx.Err() != nil:
		return fault.Wrap(err, fault.CodeOf(ctx.Err()), "the model call ended: %s", fault.MessageOf(ctx.Err()))
	case errors.As(err, &api):
		return byStatus(api.StatusCode, words(api), err)
	case errors.As(err, &upstream):
		return fault.Wrap(err, fault.Unavailable, "the model reported an error: %s", clip(upstream.message))
	case errors.Is(err, errNoStream):
		return fault.Wrap(err, fault.Unavailable, "the model's address answers, but not with a chat completion; check LLM_BASE_URL")
	case errors.Is(err, errCut), errors.Is(err, io.ErrUnexpectedEOF):
		return fault.Wrap(err, fault.Unavailable, "the model's answer was cut off")
	}
	return fault.Wrap(err, fault.Unavailable, "the model cannot be reached")
}

func byStatus(status int, said string, err error) error {
	switch {
	case status == http.StatusUnauthorized:
		return fault.Wrap(err, fault.Denied, "the model refused the key; check LLM_API_KEY")
	case status == http.StatusForbidden:
		return fault.Wrap(err, fault.Denied, "the key may not use this model")
	case status == http.StatusNotFound:
		return fault.Wrap(err, fault.Invalid, "the model or its address does not exist; check LLM_BASE_URL and LLM_MODEL")
	case status == http.StatusTooManyRequests:
		return fault.Wrap(err, fault.RateLimited, "the model is asked too often; try again later")
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500:
		return fault.Wrap(err, fault.Unavailable, "the model is not available right now (HTTP %d)", status)
	}
	return fault.Wrap(err, fault.Invalid, "the model refused the request (HTTP %d): %s", status, clip(said))
}

// words finds what an endpoint said beside its status; some put it elsewhere than the library looks.
func words(api *oai.Error) string {
	if api.Message != "" {
		return api.Message
	}
	if api.Response == nil {
		return ""
	}
	raw, _ := io.ReadAll(io.LimitReader(api.Response.Body, 4<<10))
	var doc struct {
		Message string          `json:"message"`
		Error   json.RawMessage `json:"error"`
	}
	if json.Unmarshal(raw, &doc) != nil {
		return ""
	}
	if doc.Message == "" && !isNull(doc.Error) {
		return errorText(doc.Error)
	}
	return doc.Message
}

// clip shortens an endpoint's words, and leaves them out when they may repeat a key or an address.
func clip(s string) string {
	const most = 300
	if strings.Contains(s, "sk-") || strings.Contains(s, "://") {
		return "(its words are in the log only)"
	}
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
