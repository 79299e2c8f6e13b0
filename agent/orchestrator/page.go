package orchestrator

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"agentmesh/agent"
	"agentmesh/app/platform/fault"
)

// How many items a list has when nothing is said, and MaxItems at most.
const (
	usualLimit = 50
	MaxItems   = 200
)

// part is the part of a list that a request asks for.
type part struct {
	agent.Page
	list string
}

// partOf reads limit and cursor. A cursor is a place of the store under the name of its list, so that one
// of another list is refused instead of misread.
func partOf(c echo.Context, list string, usual int) (part, error) {
	p := part{list: list, Page: agent.Page{Limit: usual}}
	if raw := c.QueryParam("limit"); raw != "" {
		most := max(usual, MaxItems)
		n, err := strconv.Atoi(raw)
		if err != nil || n < 1 || n > most {
			return part{}, fault.New(fault.Invalid, "limit must be a number from 1 to %d", most)
		}
		p.Limit = n
	}
	raw := c.QueryParam("cursor")
	if raw == "" {
		return p, nil
	}
	plain, err := base64.RawURLEncoding.DecodeString(raw)
	place, ok := strings.CutPrefix(string(plain), list+":")
	if err != nil || !ok || place == "" {
		return part{}, noCursor()
	}
	p.After = place
	return p, nil
}

func noCursor() error {
	return fault.New(fault.Invalid, "cursor must be the nextCursor of an answer of this list")
}

// page is a part of a list as the API gives it.
type page[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"nextCursor,omitempty"`
}

// list answers with a part of a list, and with the cursor of the next one if there is more.
func list[T any](c echo.Context, p part, items []T, next string, err error) error {
	if err != nil {
		return err
	}
	if items == nil {
		items = []T{}
	}
	out := page[T]{Items: items}
	if next != "" {
		out.NextCursor = base64.RawURLEncoding.EncodeToString([]byte(p.list + ":" + next))
	}
	return c.JSON(http.StatusOK, out)
}

// listWhole answers with a part of a list that is at hand as a whole; an item's key is its place.
func listWhole[T any](c echo.Context, name string, all []T, key func(T) string, err error) error {
	if err != nil {
		return err
	}
	p, err := partOf(c, name, MaxItems)
	if err != nil {
		return err
	}
	if p.After != "" {
		i := slices.IndexFunc(all, func(v T) bool { return key(v) == p.After })
		if i < 0 {
			return noCursor()
		}
		all = all[i+1:]
	}
	next := ""
	if len(all) > p.Limit {
		all = all[:p.Limit]
		next = key(all[p.Limit-1])
	}
	return list(c, p, all, next, nil)
}
