package app

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"agentmesh/app/platform/identity"
)

// keyFile is where keys are kept in the data folder: their hashes, never the secrets.
const keyFile = "keys.json"

// key is one bearer key. The secret is 256 random bits, so a plain hash of it is enough.
type key struct {
	Name      string        `json:"name"`
	User      string        `json:"user"`
	Role      identity.Role `json:"role"`
	Hash      string        `json:"hash"`
	CreatedAt time.Time     `json:"createdAt"`
}

var keyName = regexp.MustCompile(`^[A-Za-z0-9._@-]{1,64}$`)

func (k key) check() error {
	switch {
	case !keyName.MatchString(k.Name), !keyName.MatchString(k.User):
		return fmt.Errorf("the name %q and the user %q must match %s", k.Name, k.User, keyName)
	case !k.Role.Known():
		return fmt.Errorf("the role %q is none of person, agent, admin", k.Role)
	}
	return nil
}

// keyring holds the keys of the environment and of the key file, which is read again when it changes.
type keyring struct {
	path  string
	fixed []key // AGENTMESH_API_KEYS

	mu     sync.Mutex
	read   time.Time
	stored []key
	broken error
}

// openKeyring reads the keys of a data folder and of AGENTMESH_API_KEYS, which lists name:role:secret.
func openKeyring(data, environment string) (*keyring, error) {
	r := &keyring{path: filepath.Join(data, keyFile)}
	for _, entry := range apiKeyEntries(environment) {
		name, rest, _ := strings.Cut(entry, ":")
		role, secret, _ := strings.Cut(rest, ":")
		k := key{Name: name, User: name, Role: identity.Role(role), Hash: hashOf(secret)}
		const shortest = 16
		if len(secret) < shortest {
			return nil, fmt.Errorf("AGENTMESH_API_KEYS: the entry of %q is not name:role:secret with a secret of at least %d characters", name, shortest)
		}
		if err := k.check(); err != nil {
			return nil, fmt.Errorf("AGENTMESH_API_KEYS: %w", err)
		}
		r.fixed = append(r.fixed, k)
	}
	_, err := r.keys()
	return r, err
}

// apiKeyEntries splits AGENTMESH_API_KEYS.
func apiKeyEntries(environment string) []string {
	return strings.FieldsFunc(environment, func(c rune) bool { return c == ',' || c == ' ' || c == '\n' })
}

// keys gives all keys. A key file that became unreadable keeps nobody's access: it is an error.
func (r *keyring) keys() ([]key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	info, err := os.Stat(r.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.stored, r.broken, r.read = nil, nil, time.Time{}
	case err != nil:
		return nil, fmt.Errorf("read keys: %w", err)
	case !info.ModTime().Equal(r.read):
		r.stored, r.broken = readKeys(r.path)
		r.read = info.ModTime()
	}
	return append(slices.Clone(r.fixed), r.stored...), r.broken
}

func readKeys(path string) ([]key, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	var list []key
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read keys in %s: %w", path, err)
	}
	return list, nil
}

// configured tells whether anybody needs a key at all. When the keys cannot be read, everybody does.
func (r *keyring) configured() bool {
	all, err := r.keys()
	return err != nil || len(all) > 0
}

// find gives the caller that a secret belongs to.
func (r *keyring) find(secret string) (identity.Identity, bool) {
	all, err := r.keys()
	if err != nil || secret == "" {
		return identity.Identity{}, false
	}
	hash := hashOf(secret)
	i := slices.IndexFunc(all, func(k key) bool { return k.Hash == hash })
	if i < 0 {
		return identity.Identity{}, false
	}
	return identity.Identity{User: all[i].User, Role: all[i].Role}, true
}

// add makes a key and gives its secret, which is shown once and stored nowhere.
func (r *keyring) add(name, user string, role identity.Role, now time.Time) (secret string, err error) {
	k := key{Name: name, User: user, Role: role, CreatedAt: now.UTC()}
	if err := k.check(); err != nil {
		return "", err
	}
	all, err := r.keys()
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(all, func(other key) bool { return other.Name == name }) {
		return "", fmt.Errorf("there is a key named %q already", name)
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw)
	secret = "amk_" + hex.EncodeToString(raw)
	k.Hash = hashOf(secret)
	return secret, r.write(append(r.stored, k))
}

// revoke removes a key of the file.
func (r *keyring) revoke(name string) error {
	if _, err := r.keys(); err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(r.stored), func(k key) bool { return k.Name == name })
	if len(left) == len(r.stored) {
		return fmt.Errorf("there is no key named %q in %s", name, r.path)
	}
	if err := r.write(left); err != nil {
		return err
	}
	r.stored = left
	return nil
}

// write replaces the file whole, so that a reader never sees half of it.
func (r *keyring) write(list []key) error {
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	raw, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	next := r.path + ".next"
	if err := os.WriteFile(next, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	if err := os.Rename(next, r.path); err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	return nil
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return "sha256:" + hex.EncodeToString(sum[:])
}
