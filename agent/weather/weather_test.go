package weather_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentmesh/a2a"
	"agentmesh/agent/weather"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/mesh"
)

// sunday is 2026-11-29 10:30 in Shanghai.
func sunday() time.Time { return time.Date(2026, 11, 29, 2, 30, 0, 0, time.UTC) }

func start(t *testing.T, now time.Time) *a2a.Client {
	t.Helper()
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	m, err := weather.New(weather.Options{Location: shanghai, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(m.Handler())
	client := a2a.NewClient(server.URL+weather.Prefix, server.Client())
	t.Cleanup(func() {
		_ = client.Close()
		if err := m.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("stop: %v", err)
		}
		server.Close()
	})
	return client
}

func ask(t *testing.T, c *a2a.Client, req a2a.Request) (weather.Report, a2a.Outcome, error) {
	t.Helper()
	out, err := c.Call(t.Context(), req)
	var r weather.Report
	if err == nil && out.Question == "" {
		if err := json.Unmarshal(out.Data, &r); err != nil {
			t.Fatalf("data %s: %v", out.Data, err)
		}
	}
	return r, out, err
}

func TestWeather_data(t *testing.T) {
	t.Parallel()
	c := start(t, sunday())
	r, out, err := ask(t, c, a2a.Request{Skill: "call_weather", Arguments: json.RawMessage(`{"city":"上海","days":3}`)})
	if err != nil {
		t.Fatal(err)
	}
	if r.City != "上海" || r.CityEn != "Shanghai" || !r.Simulated || len(r.Days) != 3 || out.ArtifactName != "RESULT" {
		t.Errorf("got %+v", r)
	}
	if d := r.Days[0]; d.Date != "2026-11-29" || d.Weekday != 7 || d.WeekdayZh != "星期日" || d.WeekdayEn != "Sunday" {
		t.Errorf("first day: got %+v", d)
	}
	if r.Days[1].Date != "2026-11-30" || r.Days[1].Weekday != 1 {
		t.Errorf("second day: got %+v", r.Days[1])
	}
	for _, d := range r.Days {
		if d.Low >= d.High || d.RainProbability < 0 || d.RainProbability > 100 || d.Condition == "" || d.ConditionEn == "" {
			t.Errorf("day: got %+v", d)
		}
	}
	if r.Current.Temperature < r.Days[0].Low || r.Current.Temperature > r.Days[0].High || r.Advice == "" || r.AdviceEn == "" {
		t.Errorf("current: got %+v", r)
	}
	again, _, _ := ask(t, c, a2a.Request{Skill: "call_weather", Arguments: json.RawMessage(`{"city":"shanghai","days":3}`)})
	if !reflect.DeepEqual(r, again) {
		t.Errorf("not deterministic: %+v and %+v", r, again)
	}
	other, _, _ := ask(t, c, a2a.Request{Skill: "call_weather", Arguments: json.RawMessage(`{"city":"Guangzhou","days":7}`)})
	if len(other.Days) != 7 || reflect.DeepEqual(r.Days[0], other.Days[0]) {
		t.Errorf("Guangzhou: got %+v", other)
	}
}

func TestWeather_text(t *testing.T) {
	t.Parallel()
	c := start(t, sunday())
	for _, test := range []struct {
		text, city string
		days       int
	}{
		{"上海未来三天天气怎么样？", "上海", 3},
		{"北京今天天气", "北京", 1},
		{"明天西安要带伞吗", "西安", 2},
		{"后天深圳冷不冷", "深圳", 3},
		{"成都一周天气预报", "成都", 7},
		{"杭州这几天会下雨吗", "杭州", 3},
		{"查一下11月29日南京的天气", "南京", 1},
		{"重庆周三天气", "重庆", 4},
		{"武汉市周末穿什么", "武汉", 1},
		{"What's the weather in Shanghai for the next 3 days?", "上海", 3},
		{"weather in xi'an tomorrow", "西安", 2},
		{"Xian five days", "西安", 5},
		{"Will it rain in Guangzhou on Friday?", "广州", 6},
		{"Shenzhen next few days", "深圳", 3},
		{"BEIJING", "北京", 1},
	} {
		r, out, err := ask(t, c, a2a.Request{Text: test.text})
		if err != nil || r.City != test.city || len(r.Days) != test.days {
			t.Errorf("%s: got %s, %d days, %v, %s", test.text, r.City, len(r.Days), err, out.Question)
		}
		if zh := strings.Contains(out.Text, "模拟数据"); zh != strings.ContainsRune(test.text, '天') && !strings.ContainsAny(test.text, "伞冷穿") && test.text[0] > 0x7f {
			t.Errorf("%s: language of %s", test.text, out.Text)
		}
	}
}

func TestWeather_refusals(t *testing.T) {
	t.Parallel()
	c := start(t, sunday())
	for _, test := range []struct {
		text, skill, args string
		code              fault.Code
		says              string
	}{
		{"纽约天气怎么样", "", "", fault.NotFound, "纽约"},
		{"What is the weather in New York?", "", "", fault.NotFound, "New York"},
		{"上海未来十天天气", "", "", fault.Invalid, "7"},
		{"", "call_weather", `{"city":"拉萨"}`, fault.NotFound, "重庆 (Chongqing)"},
		{"", "call_weather", `{"city":"上海","days":0}`, fault.Invalid, "7"},
		{"", "call_weather", `{"city":"上海","days":8}`, fault.Invalid, "7"},
		{"", "call_weather", `{"city":"上海","days":2.5}`, fault.Invalid, "7"},
		{"", "call_weather", `{"city":7}`, fault.Invalid, "city"},
		{"", "bake_cake", `{}`, fault.Invalid, "call_weather"},
	} {
		_, _, err := ask(t, c, a2a.Request{Text: test.text, Skill: test.skill, Arguments: json.RawMessage(test.args)})
		if fault.CodeOf(err) != test.code || !strings.Contains(fault.MessageOf(err), test.says) {
			t.Errorf("%s%s: got %v (%s)", test.text, test.args, err, fault.CodeOf(err))
		}
	}
}

func TestWeather_asksForTheCity(t *testing.T) {
	t.Parallel()
	c := start(t, sunday())
	for _, text := range []string{"未来三天天气怎么样？", "What's the weather for the next 3 days?"} {
		_, out, err := ask(t, c, a2a.Request{Text: text})
		if err != nil || out.State != a2a.InputRequired || !strings.Contains(out.Question, "西安") {
			t.Fatalf("%s: got %+v, %v", text, out, err)
		}
		r, _, err := ask(t, c, a2a.Request{Text: "上海", TaskID: out.TaskID})
		if err != nil || r.City != "上海" || len(r.Days) != 3 {
			t.Errorf("%s: after the answer: got %+v, %v", text, r, err)
		}
	}
	_, out, err := ask(t, c, a2a.Request{Skill: "call_weather", Arguments: json.RawMessage(`{}`)})
	if err != nil || out.Question == "" {
		t.Errorf("no arguments: got %+v, %v", out, err)
	}
}

func TestWeather_midnight(t *testing.T) {
	t.Parallel()
	for at, date := range map[string]string{
		"2026-11-29T15:59:00Z": "2026-11-29", "2026-11-29T16:01:00Z": "2026-11-30",
		"2026-11-28T23:59:00Z": "2026-11-29", "2026-11-29T00:01:00Z": "2026-11-29",
	} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := ask(t, start(t, now), a2a.Request{Text: "上海天气"})
		if err != nil || r.Days[0].Date != date {
			t.Errorf("%s: got %+v, %v, want %s", at, r.Days, err, date)
		}
	}
}

func TestWeather_climate(t *testing.T) {
	t.Parallel()
	winter := start(t, time.Date(2026, 1, 15, 4, 0, 0, 0, time.UTC))
	summer := start(t, time.Date(2026, 7, 15, 4, 0, 0, 0, time.UTC))
	for _, city := range strings.Fields("北京 上海 广州 深圳 杭州 成都 武汉 西安 南京 重庆") {
		cold, _, err := ask(t, winter, a2a.Request{Text: city + "天气"})
		if err != nil {
			t.Fatal(err)
		}
		hot, _, err := ask(t, summer, a2a.Request{Text: city + "天气"})
		if err != nil {
			t.Fatal(err)
		}
		if cold.Days[0].High >= hot.Days[0].Low {
			t.Errorf("%s: January %+v, July %+v", city, cold.Days[0], hot.Days[0])
		}
	}
}

func TestModule_guard(t *testing.T) {
	t.Parallel()
	network := mesh.NewNetwork("key")
	m, err := weather.New(weather.Options{Guard: network.RequireKey})
	if err != nil {
		t.Fatal(err)
	}
	if m.Name() != "weather" || m.Prefixes()[0] != "/agents/weather" {
		t.Errorf("got %s %v", m.Name(), m.Prefixes())
	}
	for _, path := range []string{"/agents/weather/", "/agents/weather" + a2a.CardPath} {
		rec := httptest.NewRecorder()
		m.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		if rec.Code != http.StatusForbidden {
			t.Errorf("%s without the key: got %d", path, rec.Code)
		}
	}
}
