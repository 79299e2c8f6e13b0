package app_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// TestStartWithoutTheCatalog: the rest starts while the catalog's process is down; what does not need it works, the
// rest says so, and all works once it is there.
func TestStartWithoutTheCatalog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	catalog := launch(t, "--module", "mcp", "--listen", "127.0.0.1:0", "--data", dir)
	addr := strings.TrimPrefix(catalog.url, "http://")
	catalog.stop(syscall.SIGKILL)
	front := launch(t, "--listen", "127.0.0.1:0", "--data", dir, "--peer", "mcp="+catalog.url)
	if status := ready(t, front); status != http.StatusServiceUnavailable {
		t.Errorf("readyz: %d, want 503", status)
	}
	if text, _ := front.ask("t1", "上海天气怎么样？"); !strings.Contains(text, "℃") {
		t.Errorf("the weather was answered with %q", text)
	}
	if text, _ := front.ask("t2", "帮我订一份水煮牛肉。"); strings.Contains(text, "order-") || text == "" {
		t.Errorf("without the catalog the order was answered with %q", text)
	}
	catalog.args = []string{"--module", "mcp", "--listen", addr, "--data", dir}
	catalog.start()
	if text, _ := front.ask("t3", "帮我订一份水煮牛肉。"); !strings.Contains(text, "order-") {
		t.Errorf("with the catalog there the order was answered with %q", text)
	}
	if status := ready(t, front); status != http.StatusOK {
		t.Errorf("readyz: %d, want 200", status)
	}
}
