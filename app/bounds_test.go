package app

import (
	"testing"
	"time"
)

func TestSizeAndSince(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int]string{0: "0 bytes", 1000: "1000 bytes", 1 << 10: "1 KiB", 1536: "1536 bytes", 768 << 10: "768 KiB", 4 << 20: "4 MiB"} {
		if got := size(bytes); got != want {
			t.Errorf("size(%d): got %s, want %s", bytes, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		1500 * time.Millisecond: "1s", 3 * time.Minute: "3m0s", 90 * time.Minute: "1h30m", 30 * 24 * time.Hour: "30d", 49 * time.Hour: "2d1h",
	} {
		if got := since(d); got != want {
			t.Errorf("since(%s): got %s, want %s", d, got, want)
		}
	}
}

// Each bound is printed once, with a value.
func TestBounds(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, b := range bounds() {
		if b.Value == "" || seen[b.Name] {
			t.Errorf("%q is %q", b.Name, b.Value)
		}
		seen[b.Name] = true
	}
}

func TestDialable(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{"127.0.0.1:8": "127.0.0.1:8", "0.0.0.0:8": "127.0.0.1:8", "[::]:8": "[::1]:8", "10.0.0.1:8": "10.0.0.1:8", "name:8": "name:8", "public": "public"} {
		if got := dialable(addr); got != want {
			t.Errorf("dialable(%s): got %s, want %s", addr, got, want)
		}
	}
}
