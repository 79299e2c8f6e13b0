package skills

import (
	"context"
	"fmt"
	"slices"
	"time"

	"agentmesh/app/platform/fault"
)

// Installation is one user's choice about one skill (D-110).
type Installation struct {
	UserID    string
	SkillID   string
	Version   string
	Installed bool
	Enabled   bool
	Granted   []string
	UpdatedAt time.Time
}

// InstallationStore keeps choices. A skill without a row stands as its manifest says.
type InstallationStore interface {
	Installations(ctx context.Context, userID string) ([]Installation, error)
	SaveInstallation(ctx context.Context, i Installation) error
}

// Catalog tells which capabilities exist.
type Catalog interface{ Has(name string) bool }

// Marketplace is what a user sees of the skills, and changes. It is read again before every message, so
// a change holds for the next one without a restart (D-52, D-110).
type Marketplace struct {
	manifests []Manifest
	store     InstallationStore
	now       func() time.Time
}

// Listing is a skill as one user has it.
type Listing struct {
	Manifest
	Installed bool     `json:"installed"`
	Enabled   bool     `json:"enabled"`
	Granted   []string `json:"granted"`
}

// NewMarketplace checks that each manifest names registered capabilities only (D-114).
func NewMarketplace(manifests []Manifest, catalog Catalog, store InstallationStore, now func() time.Time) (*Marketplace, error) {
	for _, m := range manifests {
		for _, name := range m.Capabilities {
			if !catalog.Has(name) {
				return nil, fmt.Errorf("skill %s names the capability %q, which is not registered", m.ID, name)
			}
		}
	}
	return &Marketplace{manifests: manifests, store: store, now: now}, nil
}

// List gives every skill as the user has it, in the manifests' order.
func (m *Marketplace) List(ctx context.Context, userID string) ([]Listing, error) {
	rows, err := m.store.Installations(ctx, userID)
	if err != nil {
		return nil, fmt.Errorf("list skills: %w", err)
	}
	out := make([]Listing, 0, len(m.manifests))
	for _, manifest := range m.manifests {
		l := Listing{Manifest: manifest, Installed: manifest.DefaultInstalled, Enabled: manifest.DefaultInstalled, Granted: []string{}}
		if l.Installed {
			l.Granted = manifest.Permissions
		}
		for _, row := range rows {
			if row.SkillID == manifest.ID && !manifest.System {
				l.Installed, l.Granted = row.Installed, row.Granted
				l.Enabled = row.Enabled && l.ungranted() == ""
			}
		}
		out = append(out, l)
	}
	return out, nil
}

// ungranted gives a permission that the manifest asks for and the user did not grant: a later version may ask
// for more than the one that was installed, and stays off until it is installed again.
func (l Listing) ungranted() string { return lacking(l.Permissions, l.Granted) }

func lacking(needed, granted []string) string {
	for _, p := range needed {
		if !slices.Contains(granted, p) {
			return p
		}
	}
	return ""
}

// Enabled gives the manifests that may be routed to for a user, and those that the user has turned off
// or not installed.
func (m *Marketplace) Enabled(ctx context.Context, userID string) (on, off []Manifest, err error) {
	all, err := m.List(ctx, userID)
	for _, l := range all {
		if l.Installed && l.Enabled {
			on = append(on, l.Manifest)
		} else {
			off = append(off, l.Manifest)
		}
	}
	return on, off, err
}

// Get gives one skill as the user has it.
func (m *Marketplace) Get(ctx context.Context, userID, skillID string) (Listing, error) {
	all, err := m.List(ctx, userID)
	if err != nil {
		return Listing{}, err
	}
	i := slices.IndexFunc(all, func(l Listing) bool { return l.ID == skillID })
	if i < 0 {
		return Listing{}, fault.New(fault.NotFound, "there is no skill %q", skillID)
	}
	return all[i], nil
}

// Install installs and enables a skill. Granted must hold every permission that the manifest declares;
// nil grants them all.
func (m *Marketplace) Install(ctx context.Context, userID, skillID string, granted []string) (Listing, error) {
	l, err := m.Get(ctx, userID, skillID)
	if err != nil {
		return Listing{}, err
	}
	if granted == nil {
		granted = l.Permissions
	}
	if p := lacking(l.Permissions, granted); p != "" {
		return Listing{}, fault.New(fault.Invalid, "the skill %s needs the permission %s", skillID, p)
	}
	if l.Installed && l.ungranted() == "" {
		return l, nil
	}
	return m.save(ctx, userID, l, true, true)
}

// Enable turns an installed skill on.
func (m *Marketplace) Enable(ctx context.Context, userID, skillID string) (Listing, error) {
	l, err := m.installed(ctx, userID, skillID)
	if err != nil || l.Enabled {
		return l, err
	}
	if p := l.ungranted(); p != "" {
		return Listing{}, fault.New(fault.Conflict, "the skill %s now needs the permission %s; install it again to grant it", skillID, p)
	}
	return m.save(ctx, userID, l, true, true)
}

// Disable turns an installed skill off. System skills stay on (D-112).
func (m *Marketplace) Disable(ctx context.Context, userID, skillID string) (Listing, error) {
	l, err := m.installed(ctx, userID, skillID)
	if err != nil {
		return Listing{}, err
	}
	if l.System {
		return Listing{}, fault.New(fault.Conflict, "%s is a system skill and cannot be turned off", skillID)
	}
	if !l.Enabled {
		return l, nil
	}
	return m.save(ctx, userID, l, true, false)
}

// Uninstall removes a skill from a user's set. System skills stay (D-112).
func (m *Marketplace) Uninstall(ctx context.Context, userID, skillID string) (Listing, error) {
	l, err := m.Get(ctx, userID, skillID)
	if err != nil {
		return Listing{}, err
	}
	if l.System {
		return Listing{}, fault.New(fault.Conflict, "%s is a system skill and cannot be uninstalled", skillID)
	}
	if !l.Installed {
		return l, nil
	}
	return m.save(ctx, userID, l, false, false)
}

func (m *Marketplace) installed(ctx context.Context, userID, skillID string) (Listing, error) {
	l, err := m.Get(ctx, userID, skillID)
	if err == nil && !l.Installed {
		return Listing{}, fault.New(fault.Conflict, "the skill %s is not installed", skillID)
	}
	return l, err
}

func (m *Marketplace) save(ctx context.Context, userID string, l Listing, installed, enabled bool) (Listing, error) {
	l.Installed, l.Enabled, l.Granted = installed, enabled, []string{}
	if installed {
		l.Granted = l.Permissions
	}
	err := m.store.SaveInstallation(ctx, Installation{
		UserID: userID, SkillID: l.ID, Version: l.Version, Installed: installed,
		Enabled: enabled, Granted: l.Granted, UpdatedAt: m.now(),
	})
	if err != nil {
		return Listing{}, fmt.Errorf("save skill %s: %w", l.ID, err)
	}
	return l, nil
}
