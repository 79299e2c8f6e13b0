package skills_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/skills"
)

var at = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// everything is a catalog that has every capability but one.
type everything struct{ but string }

func (e everything) Has(name string) bool { return name != e.but }

// choices is a store of installations in memory.
type choices struct {
	saved []skills.Installation
	err   error
}

func (c *choices) Installations(_ context.Context, userID string) ([]skills.Installation, error) {
	var out []skills.Installation
	for _, i := range c.saved {
		if i.UserID == userID {
			out = append(out, i)
		}
	}
	return out, c.err
}

func (c *choices) SaveInstallation(_ context.Context, i skills.Installation) error {
	if c.err != nil {
		return c.err
	}
	for n := range c.saved {
		if c.saved[n].UserID == i.UserID && c.saved[n].SkillID == i.SkillID {
			c.saved[n] = i
			return nil
		}
	}
	c.saved = append(c.saved, i)
	return nil
}

// market gives a marketplace of the built-in skills and one that is not installed by default.
func market(t *testing.T) (*skills.Marketplace, *choices) {
	t.Helper()
	store := &choices{}
	extra := skills.Manifest{ID: "x.extra", Name: "加", Version: "2.0.0", Permissions: []string{"a.read", "b.write"}, Capabilities: []string{"look"}}
	m, err := skills.NewMarketplace(append(builtin(t), extra), everything{}, store, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	return m, store
}

func wantState(t *testing.T, got skills.Listing, err error, installed, enabled bool, granted int) {
	t.Helper()
	if err != nil || got.Installed != installed || got.Enabled != enabled || len(got.Granted) != granted || got.Granted == nil {
		t.Errorf("got installed %v, enabled %v, granted %q, %v", got.Installed, got.Enabled, got.Granted, err)
	}
}

func wantCode(t *testing.T, err error, want fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestNewMarketplace_OnlyRegisteredCapabilities(t *testing.T) {
	t.Parallel()
	_, err := skills.NewMarketplace(builtin(t), everything{but: "call_weather"}, &choices{}, time.Now)
	if err == nil || !strings.Contains(err.Error(), "builtin.weather") || !strings.Contains(err.Error(), "call_weather") {
		t.Errorf("got %v, want skill and capability named", err)
	}
}

func TestMarketplace_Defaults(t *testing.T) {
	t.Parallel()
	m, store := market(t)
	all, err := m.List(t.Context(), "anna")
	if err != nil || len(all) != 5 {
		t.Fatalf("got %d, %v", len(all), err)
	}
	for _, l := range all {
		own := l.ID != "x.extra"
		if l.Installed != own || l.Enabled != own || l.Granted == nil {
			t.Errorf("%s: got %+v", l.ID, l)
		}
	}
	on, off, err := m.Enabled(t.Context(), "anna")
	if err != nil || len(on) != 4 || len(off) != 1 || len(store.saved) != 0 {
		t.Errorf("got %d on, %d off, %v", len(on), len(off), err)
	}
	_, err = m.Get(t.Context(), "anna", "x.nothing")
	wantCode(t, err, fault.NotFound)
}

// TestMarketplace_LifeOfASkill goes through every change; each holds at once, and for one user only.
func TestMarketplace_LifeOfASkill(t *testing.T) {
	t.Parallel()
	m, store := market(t)
	const id = "x.extra"
	ctx := t.Context()

	_, err := m.Enable(ctx, "anna", id)
	wantCode(t, err, fault.Conflict)
	_, err = m.Disable(ctx, "anna", id)
	wantCode(t, err, fault.Conflict)
	_, err = m.Install(ctx, "anna", id, []string{"a.read"})
	wantCode(t, err, fault.Invalid)

	l, err := m.Install(ctx, "anna", id, []string{"b.write", "a.read"})
	wantState(t, l, err, true, true, 2)
	l, err = m.Install(ctx, "anna", id, nil)
	wantState(t, l, err, true, true, 2)
	l, err = m.Disable(ctx, "anna", id)
	wantState(t, l, err, true, false, 2)
	l, err = m.Disable(ctx, "anna", id)
	wantState(t, l, err, true, false, 2)
	l, err = m.Get(ctx, "anna", id)
	wantState(t, l, err, true, false, 2)
	l, err = m.Enable(ctx, "anna", id)
	wantState(t, l, err, true, true, 2)
	if got := store.saved[0]; got.Version != "2.0.0" || got.UserID != "anna" || !got.UpdatedAt.Equal(at) {
		t.Errorf("got %+v", got)
	}
	l, err = m.Get(ctx, "bob", id)
	wantState(t, l, err, false, false, 0)
	l, err = m.Uninstall(ctx, "anna", id)
	wantState(t, l, err, false, false, 0)
	l, err = m.Uninstall(ctx, "anna", id)
	wantState(t, l, err, false, false, 0)
	l, err = m.Get(ctx, "anna", id)
	wantState(t, l, err, false, false, 0)
	l, err = m.Install(ctx, "anna", id, nil)
	wantState(t, l, err, true, true, 2)
}

func TestMarketplace_DisabledSkillIsOff(t *testing.T) {
	t.Parallel()
	m, _ := market(t)
	if _, err := m.Disable(t.Context(), "anna", "builtin.weather"); err != nil {
		t.Fatal(err)
	}
	on, off, err := m.Enabled(t.Context(), "anna")
	if err != nil || len(on) != 3 || len(off) != 2 || off[0].ID != "builtin.weather" {
		t.Errorf("got %d on, %d off, %v", len(on), len(off), err)
	}
	if got := names(skills.Route(on, "上海天气怎么样，今天食堂吃什么", nil)); got != canteen {
		t.Errorf("got %q, want %q", got, canteen)
	}
}

// TestMarketplace_NewPermissionNeedsAnotherYes: what was granted to one version is not granted to the next.
func TestMarketplace_NewPermissionNeedsAnotherYes(t *testing.T) {
	t.Parallel()
	m, store := market(t)
	ctx := t.Context()
	store.saved = []skills.Installation{{UserID: "anna", SkillID: "x.extra", Version: "1.0.0", Installed: true, Enabled: true, Granted: []string{"a.read"}}}
	l, err := m.Get(ctx, "anna", "x.extra")
	wantState(t, l, err, true, false, 1)
	_, err = m.Enable(ctx, "anna", "x.extra")
	wantCode(t, err, fault.Conflict)
	l, err = m.Install(ctx, "anna", "x.extra", []string{"a.read", "b.write"})
	wantState(t, l, err, true, true, 2)
	if got := store.saved[0]; got.Version != "2.0.0" || len(got.Granted) != 2 {
		t.Errorf("got %+v, want the new version and both permissions", got)
	}
}

func TestMarketplace_SystemSkillStays(t *testing.T) {
	t.Parallel()
	m, store := market(t)
	_, err := m.Disable(t.Context(), "anna", "builtin.basics")
	wantCode(t, err, fault.Conflict)
	_, err = m.Uninstall(t.Context(), "anna", "builtin.basics")
	wantCode(t, err, fault.Conflict)
	store.saved = []skills.Installation{{UserID: "anna", SkillID: "builtin.basics"}} // whatever a row says
	l, err := m.Get(t.Context(), "anna", "builtin.basics")
	wantState(t, l, err, true, true, 1)
}

func TestMarketplace_StoreFails(t *testing.T) {
	t.Parallel()
	m, store := market(t)
	store.err = errors.New("disk full")
	for name, change := range map[string]func() error{
		"list":      func() error { _, err := m.List(t.Context(), "anna"); return err },
		"enabled":   func() error { _, _, err := m.Enabled(t.Context(), "anna"); return err },
		"install":   func() error { _, err := m.Install(t.Context(), "anna", "x.extra", nil); return err },
		"disable":   func() error { _, err := m.Disable(t.Context(), "anna", "builtin.weather"); return err },
		"uninstall": func() error { _, err := m.Uninstall(t.Context(), "anna", "builtin.weather"); return err },
	} {
		if err := change(); !errors.Is(err, store.err) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
