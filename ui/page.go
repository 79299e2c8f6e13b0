//go:build !noui

package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// page answers from memory: every file is read, hashed and compressed once.
type page struct {
	assets map[string]asset // by request path
}

type asset struct {
	contentType string
	plain       body
	gzip        body // empty where compression does not pay
}

type body struct {
	data []byte
	etag string
}

func newPage(files fs.FS) *page {
	p := &page{assets: make(map[string]asset)}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		p.assets[requestPath(name)] = newAsset(name, data)
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return p
}

// ServeHTTP serves the index for / only, files for their exact path, 404 otherwise.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	secure(h)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
		return
	}
	found, ok := p.assets[r.URL.Path]
	if !ok {
		http.Error(w, http.StatusText(http.StatusNotFound), http.StatusNotFound)
		return
	}
	h.Add("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache") // keep it, but ask: a new program may serve a new page
	chosen := found.plain
	if found.gzip.data != nil && acceptsGzip(r.Header.Values("Accept-Encoding")) {
		chosen = found.gzip
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", chosen.etag)
	if matches(r.Header.Values("If-None-Match"), chosen.etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", found.contentType)
	h.Set("Content-Length", strconv.Itoa(len(chosen.data)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(chosen.data) // the reader may have left; nothing to do about it
	}
}

func requestPath(name string) string {
	if name == "index.html" {
		return "/"
	}
	return "/static/" + name
}

func newAsset(name string, data []byte) asset {
	sum := sha256.Sum256(data)
	tag := hex.EncodeToString(sum[:12])
	a := asset{contentType: contentType(name), plain: body{data: data, etag: `"` + tag + `"`}}
	if small := compress(data); len(small) < len(data) {
		a.gzip = body{data: small, etag: `"` + tag + `-gz"`}
	}
	return a
}

func compress(data []byte) []byte {
	var out bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is a valid one
	_, _ = zip.Write(data)                                    // a Buffer takes everything
	_ = zip.Close()
	return out.Bytes()
}

// contentType does not ask the system's table, which differs between machines.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".json":
		return "application/json"
	case ".svg":
		return "image/svg+xml"
	case ".txt":
		return "text/plain; charset=utf-8"
	default:
		return "application/octet-stream"
	}
}

// acceptsGzip reads Accept-Encoding: gzip or * with a weight above zero, the
// name before the star.
func acceptsGzip(values []string) bool {
	star := false
	for token := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, params, _ := strings.Cut(token, ";")
		wanted := weight(params) > 0
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip":
			return wanted
		case "*":
			star = wanted
		}
	}
	return star
}

func weight(params string) float64 {
	key, value, ok := strings.Cut(strings.TrimSpace(params), "=")
	if !ok || strings.ToLower(strings.TrimSpace(key)) != "q" {
		return 1
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil {
		return 0
	}
	return q
}

// matches compares weakly, as RFC 9110 asks for If-None-Match.
func matches(values []string, etag string) bool {
	for token := range strings.SplitSeq(strings.Join(values, ","), ",") {
		token = strings.TrimSpace(token)
		if token == "*" || strings.TrimPrefix(token, "W/") == etag {
			return true
		}
	}
	return false
}
