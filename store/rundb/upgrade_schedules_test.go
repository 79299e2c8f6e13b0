package rundb_test

import (
	"testing"

	"agentmesh/agent"
	"agentmesh/agent/schedule"
	"agentmesh/store/rundb"
)

func meansSchedules(t *testing.T, db *rundb.DB) {
	list, _, err := db.Schedules(t.Context(), "emil", agent.Page{Limit: 10})
	must(t, err)
	same(t, "the schedules", list, []schedule.Schedule{
		{ID: "sched-2", UserID: "emil", Name: "天气", Cron: "0 7 * * *", TimeZone: "UTC", Message: "天气？", Conversation: schedule.Fresh, CreatedAt: moment(1795924800000123), UpdatedAt: moment(1795924800000123)},
		{
			ID: "sched-1", UserID: "emil", Name: "早餐", Cron: "30 8 * * 1-5", TimeZone: "Asia/Shanghai", Message: "今天吃什么？", Conversation: schedule.Keep,
			Enabled: true, DueAt: moment(1796000000000000), CreatedAt: moment(1795924800000123), UpdatedAt: moment(1795924800000123),
		},
	})
	fires, err := db.Fires(t.Context(), "sched-1", 10)
	must(t, err)
	if len(fires) != 3 || fires[0].Status != schedule.Due || fires[1].Status != schedule.Missed || fires[2].RunID != "run-ended" {
		t.Errorf("got the fires %+v", fires)
	}
	open, err := db.OpenFires(t.Context())
	must(t, err)
	if len(open) != 1 || open[0].UserID != "emil" || open[0].Message != "今天吃什么？" || open[0].ThreadID != "sched-1" {
		t.Errorf("got the open fires %+v", open)
	}
}
