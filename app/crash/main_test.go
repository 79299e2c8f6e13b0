package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"agentmesh/app"
	"agentmesh/app/platform/fault"
	"agentmesh/capability"
	"agentmesh/skills"
)

// The variables that make this test's binary the program, and tell it where the kitchen is.
const (
	beTheProgram = "AGENTMESH_CRASH_CHILD"
	kitchenURL   = "AGENTMESH_CRASH_KITCHEN"
)

func TestMain(m *testing.M) {
	if os.Getenv(beTheProgram) == "" {
		os.Exit(m.Run())
	}
	go func() { // whoever started it holds the other end: without them it has no business
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	os.Exit(app.Run(os.Args[1:], os.Stdout, os.Stderr, app.WithSkill(bellSkill(), bell(os.Getenv(kitchenURL)), pot())))
}

func bellSkill() skills.Manifest {
	return skills.Manifest{
		ID: "kitchen", Name: "厨房", NameEn: "Kitchen", Version: "1.0.0", Publisher: "test", Category: "test",
		Routing: skills.Routing{Keywords: []string{"厨房"}}, Capabilities: []string{"ring_bell", "simmer"}, DefaultInstalled: true,
	}
}

// bell is an effect outside of the program that carries no key: only the kitchen knows how often it rang.
func bell(url string) capability.Definition {
	return capability.Definition{
		Name: "ring_bell", Kind: capability.Local, Provider: "kitchen", Description: "Rings the bell in the kitchen.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"tag":{"type":"string"}},"required":["tag"]}`),
		Handle: func(ctx context.Context, call capability.Call) (json.RawMessage, error) {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/ring/"+call.ID, bytes.NewReader(call.Args))
			if err != nil {
				return nil, err
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				return nil, fault.Wrap(err, fault.Unavailable, "the kitchen does not answer")
			}
			_ = resp.Body.Close()
			return json.RawMessage(`{"rung":true}`), nil
		},
	}
}

// pot takes longer than a run waits for it.
func pot() capability.Definition {
	return capability.Definition{
		Name: "simmer", Kind: capability.Local, Provider: "kitchen", Description: "Lets something simmer.", ReadOnly: true,
		InputSchema: json.RawMessage(`{"type":"object"}`),
		Handle: func(ctx context.Context, _ capability.Call) (json.RawMessage, error) {
			pause(ctx.Done(), simmering)
			return json.RawMessage(`{"tender":true}`), ctx.Err()
		},
	}
}

// simmering and offloadAfter: how long it takes, and how long a run waits.
const (
	simmering    = 1300 * time.Millisecond
	offloadAfter = "1s"
)
