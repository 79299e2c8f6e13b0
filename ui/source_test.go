//go:build !noui

package ui

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	mostLines     = 500
	mostBytes     = 40 << 10
	mostFirstLoad = 120 << 10
)

// own returns the page's own files by name.
func own(t *testing.T) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := fs.WalkDir(static, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(name, "static/vendor/") {
			return err
		}
		data, err := static.ReadFile(name)
		files[strings.TrimPrefix(name, "static/")] = string(data)
		return err
	})
	if err != nil {
		t.Fatalf("walk: %v", err)
	}
	return files
}

func TestSource_FilesStaySmall(t *testing.T) {
	t.Parallel()
	for name, text := range own(t) {
		if lines := strings.Count(text, "\n"); lines > mostLines {
			t.Errorf("%s: got %d lines, want at most %d", name, lines, mostLines)
		}
		if len(text) > mostBytes {
			t.Errorf("%s: got %d bytes, want at most %d", name, len(text), mostBytes)
		}
	}
}

// The content policy would stop these in the browser; this says so earlier.
func TestSource_NothingInlineAndNothingRemote(t *testing.T) {
	t.Parallel()
	inline := regexp.MustCompile(`(?i)<style|\sstyle="|\son[a-z]+="|<script(?:\s[^>]*)?>[^<]|type="importmap"`)
	remote := regexp.MustCompile(`https?://[^\s"'` + "`" + `]+`)
	unsafe := regexp.MustCompile(`\beval\(|new Function\(|\.innerHTML\b|document\.write\b|insertAdjacentHTML`)
	for name, text := range own(t) {
		if path.Ext(name) == ".html" {
			if found := inline.FindString(text); found != "" {
				t.Errorf("%s: got %q inline, want it in a file", name, found)
			}
		}
		for _, address := range remote.FindAllString(text, -1) {
			if !strings.HasPrefix(address, "http://www.w3.org/") {
				t.Errorf("%s: got the remote address %s, want none", name, address)
			}
		}
		if found := unsafe.FindString(text); found != "" {
			t.Errorf("%s: got %s, want none", name, found)
		}
	}
}

var (
	imports = regexp.MustCompile(`(?:from|import)\s*\(?['"]([^'"]+)['"]`)
	linked  = regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`)
)

// The first load is the page, what it links and what those modules import.
func TestSource_FirstLoadIsLight(t *testing.T) {
	t.Parallel()
	page := newPage(mustSub(t))
	seen := make(map[string]bool)
	total := 0
	var load func(name string)
	load = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		found, ok := page.assets[name]
		if !ok {
			t.Errorf("%s is wanted but not there", name)
			return
		}
		total += min(len(found.plain.data), max(len(found.gzip.data), 1))
		if path.Ext(name) != ".js" || strings.Contains(name, "/vendor/") {
			return
		}
		for _, match := range imports.FindAllSubmatch(found.plain.data, -1) {
			target := string(match[1])
			if !strings.HasPrefix(target, "./") && !strings.HasPrefix(target, "../") {
				t.Errorf("%s: got the bare import %q, want a path", name, target)
				continue
			}
			load(path.Join(path.Dir(name), target))
		}
	}
	load("/")
	for _, match := range linked.FindAllSubmatch(page.assets["/"].plain.data, -1) {
		load(string(match[1]))
	}
	if total > mostFirstLoad {
		t.Errorf("got %d bytes in the first load, want at most %d", total, mostFirstLoad)
	}
	t.Logf("first load: %d files, %d bytes compressed", len(seen), total)
	for name := range page.assets {
		if strings.HasSuffix(name, ".js") && !seen[name] {
			t.Errorf("%s is never loaded", name)
		}
	}
}

func mustSub(t *testing.T) fs.FS {
	t.Helper()
	files, err := fs.Sub(static, "static")
	if err != nil {
		t.Fatalf("open the folder: %v", err)
	}
	return files
}

var (
	entry  = regexp.MustCompile(`(?m)^  '([^']+)': '(.*)',$`)
	usedT  = regexp.MustCompile(`\b(?:t|known)\('([^']+)'`)
	placed = regexp.MustCompile(`\{\w+\}`)
)

func dictionary(t *testing.T, name string) map[string]string {
	t.Helper()
	data, err := static.ReadFile("static/lang/" + name)
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	words := make(map[string]string)
	for _, match := range entry.FindAllSubmatch(data, -1) {
		if _, twice := words[string(match[1])]; twice {
			t.Errorf("%s: %s is there twice", name, match[1])
		}
		words[string(match[1])] = string(match[2])
	}
	if want := bytes.Count(data, []byte("': '")); len(words) != want {
		t.Errorf("%s: read %d of %d entries; one per line, please", name, len(words), want)
	}
	return words
}

func TestSource_BothLanguagesSayTheSame(t *testing.T) {
	t.Parallel()
	zh, en := dictionary(t, "zh.js"), dictionary(t, "en.js")
	if len(zh) == 0 {
		t.Fatal("got an empty dictionary")
	}
	for _, key := range slices.Sorted(maps.Keys(zh)) {
		text, ok := en[key]
		if !ok {
			t.Errorf("%s is missing in English", key)
			continue
		}
		want := placed.FindAllString(zh[key], -1)
		got := placed.FindAllString(text, -1)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got places %v in English, want %v as in Chinese", key, got, want)
		}
	}
	for key := range en {
		if _, ok := zh[key]; !ok {
			t.Errorf("%s is missing in Chinese", key)
		}
	}
}

func TestSource_EveryWordExists(t *testing.T) {
	t.Parallel()
	zh := dictionary(t, "zh.js")
	for name, text := range own(t) {
		for _, match := range usedT.FindAllStringSubmatch(text, -1) {
			if _, ok := zh[match[1]]; !ok {
				t.Errorf("%s: uses %q, which no dictionary has", name, match[1])
			}
		}
	}
}
