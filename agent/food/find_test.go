package food

import (
	"strings"
	"testing"
)

// TestFinder_OnNoWeekday: a dish that is on no day at all has no days to list.
func TestFinder_OnNoWeekday(t *testing.T) {
	t.Parallel()
	d := Dish{ID: "food-900", Name: "佛跳墙", NameEn: "Buddha jumps over the wall"}
	_, _, err := (&finder{today: Day{WeekdayZh: "周一"}, all: []Dish{d}}).find(t.Context(), d.Name)
	if err == nil || !strings.Contains(err.Error(), "目前不在菜单上") || !strings.Contains(err.Error(), "not on the menu at present") {
		t.Errorf("got %v, want that it is not on the menu at present", err)
	}
}
