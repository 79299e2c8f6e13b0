//go:build !noui

package ui

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func fetch(t *testing.T, handler http.Handler, method, target string, header http.Header) *http.Response {
	t.Helper()
	request := httptest.NewRequest(method, target, nil)
	for name, values := range header {
		request.Header[name] = values
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder.Result()
}

func TestHandler_Paths(t *testing.T) {
	t.Parallel()
	handler := Handler()
	cases := []struct {
		method, path string
		status       int
		contentType  string
	}{
		{http.MethodGet, "/", 200, "text/html; charset=utf-8"},
		{http.MethodHead, "/", 200, "text/html; charset=utf-8"},
		{http.MethodGet, "/static/app.js", 200, "text/javascript; charset=utf-8"},
		{http.MethodGet, "/static/css/base.css", 200, "text/css; charset=utf-8"},
		{http.MethodGet, "/static/icon.svg", 200, "image/svg+xml"},
		{http.MethodGet, "/static/vendor/manifest.json", 200, "application/json"},
		{http.MethodGet, "/static/vendor/licenses/htm.txt", 200, "text/plain; charset=utf-8"},
		{http.MethodGet, "/index.html", 404, ""},
		{http.MethodGet, "/static/index.html", 404, ""},
		{http.MethodGet, "/static/", 404, ""},
		{http.MethodGet, "/static/css", 404, ""},
		{http.MethodGet, "/static/../embed.go", 404, ""},
		{http.MethodGet, "/no/such/place", 404, ""},
		{http.MethodPost, "/", 405, ""},
	}
	for _, c := range cases {
		response := fetch(t, handler, c.method, c.path, nil)
		if response.StatusCode != c.status {
			t.Errorf("%s %s: got status %d, want %d", c.method, c.path, response.StatusCode, c.status)
		}
		if got := response.Header.Get("Content-Type"); c.contentType != "" && got != c.contentType {
			t.Errorf("%s %s: got content type %q, want %q", c.method, c.path, got, c.contentType)
		}
	}
}

func TestHandler_SecurityHeadersOnEveryAnswer(t *testing.T) {
	t.Parallel()
	handler := Handler()
	const want = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	for _, path := range []string{"/", "/static/app.js", "/missing"} {
		header := fetch(t, handler, http.MethodGet, path, nil).Header
		if got := header.Get("Content-Security-Policy"); got != want {
			t.Errorf("%s: got policy %q, want %q", path, got, want)
		}
		if got := header.Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s: got X-Content-Type-Options %q, want nosniff", path, got)
		}
		if got := header.Get("Referrer-Policy"); got != "no-referrer" {
			t.Errorf("%s: got Referrer-Policy %q, want no-referrer", path, got)
		}
	}
}

func TestHandler_ETag(t *testing.T) {
	t.Parallel()
	handler := Handler()
	first := fetch(t, handler, http.MethodGet, "/static/app.js", nil)
	etag := first.Header.Get("ETag")
	if etag == "" {
		t.Fatal("got no ETag")
	}
	for _, sent := range []string{etag, "W/" + etag, `"other", ` + etag, "*"} {
		again := fetch(t, handler, http.MethodGet, "/static/app.js", http.Header{"If-None-Match": {sent}})
		body, _ := io.ReadAll(again.Body)
		if again.StatusCode != http.StatusNotModified || len(body) != 0 {
			t.Errorf("If-None-Match %s: got status %d with %d bytes, want 304 with none", sent, again.StatusCode, len(body))
		}
	}
	changed := fetch(t, handler, http.MethodGet, "/static/app.js", http.Header{"If-None-Match": {`"old"`}})
	if changed.StatusCode != http.StatusOK {
		t.Errorf("old tag: got status %d, want 200", changed.StatusCode)
	}
}

func TestHandler_Gzip(t *testing.T) {
	t.Parallel()
	handler := Handler()
	plain := fetch(t, handler, http.MethodGet, "/static/app.js", nil)
	want, _ := io.ReadAll(plain.Body)
	zipped := fetch(t, handler, http.MethodGet, "/static/app.js", http.Header{"Accept-Encoding": {"br, gzip;q=0.8"}})
	if got := zipped.Header.Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("got Content-Encoding %q, want gzip", got)
	}
	if plain.Header.Get("ETag") == zipped.Header.Get("ETag") {
		t.Error("got one ETag for two encodings, want two")
	}
	reader, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatalf("open gzip: %v", err)
	}
	got, err := io.ReadAll(reader)
	if err != nil || string(got) != string(want) {
		t.Errorf("got %d bytes (%v) unpacked, want the %d plain ones", len(got), err, len(want))
	}
	for _, refused := range []string{"", "br", "gzip;q=0", "identity, gzip; q=0.0", "*;q=0"} {
		answer := fetch(t, handler, http.MethodGet, "/static/app.js", http.Header{"Accept-Encoding": {refused}})
		if got := answer.Header.Get("Content-Encoding"); got != "" {
			t.Errorf("Accept-Encoding %q: got Content-Encoding %q, want none", refused, got)
		}
		if !strings.Contains(answer.Header.Get("Vary"), "Accept-Encoding") {
			t.Errorf("Accept-Encoding %q: got no Vary", refused)
		}
	}
}

func TestHandler_HeadHasNoBody(t *testing.T) {
	t.Parallel()
	handler := Handler()
	response := fetch(t, handler, http.MethodHead, "/", nil)
	body, _ := io.ReadAll(response.Body)
	if len(body) != 0 || response.Header.Get("Content-Length") == "0" {
		t.Errorf("got %d bytes and Content-Length %s, want none and the page's", len(body), response.Header.Get("Content-Length"))
	}
}
