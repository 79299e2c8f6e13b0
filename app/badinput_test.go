package app_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"agentmesh/app"
	"agentmesh/app/meshtest"
)

func readAll(t *testing.T, resp *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestBadRequestsAreRefusedBeforeAnyStream(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	long := strings.Repeat("x", 200)
	cases := []struct {
		name, method, path, body string
		status                   int
	}{
		{"not JSON", "POST", "/api/v1/runs", `{`, 400},
		{"no thread", "POST", "/api/v1/runs", `{"runId":"r","messages":[{"role":"user","content":"hi"}]}`, 400},
		{"long thread", "POST", "/api/v1/runs", `{"threadId":"` + long + `","runId":"r","messages":[{"role":"user","content":"hi"}]}`, 400},
		{"no messages", "POST", "/api/v1/runs", `{"threadId":"t","runId":"r"}`, 400},
		{"empty messages", "POST", "/api/v1/runs", `{"threadId":"t","runId":"r","messages":[]}`, 400},
		{"last not user", "POST", "/api/v1/runs", `{"threadId":"t","runId":"r","messages":[{"role":"assistant","content":"hi"}]}`, 400},
		{"no text", "POST", "/api/v1/runs", `{"threadId":"t","runId":"r","messages":[{"role":"user","content":"  "}]}`, 400},
		{"wrong type", "POST", "/api/v1/runs", `{"threadId":7,"runId":"r","messages":[]}`, 400},
		{"too large", "POST", "/api/v1/runs", `{"threadId":"t","runId":"r","messages":[{"role":"user","content":"` + strings.Repeat("a", 1<<20) + `"}]}`, 413},
		{"unknown run", "GET", "/api/v1/runs/run-none", ``, 404},
		{"unknown run's events", "GET", "/api/v1/runs/run-none/events", ``, 404},
		{"confirm unknown run", "POST", "/runs/run-none/confirm", `{}`, 404},
		{"confirm long id", "POST", "/api/v1/runs/" + long + "/confirm", `{}`, 404},
		{"confirm not UTF-8", "POST", "/api/v1/runs/%ff%fe/confirm", `{}`, 404},
		{"cancel unknown run", "POST", "/api/v1/runs/run-none/cancel", `{}`, 404},
		{"confirm by GET", "GET", "/api/v1/runs/run-none/confirm", ``, 405},
		{"unknown skill", "POST", "/api/v1/skill-marketplace/none/enable", `{}`, 404},
		{"unknown order", "GET", "/api/v1/orders/none", ``, 404},
		{"bad limit", "GET", "/api/v1/orders?limit=0", ``, 400},
		{"bad place", "GET", "/api/v1/runs?limit=x", ``, 400},
		{"unknown path", "GET", "/api/v1/none", ``, 404},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			resp := m.Open("ann", c.method, c.path, c.body, nil)
			defer func() { _ = resp.Body.Close() }()
			body := readAll(t, resp)
			if resp.StatusCode != c.status {
				t.Errorf("got %d %s, want %d", resp.StatusCode, body, c.status)
			}
			if kind := resp.Header.Get("Content-Type"); kind != "application/problem+json" || !strings.Contains(body, `"code"`) {
				t.Errorf("got %s: %s, want a problem document with a code", kind, body)
			}
		})
	}
	if got := m.Ask("ann", "t", "你好"); got.Text() == "" {
		t.Error("after the bad requests the conversation does not go on")
	}
}

func TestForeignPagesAreKeptOut(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	body := meshtest.Input("t", "hi")
	cases := []struct {
		name   string
		header http.Header
		status int
	}{
		{"foreign origin", http.Header{"Origin": {"https://evil.example"}}, 403},
		{"null origin", http.Header{"Origin": {"null"}}, 403},
		{"own origin", http.Header{"Origin": {"http://public.internal"}}, 200},
		{"form", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, 400},
		{"plain text", http.Header{"Content-Type": {"text/plain"}}, 400},
		{"no type", http.Header{"Content-Type": {""}}, 400},
		{"odd user", http.Header{"X-User-Id": {"a b"}}, 400},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			resp := m.Open("ann", http.MethodPost, "/api/v1/runs", body, c.header)
			defer func() { _ = resp.Body.Close() }()
			if got := readAll(t, resp); resp.StatusCode != c.status {
				t.Errorf("got %d %.200s, want %d", resp.StatusCode, got, c.status)
			}
			if allow := resp.Header.Get("Access-Control-Allow-Origin"); allow != "" {
				t.Errorf("Access-Control-Allow-Origin: %s", allow)
			}
		})
	}
	for _, path := range []string{"/agents/food/", "/agents/weather/"} {
		if status, _ := m.Do("ann", http.MethodPost, path, `{}`); status != http.StatusForbidden {
			t.Errorf("POST %s from outside: %d, want 403", path, status)
		}
	}
}

func TestImpossibleOrdersAreRefusedWithoutACard(t *testing.T) {
	t.Parallel()
	m := meshtest.Start(t, meshtest.Options{})
	before := stock(t, m, "food-001")
	for _, text := range []string{
		"帮我订一份龙虾刺身", "帮我订零份水煮牛肉", "帮我订一千份水煮牛肉", "订-1份水煮牛肉", "来半份水煮牛肉", "Order a thousand Sichuan boiled beef", "订100000000份水煮牛肉",
	} {
		talk := m.Ask("ann", "t-"+text, text)
		if strings.Contains(talk.Types(), confirmationRequired) {
			t.Errorf("%s: a person was asked", text)
		}
		if strings.TrimSpace(talk.Text()) == "" {
			t.Errorf("%s: nothing was said", text)
		}
	}
	for _, text := range []string{"火星天气怎么样？", "What's the weather in Atlantis?"} {
		if talk := m.Ask("ann", "w-"+text, text); talk.Last().Type != "RUN_FINISHED" || talk.Text() == "" {
			t.Errorf("%s: ended with %s and said %q", text, talk.Last().Type, talk.Text())
		}
	}
	if len(orders(m, "ann")) != 0 || stock(t, m, "food-001") != before {
		t.Error("something was ordered or held")
	}
}

const confirmationRequired = "tool_confirmation_required"

func TestWrongSettingsAreRefusedAtStart(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		change func(*app.Config)
		says   string
	}{
		{"model address without scheme", func(c *app.Config) { c.LLMBaseURL = "localhost:1/v1" }, "LLM_BASE_URL"},
		{"model address doubled", func(c *app.Config) { c.LLMBaseURL = "http://127.0.0.1:1/v1/chat/completions" }, "LLM_BASE_URL"},
		{"model address where nothing is", func(c *app.Config) { c.LLMBaseURL = "http://127.0.0.1:1/v1" }, "LLM_BASE_URL"},
		{"open address", func(c *app.Config) { c.Listen = "0.0.0.0:0" }, "--insecure"},
		{"no time", func(c *app.Config) { c.ConfirmationTTL = 0 }, "--confirmation-ttl"},
		{"recovery", func(c *app.Config) { c.Recovery = "maybe" }, "--recovery"},
		{"zone", func(c *app.Config) { c.TimeZone = "Mars/Olympus" }, "--time-zone"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			config := app.Default()
			config.Data, config.Listen = t.TempDir(), "127.0.0.1:0"
			c.change(&config)
			a, err := app.New(config)
			if err == nil {
				err = a.Start(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an error that names %s", err, c.says)
			}
		})
	}
}

func TestTakenPort(t *testing.T) {
	t.Parallel()
	start := func(listen string) (*app.App, error) {
		config := app.Default()
		config.Data, config.Listen = t.TempDir(), listen
		a, err := app.New(config)
		if err != nil {
			t.Fatal(err)
		}
		return a, a.Start(t.Context())
	}
	first, err := start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Stop(t.Context()) }()
	if _, err := start(first.Addr()); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("got %v, want an error that says the address is in use", err)
	}
}
