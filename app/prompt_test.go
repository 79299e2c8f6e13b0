package app_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"agentmesh/app/meshtest"
)

var randomID = regexp.MustCompile(`(call_|pref-)[0-9a-f]{8,}`)

// TestGoldenPrompt shows, in testdata/prompt.json, all that a model is given in the last round of a
// recommendation: instructions, history, results, tools.
func TestGoldenPrompt(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.FixedZone("CST", 8*3600))
	m := meshtest.Start(t, meshtest.Options{Now: func() time.Time { return noon }})
	m.Ask("ann", "t1", "记住我不吃辣。")
	got := m.Ask("ann", "t1", "结合我的偏好推荐一道菜。")
	var r struct {
		ModelCalls []struct{ Request json.RawMessage }
	}
	m.Get("ann", "/api/v1/runs/"+got.RunID, &r)
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, r.ModelCalls[len(r.ModelCalls)-1].Request, "", "  "); err != nil {
		t.Fatal(err)
	}
	pretty.WriteByte('\n')
	compareGolden(t, "testdata/prompt.json", randomID.ReplaceAllString(pretty.String(), "${1}…"))
}
