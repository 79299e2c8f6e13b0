package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// files looks at who else may read the data folder, the keys and the databases.
func (d *doctor) files() {
	if runtime.GOOS == "windows" {
		d.ok("files", "who may read them is not told by modes on this system")
		return
	}
	info, err := os.Stat(d.config.Data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.ok("files", "the data folder %s is not there yet; the first start makes it", d.config.Data)
		return
	case err != nil:
		d.problem("files", "", "%v", err)
		return
	case !info.IsDir():
		d.problem("files", "name another folder with --data", "%s is not a folder", d.config.Data)
		return
	}
	before := len(d.checks)
	if info.Mode().Perm()&0o077 != 0 {
		d.warn("files", "chmod 700 "+d.config.Data, "others may look into the data folder %s (%o)", d.config.Data, info.Mode().Perm())
	}
	secrets := []string{filepath.Join(d.config.Data, keyFile), dotEnvFile}
	for _, pattern := range []string{filepath.Join(runningFolder, "*.json"), "*.db", "*.db-wal", filepath.Join(spansFolder, "*.db")} {
		found, _ := filepath.Glob(filepath.Join(escapeGlob(d.config.Data), pattern)) // the patterns are good
		secrets = append(secrets, found...)
	}
	for _, path := range secrets {
		d.private(path)
	}
	if len(d.checks) == before {
		d.ok("files", "the data folder is for its owner alone")
	}
}

func (d *doctor) private(path string) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 && (path != dotEnvFile || holdsSecret(path)) {
		d.problem("files", "chmod 600 "+path, "others may read %s (%o)", path, info.Mode().Perm())
	}
}

// holdsSecret tells whether a .env file sets one.
func holdsSecret(path string) bool {
	values, _ := readDotEnv(path)
	for _, s := range settings(&Config{}) {
		if s.secret && values[s.env] != "" {
			return true
		}
	}
	return false
}

// indented keeps the lines of a text under each other.
func indented(text string) string {
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 20))
}
