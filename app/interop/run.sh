#!/usr/bin/env bash
# Runs the tests that are written in JavaScript, those of the page in a browser and those with the real
# protocol clients, against a fresh ./agentmesh with the demo model. TOOLS is the ignored folder for
# what is installed and left behind. Node, npm and Chromium come from the system's packages, and only as
# root on Debian are they installed here.
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${TOOLS:=$PWD/.tools}"
npm_dir="$TOOLS/npm" shots="$TOOLS/screenshots" work="$TOOLS/node-test"

need() { # need COMMAND PACKAGE...
  command -v "$1" >/dev/null 2>&1 && return
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "the tests in JavaScript need $1: install it (Debian: apt-get install ${*:2})" >&2
    exit 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update && apt-get install -y --no-install-recommends "${@:2}"; } >"$TOOLS/apt.log" 2>&1 ||
    { tail -n 20 "$TOOLS/apt.log" >&2; echo "could not install ${*:2}" >&2; exit 1; }
}

mkdir -p "$TOOLS" "$npm_dir" "$shots"
need node nodejs
need npm npm
need chromium chromium fonts-noto-cjk
CHROMIUM=$(command -v chromium)

wanted=$(node -p '["./ui/test", "./app/interop"].flatMap((d) => Object.entries(require(d + "/package.json").devDependencies))
  .map(([name, version]) => `${name}@${version}`).sort().join(" ")')
if [ "$wanted" != "$(cat "$npm_dir/installed" 2>/dev/null)" ]; then
  # The Inspector asks for a newer Node than Debian's in a warning, and for a script that it needs in its own repository only.
  # shellcheck disable=SC2086 # one word a package
  npm install --prefix "$npm_dir" --no-save --no-audit --no-fund --ignore-scripts --loglevel=error $wanted
  echo "$wanted" >"$npm_dir/installed"
fi

rm -rf "$work" && mkdir -p "$work"
servers=()
trap 'kill "${servers[@]}" 2>/dev/null; wait 2>/dev/null || true' EXIT

serve() { # serve NAME [FLAG...]: starts a server; its URL is in url then
  : >"$work/$1.out" # read below, maybe before the server has opened it
  ./agentmesh serve --listen 127.0.0.1:0 --data "$work/$1" "${@:2}" >"$work/$1.out" 2>"$work/$1.log" &
  servers+=($!)
  url=
  for _ in $(seq 100); do
    url=$(sed -n 's/^ *page *\(http[^ ]*\)\/$/\1/p' "$work/$1.out")
    [ -n "$url" ] && return
    kill -0 "${servers[-1]}" 2>/dev/null || break
    sleep 0.1
  done
  cat "$work/$1.log" >&2
  echo "the server did not start" >&2
  exit 1
}

serve open
AGENTMESH_URL=$url
serve hasty --confirmation-ttl 1s
AGENTMESH_HASTY_URL=$url
LLM_API_KEY=none LLM_MODEL=none LLM_BASE_URL="$url/no/model" serve dumb # there is no model at that path
AGENTMESH_DUMB_URL=$url
AGENTMESH_KEY=key-of-the-browser-test
export AGENTMESH_API_KEYS="ann:person:$AGENTMESH_KEY"
serve keyed
AGENTMESH_KEYED_URL=$url
AGENTMESH_LETTERS=$work/letters # a program with an effect that nobody recognises when it comes again
go test -tags sqlite_fts5 -c -o "$AGENTMESH_LETTERS" ./app
export CHROMIUM AGENTMESH_URL AGENTMESH_HASTY_URL AGENTMESH_DUMB_URL AGENTMESH_LETTERS AGENTMESH_KEYED_URL AGENTMESH_KEY AGENTMESH_NPM="$npm_dir" AGENTMESH_SHOTS="$shots"
status=0
node --test --test-reporter=spec ui/test/*.test.mjs app/interop/*.test.mjs || status=$?
[ "$status" = 0 ] || { echo "--- the server's log ---"; tail -n 40 "$work"/*.log; } >&2
echo "screenshots: $shots"
exit "$status"
