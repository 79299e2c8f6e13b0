package rundb_test

import (
	"testing"

	"agentmesh/store/rundb"
)

func meansSchedules(t *testing.T, db *rundb.DB) {
	_, _ = t, db
}
