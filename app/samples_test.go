package app_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"agentmesh/agent/agui"
	"agentmesh/app/meshtest"
	"agentmesh/app/platform/text"
	"agentmesh/mcp/catalog"
	"agentmesh/store/catalogdb"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sample is one of the questions of D-18 to D-27, with the tools that must run for it. Those of one
// answer run together, so only the set counts.
type sample struct {
	id, zh, en string
	tools      []string
}

func samples() []sample {
	everything := []string{"call_weather", "list_menu_by_day", "place_order", "recall_preferences", "recommend_food"}
	return []sample{
		{"D-18", "你是谁？", "Who are you?", nil},
		{"D-19", "现在几点？", "What time is it?", []string{"get_current_time"}},
		{"D-20", "今天食堂有什么菜？", "What's on the canteen menu today?", []string{"list_menu_by_day"}},
		{"D-21", "水煮牛肉多少钱，还有库存吗？", "How much is the Sichuan boiled beef, and is there any left?", []string{"search_food_catalog"}},
		{"D-22", "上海未来三天天气怎么样？", "What will the weather be like in Shanghai over the next three days?", []string{"call_weather"}},
		{"D-23", "记住我不吃辣。", "Remember that I don't eat spicy food.", []string{"remember_preference"}},
		{"D-24", "结合我的偏好推荐一道菜。", "Recommend a dish that fits my preferences.", []string{"recall_preferences", "recommend_food"}},
		{
			"D-25", "今天上海天气怎么样，食堂有什么适合我的菜？", "How is the weather in Shanghai today, and which canteen dishes suit me?",
			[]string{"call_weather", "list_menu_by_day", "recall_preferences", "recommend_food"},
		},
		{"D-26", "帮我订一份水煮牛肉。", "Please order one Sichuan boiled beef for me.", []string{"place_order"}},
		{
			"D-27", "今天上海天气怎么样，食堂有什么适合我的菜？如果有水煮牛肉，再帮我订一份。",
			"How is the weather in Shanghai today, and which canteen dishes suit me? If there is Sichuan boiled beef, order one for me.", everything,
		},
	}
}

// TestGoldenSamples asks every sample question in both languages, one user a language, and compares the
// transcript with docs/samples.md. The clock stands still at noon of a Monday in Shanghai.
func TestGoldenSamples(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.FixedZone("CST", 8*3600))
	m := meshtest.Start(t, meshtest.Options{Now: func() time.Time { return noon }})
	dishes := menu(t)
	var doc strings.Builder
	doc.WriteString(samplesHead)
	for _, s := range samples() {
		fmt.Fprintf(&doc, "\n## %s\n", s.id)
		for _, q := range []struct{ user, text string }{{"zh", s.zh}, {"en", s.en}} {
			got, card := converse(m, q.user, s.id, q.text)
			checkSample(t, s, q.text, got)
			checkPrices(t, q.text, got.Text(), dishes)
			checkStocks(t, m, q.text, got.Text(), dishes)
			writeSample(&doc, q.text, got, card)
		}
	}
	compareGolden(t, filepath.Join("..", "docs", "samples.md"), doc.String())
}

const samplesHead = "# The sample questions, as they are answered\n\n" +
	"Written by `make golden` from real runs with the built-in demo model, on a fresh data folder, at noon of Monday\n" +
	"2026-11-30 in Shanghai; `make test` compares. Every price and stock is checked against the catalog's database. Orders\n" +
	"are confirmed. Tools that stand in one line separated by `+` ran together.\n"

// converse asks, and says yes to an order.
func converse(m *meshtest.Mesh, user, thread, text string) (got meshtest.Transcript, card string) {
	talk := m.Say(user, thread, text)
	last := talk.Until(func(e agui.Event) bool {
		return e.Name == agui.ConfirmationRequired || e.Type == agui.RunFinished || e.Type == agui.RunError
	})
	if last.Name == agui.ConfirmationRequired {
		open := openQuestion(m, user)
		card = string(open.Summary)
		talk.Decide("confirm", open)
		talk.Rest()
	}
	return talk.Transcript, card
}

func menu(t *testing.T) []catalog.Dish {
	t.Helper()
	db, err := catalogdb.Open(context.Background(), filepath.Join(t.TempDir(), "catalog.db"), catalogdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	dishes, err := db.Dishes(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return dishes
}

func checkSample(t *testing.T, s sample, question string, got meshtest.Transcript) {
	t.Helper()
	if last := got.Last(); last.Type != agui.RunFinished {
		t.Errorf("%s ended with %s: %s", question, last.Type, last.Message)
	}
	ran := slices.Clone(got.Tools())
	slices.Sort(ran)
	if !slices.Equal(ran, s.tools) {
		t.Errorf("%s: the tools %q ran, want %q", question, ran, s.tools)
	}
	pieces := 0
	for _, e := range got.Events {
		if e.Type == agui.TextMessageContent {
			pieces++
		}
	}
	if pieces < 2 && len([]rune(got.Text())) > 12 {
		t.Errorf("%s: the answer came in %d piece", question, pieces)
	}
}

var (
	money    = regexp.MustCompile(`¥(\d+\.\d\d)`)
	portions = regexp.MustCompile(`(?:还有|余) (\d+) 份|(\d+) (?:in stock|left)`)
)

// checkStocks finds every line that names a dish and what is left of it, and compares with the catalog.
func checkStocks(t *testing.T, m *meshtest.Mesh, question, text string, dishes []catalog.Dish) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		left := portions.FindStringSubmatch(line)
		if left == nil {
			continue
		}
		for _, d := range dishes {
			if !strings.Contains(line, d.Name) && !strings.Contains(line, d.NameEn) {
				continue
			}
			if got, want := left[1]+left[2], fmt.Sprint(stock(t, m, d.ID)); got != want {
				t.Errorf("%s: %q says %s are left, the catalog has %s", question, line, got, want)
			}
		}
	}
}

// checkPrices finds every dish that is named with a price behind it, and compares with the database.
func checkPrices(t *testing.T, question, said string, dishes []catalog.Dish) {
	t.Helper()
	for _, line := range strings.FieldsFunc(said, func(r rune) bool { return r == '\n' || r == '、' || r == ';' || r == '；' }) {
		for _, part := range strings.Split(line, ", ") {
			price := money.FindStringSubmatch(part)
			for _, d := range dishes {
				named := strings.Contains(part, d.Name) || strings.Contains(part, d.NameEn)
				if named && price != nil && !strings.Contains(part, "×") && price[1] != text.Yuan(d.PriceFen) {
					t.Errorf("%s: %q gives %s, the database has %s", question, part, price[1], text.Yuan(d.PriceFen))
				}
			}
		}
	}
}

func writeSample(doc *strings.Builder, question string, got meshtest.Transcript, card string) {
	fmt.Fprintf(doc, "\n**%s**\n\nTools: %s\n", question, toolLine(got))
	if card != "" {
		fmt.Fprintf(doc, "\nCard: `%s`\n", card)
	}
	doc.WriteString("\n")
	for _, line := range strings.Split(orderID.ReplaceAllString(got.Text(), "order-…"), "\n") {
		doc.WriteString(strings.TrimRight("> "+line, " ") + "\n")
	}
}

var orderID = regexp.MustCompile(`order-[0-9a-f]{24}`)

// toolLine writes the tools of each answer, in order.
func toolLine(got meshtest.Transcript) string {
	var rounds []string
	var now []string
	for _, e := range got.Events {
		switch e.Type {
		case agui.ToolCallStart:
			now = append(now, "`"+e.ToolCallName+"`")
		case agui.StepFinished:
			if len(now) > 0 {
				slices.Sort(now)
				rounds, now = append(rounds, strings.Join(now, " + ")), nil
			}
		}
	}
	if len(rounds) == 0 {
		return "none"
	}
	return strings.Join(rounds, ", then ")
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s line %d (make golden rewrites it):\n got %s\nwant %s", path, i+1, g[i], w[i])
		}
	}
	t.Fatalf("%s has %d lines, the runs gave %d (make golden rewrites it)", path, len(w), len(g))
}
