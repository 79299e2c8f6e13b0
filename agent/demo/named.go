package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentmesh/app/platform/text"
)

// namedCall is a call of a tool that the message names by its name.
type namedCall struct {
	tool   string
	result *result
}

// planNamed calls the tools that the rules do not know, such as those of a client, where a message names them by their
// names: «paint {"colour": "red"}». The JSON object that follows a name is its arguments.
func (p *planner) planNamed() {
	var names []string
	for _, m := range p.turn().calls { // offered or not by now: it was called
		names = append(names, m.tool)
	}
	for name := range p.tools {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		_, after, named := cutWord(p.ask.words, name)
		if !named || ruled(name) {
			continue
		}
		args := map[string]any{}
		if rest := strings.TrimLeft(after, " :："); strings.HasPrefix(rest, "{") {
			_ = json.NewDecoder(strings.NewReader(rest)).Decode(&args) // what is no object has no arguments
		}
		p.named = append(p.named, namedCall{name, p.want(abilityClock, name, args)})
	}
}

// cutWord cuts a text at a name that is not part of a longer one.
func cutWord(s, name string) (before, after string, found bool) {
	for at := 0; ; {
		i := strings.Index(s[at:], name)
		if i < 0 {
			return s, "", false
		}
		before, after = s[:at+i], s[at+i+len(name):]
		if !inName(lastByte(before)) && !inName(firstByte(after)) {
			return before, after, true
		}
		at += i + len(name)
	}
}

func lastByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[len(s)-1]
}

func firstByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[0]
}

func inName(b byte) bool {
	return b == '_' || b == '-' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// ruled names the tools that have rules of their own.
func ruled(tool string) bool {
	switch tool {
	case toolClock, toolRecall, toolRemember, toolForget, toolSearch, toolMenu, toolRecommend, toolWeather, toolOrder, toolFood:
		return true
	}
	return false
}

func (p *planner) namedText() string {
	var parts []string
	for _, c := range p.named {
		if c.result == nil {
			continue
		}
		if c.result.outcome != succeeded && c.result.outcome != unreadable {
			parts = append(parts, p.trouble(c.result, c.tool))
			continue
		}
		parts = append(parts, fmt.Sprintf(p.say("%s 的结果：%s", "%s gave: %s"), c.tool, text.Clip(strings.TrimSpace(c.result.raw), 300)))
	}
	return strings.Join(parts, "\n\n")
}
