//go:build !noui

package ui

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"testing"
)

type vendored struct {
	File        string `json:"file"`
	Name        string `json:"name"`
	Version     string `json:"version"`
	Licence     string `json:"licence"`
	LicenceFile string `json:"licenceFile"`
	SHA256      string `json:"sha256"`
}

// Every vendored file is one that the manifest names, unchanged, and every
// name in the manifest is there with its licence.
func TestVendor_Manifest(t *testing.T) {
	t.Parallel()
	data, err := static.ReadFile("static/vendor/manifest.json")
	if err != nil {
		t.Fatalf("read the manifest: %v", err)
	}
	var manifest struct{ Files []vendored }
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatalf("parse the manifest: %v", err)
	}
	named := map[string]bool{"manifest.json": true}
	for _, file := range manifest.Files {
		named[file.File] = true
		if file.Name == "" || file.Version == "" || file.Licence == "" {
			t.Errorf("%s: got name %q, version %q, licence %q, want all three", file.File, file.Name, file.Version, file.Licence)
		}
		if _, err := static.ReadFile("static/vendor/" + file.LicenceFile); err != nil {
			t.Errorf("%s: its licence: %v", file.File, err)
		}
		content, err := static.ReadFile("static/vendor/" + file.File)
		if err != nil {
			t.Errorf("%s: %v", file.File, err)
			continue
		}
		sum := sha256.Sum256(content)
		if got := hex.EncodeToString(sum[:]); got != file.SHA256 {
			t.Errorf("%s: got SHA-256 %s, want %s", file.File, got, file.SHA256)
		}
	}
	err = fs.WalkDir(static, "static/vendor", func(name string, entry fs.DirEntry, err error) error {
		inside := strings.TrimPrefix(name, "static/vendor/")
		if err == nil && !entry.IsDir() && path.Dir(inside) != "licenses" && !named[inside] {
			t.Errorf("%s is not in the manifest", inside)
		}
		return err
	})
	if err != nil {
		t.Fatalf("walk: %v", err)
	}
}
