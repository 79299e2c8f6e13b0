package crash

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"time"
)

// model is an OpenAI-compatible endpoint whose answers are a function of the prompt. A message carries its
// own script: "#tag" names it, and each "<tool {…}>" is a call; a ";" between calls begins another round.
type model struct {
	*httptest.Server
	mu    sync.Mutex
	given map[string]bool // the whole texts that it began to give
	turns int
}

// between is the time between two pieces of an answer.
const between = 6 * time.Millisecond

func newModel() *model {
	m := &model{given: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", m.chat)
	m.Server = httptest.NewServer(mux)
	return m
}

// gave tells whether a text is one that the model gave.
func (m *model) gave(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.given[text]
}

type prompt struct {
	Messages []struct {
		Role      string          `json:"role"`
		Content   any             `json:"content"`
		ToolCalls json.RawMessage `json:"tool_calls"`
	} `json:"messages"`
}

// last gives the last message of the person, and how many rounds of calls followed it.
func (p prompt) last() (text string, rounds int) {
	for _, m := range p.Messages {
		switch {
		case m.Role == "user":
			text, rounds = fmt.Sprint(m.Content), 0
		case m.Role == "assistant" && len(m.ToolCalls) > 0:
			rounds++
		}
	}
	return text, rounds
}

var (
	tagOf  = regexp.MustCompile(`#([a-z0-9-]+)`)
	callIn = regexp.MustCompile(`<(\w+) (\{[^>]*\})>`)
)

func (m *model) chat(w http.ResponseWriter, r *http.Request) {
	var p prompt
	if err := json.NewDecoder(r.Body).Decode(&p); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text, done := p.last()
	tag := "none"
	if found := tagOf.FindStringSubmatch(text); found != nil {
		tag = found[1]
	}
	m.mu.Lock()
	m.turns++
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	rounds := strings.Split(text, ";")
	if done < len(rounds) {
		if calls := callIn.FindAllStringSubmatch(rounds[done], -1); len(calls) > 0 {
			m.call(w, tag, done, calls)
			return
		}
	}
	m.say(w, r, fmt.Sprintf("第%d轮之后，#%s 已经办好，这是给您的一段稍长的答复，好让它分成许多小块。All of #%s is done.", done, tag, tag))
}

func (m *model) call(w http.ResponseWriter, tag string, round int, calls [][]string) {
	var list []map[string]any
	for i, c := range calls {
		list = append(list, map[string]any{
			"index": i, "id": fmt.Sprintf("call-%s-%d-%d", tag, round, i), "type": "function",
			"function": map[string]string{"name": c[1], "arguments": c[2]},
		})
	}
	piece(w, map[string]any{"role": "assistant", "tool_calls": list}, "")
	end(w, "tool_calls")
}

func (m *model) say(w http.ResponseWriter, r *http.Request, text string) {
	m.mu.Lock()
	m.given[text] = true
	m.mu.Unlock()
	for runes := []rune(text); len(runes) > 0; {
		n := min(8, len(runes))
		piece(w, map[string]any{"content": string(runes[:n])}, "")
		runes = runes[n:]
		if !pause(r.Context().Done(), between) {
			return
		}
	}
	end(w, "stop")
}

func end(w http.ResponseWriter, reason string) {
	piece(w, map[string]any{}, reason)
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}

func piece(w http.ResponseWriter, delta map[string]any, finish string) {
	choice := map[string]any{"index": 0, "delta": delta}
	if finish != "" {
		choice["finish_reason"] = finish
	}
	raw, _ := json.Marshal(map[string]any{"id": "c", "object": "chat.completion.chunk", "model": "script", "choices": []any{choice}})
	_, _ = fmt.Fprintf(w, "data: %s\n\n", raw)
	_ = http.NewResponseController(w).Flush()
}
