// Package localtool holds the capabilities that this process executes itself: the clock, memory, and
// two that only pretend, for demonstrations. It must not know the engine.
package localtool

import (
	"context"
	"encoding/json"
	"time"

	"agentmesh/app/platform/text"
	"agentmesh/capability"
)

// Clock tells the present time in the canteen's time zone (D-53).
func Clock(now func() time.Time, zone *time.Location) capability.Definition {
	return capability.Definition{
		Name: "get_current_time", Kind: capability.Local, Provider: "local", ReadOnly: true, Idempotent: true,
		Description: "The present date, weekday and time. Takes no arguments.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		Handle: func(context.Context, capability.Call) (json.RawMessage, error) {
			t := now().In(zone)
			day := text.Weekday(t)
			return json.Marshal(map[string]any{
				"iso": t.Format(time.RFC3339), "date": t.Format(time.DateOnly), "time": t.Format("15:04"),
				"weekday": day, "weekdayZh": text.WeekdayZh(day),
				"weekdayEn": text.WeekdayEn(day), "timeZone": zone.String(),
			})
		},
	}
}
