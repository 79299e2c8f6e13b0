package weather

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"agentmesh/a2a"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/text"
)

// maxDays is the longest forecast.
const maxDays = 7

type executor struct {
	cities   atlas
	location *time.Location
	now      func() time.Time
}

// arguments of call_weather. Days is a number so that 2.5 can be refused with a sentence.
type arguments struct {
	City string       `json:"city"`
	Days *json.Number `json:"days"`
}

// Execute implements a2a.Executor.
func (e *executor) Execute(ctx context.Context, req a2a.Request, emit func(a2a.Update) error) (a2a.Result, error) {
	log := flow.Log(ctx)
	log.Debug().Str("agent", "weather").Str("skill", req.Skill).RawJSON("arguments", orNull(req.Arguments)).Str("text", req.Text).Msg("agent received")
	now := e.now().In(e.location)
	where, days, result, err := e.decide(req, now)
	if err != nil {
		return a2a.Result{}, err
	}
	if result.Question != "" {
		log.Debug().Str("agent", "weather").Str("question", result.Question).Msg("agent decided")
		return result, nil
	}
	log.Debug().Str("agent", "weather").Str("city", where.NameEn).Int("days", days).Msg("agent decided")
	zh := text.HasHan(req.Text) || text.HasHan(string(req.Arguments))
	progress := "Looking up the weather in " + where.NameEn + "…"
	if zh {
		progress = "正在查询" + where.Name + "的天气…"
	}
	if err := emit(a2a.Update{Text: progress}); err != nil {
		return a2a.Result{}, err
	}
	r := report(where, now, days)
	log.Debug().Str("agent", "weather").Int("days", len(r.Days)).Msg("agent returned")
	return a2a.Result{Text: r.text(zh), ArtifactName: a2a.ArtifactResult, Data: r}, nil
}

// decide finds out which city and how many days are meant. A result with a question means that the city is missing.
func (e *executor) decide(req a2a.Request, now time.Time) (city, int, a2a.Result, error) {
	if req.Skill == "" {
		w := e.cities.understand(strings.Join(append(req.Earlier, req.Text), "\n"), now)
		if latest := e.cities.understand(req.Text, now); latest.found || latest.unknown != "" {
			w.city, w.found, w.unknown = latest.city, latest.found, latest.unknown
		}
		return e.check(w.city, w.found, w.unknown, w.days)
	}
	if req.Skill != SkillWeather {
		return city{}, 0, a2a.Result{}, fault.New(fault.Invalid, "the Weather agent has no skill %q; it has %s", req.Skill, SkillWeather)
	}
	var args arguments
	if len(req.Arguments) > 0 {
		if err := json.Unmarshal(req.Arguments, &args); err != nil {
			return city{}, 0, a2a.Result{}, fault.Wrap(err, fault.Invalid, `call_weather takes {"city": text, "days": 1 to 7}`)
		}
	}
	days := 1
	if args.Days != nil {
		n, err := args.Days.Int64()
		if err != nil {
			return city{}, 0, a2a.Result{}, fault.New(fault.Invalid, "days must be a whole number from 1 to %d / 天数须为 1 到 %d 的整数", maxDays, maxDays)
		}
		days = int(n)
	}
	name := strings.TrimSpace(args.City)
	where, found := e.cities.named(name)
	if !found {
		where, found = e.cities.mentioned(name)
	}
	return e.check(where, found, name, days)
}

func (e *executor) check(where city, found bool, unknown string, days int) (city, int, a2a.Result, error) {
	switch {
	case !found && unknown != "":
		return city{}, 0, a2a.Result{}, fault.New(fault.NotFound,
			"没有“%s”的天气，可查询的城市 / no weather for %q, the cities are: %s", unknown, unknown, e.cities.list())
	case !found:
		return city{}, 0, a2a.Result{Question: "请问要查哪个城市的天气？Which city do you mean? " + e.cities.list()}, nil
	case days < 1 || days > maxDays:
		return city{}, 0, a2a.Result{}, fault.New(fault.Invalid, "只能查询 1 到 %d 天的天气 / days must be from 1 to %d", maxDays, maxDays)
	}
	return where, days, a2a.Result{}, nil
}

// text is the report as a sentence or a few.
func (r Report) text(zh bool) string {
	var b strings.Builder
	if zh {
		fmt.Fprintf(&b, "%s现在%s，%d°C，湿度%d%%，%s。", r.City, r.Current.Condition, r.Current.Temperature, r.Current.Humidity, r.Current.Wind)
		for _, d := range r.Days {
			fmt.Fprintf(&b, "\n%s（%s）：%s，%d～%d°C，降水概率%d%%。", d.Date, d.WeekdayZh, d.Condition, d.Low, d.High, d.RainProbability)
		}
		return b.String() + "\n" + r.Advice + "（模拟数据）"
	}
	fmt.Fprintf(&b, "%s now: %s, %d°C, humidity %d%%, wind %s.", r.CityEn, r.Current.ConditionEn, r.Current.Temperature, r.Current.Humidity, r.Current.WindEn)
	for _, d := range r.Days {
		fmt.Fprintf(&b, "\n%s (%s): %s, %d to %d°C, %d%% chance of rain.", d.Date, d.WeekdayEn, d.ConditionEn, d.Low, d.High, d.RainProbability)
	}
	return b.String() + "\n" + r.AdviceEn + " (simulated data)"
}

func orNull(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return []byte("null")
	}
	return raw
}
