package demo

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestProbe(t *testing.T) {
	f := os.Getenv("PROBE")
	if f == "" {
		t.Skip()
	}
	b, _ := os.ReadFile(f)
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		w := newWorld(t)
		var out []string
		for _, s := range strings.Split(l, "|") {
			rounds, text := w.say(s)
			var p []string
			for _, r := range rounds {
				p = append(p, strings.Join(r, " + "))
			}
			x := strings.Join(p, " / ")
			if len(rounds) == 0 || os.Getenv("TXT") != "" {
				x += "  TEXT " + strings.ReplaceAll(text, "\n", " ")
			}
			if len(x) > 400 {
				x = x[:400]
			}
			out = append(out, x)
		}
		fmt.Println(l, "\n    =>", strings.Join(out, "\n    => "))
	}
}
