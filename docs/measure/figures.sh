#!/usr/bin/env bash
# Prints the figures that the README states: binary size, start to ready, resident memory. Needs curl and /proc.
set -euo pipefail
cd "$(dirname "$0")/../.."
address=127.0.0.1:${PORT:-8390}
starts=${STARTS:-11}
dir=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid"; rm -rf "$dir"' EXIT

start() {
	local from
	from=$(date +%s%N)
	./agentmesh serve --listen "$address" --data "$1" >"$dir/out" 2>&1 &
	pid=$!
	until curl -sf "http://$address/readyz" >/dev/null; do
		kill -0 "$pid" 2>/dev/null || { pid=; cat "$dir/out" >&2; exit 1; }
		sleep 0.005
	done
	echo $((($(date +%s%N) - from) / 1000000))
}

stop() {
	kill "$pid"
	wait "$pid" || true
	pid=
}

resident() { awk '/^VmRSS/ {printf "%d MB", $2 / 1024}' "/proc/$pid/status"; }
middle() { sort -n | awk '{v[NR] = $1} END {printf "%d ms (%d to %d)", v[int((NR + 1) / 2)], v[1], v[NR]}'; }

ask() {
	curl -sf "http://$address/api/v1/runs" -H 'Content-Type: application/json' -o /dev/null \
		-d "{\"threadId\":\"$1\",\"runId\":\"$1\",\"messages\":[{\"role\":\"user\",\"content\":\"今天有什么菜？\"}]}"
}

strip -o "$dir/stripped" agentmesh
echo "binary: $(($(stat -c %s agentmesh) / 1000000)) MB, stripped $(($(stat -c %s "$dir/stripped") / 1000000)) MB"
for i in $(seq "$starts"); do start "$dir/new$i" >>"$dir/first"; stop; done
echo "first start to ready, with new databases: $(middle <"$dir/first")"
for i in $(seq "$starts"); do start "$dir/new1" >>"$dir/again"; stop; done
echo "later start to ready: $(middle <"$dir/again")"
start "$dir/new1" >/dev/null
echo "resident when ready: $(resident)"
for i in $(seq 100); do ask "figures-$i"; done
echo "resident after 100 runs: $(resident)"
stop
