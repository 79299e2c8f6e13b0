# AgentMesh. `make` lists the targets.

TAGS       := sqlite_fts5
# Set here so that no step compiles the dependencies a second time with other flags.
export GOFLAGS := -tags=$(TAGS)
export CGO_ENABLED := 1

TOOLS      := $(CURDIR)/.tools
GOFUMPT    := $(TOOLS)/bin/gofumpt-v0.12.0
STATICCHECK := $(TOOLS)/bin/staticcheck-v0.8.2

.DEFAULT_GOAL := help
.PHONY: help cases serve build test check go-test node-test fmt golden crash fuzz fuzz-agui bench buyers soak writers cover figures tools clean compiler

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

serve: build ## build and run on http://127.0.0.1:8000/
	./agentmesh serve $(ARGS)

build: compiler ## build ./agentmesh
	go build -o agentmesh .

test: check go-test fuzz-agui node-test ## everything that CI runs; installs what its tests need

compiler:
	@command -v "$${CC:-cc}" >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 || \
		{ echo "agentmesh needs a C compiler for SQLite: install gcc or clang (Debian: apt-get install gcc libc6-dev)" >&2; exit 1; }
	@command -v go >/dev/null 2>&1 || { echo "agentmesh needs Go: see https://go.dev/doc/install" >&2; exit 1; }

check: compiler tools ## format, import rule, vet, staticcheck
	@unformatted=$$($(GOFUMPT) -l $$(git ls-files '*.go')); \
		if [ -n "$$unformatted" ]; then echo "not gofumpt-formatted (make fmt):"; echo "$$unformatted"; exit 1; fi
	go mod tidy -diff
	go test -count=1 ./app/platform
	go vet ./...
	$(STATICCHECK) ./...

go-test: compiler ## Go tests with the race detector
	go test -race -shuffle=on -timeout 15m ./...

node-test: build ## the page in headless Chromium, and the real protocol clients
	TOOLS="$(TOOLS)" app/interop/run.sh

tools: $(GOFUMPT) $(STATICCHECK) ## install the pinned Go tools into .tools

$(GOFUMPT):
	GOFLAGS= GOBIN=$(TOOLS)/bin go install mvdan.cc/gofumpt@v0.12.0
	@mv $(TOOLS)/bin/gofumpt $@

$(STATICCHECK):
	GOFLAGS= GOBIN=$(TOOLS)/bin go install honnef.co/go/tools/cmd/staticcheck@v0.8.2
	@mv $(TOOLS)/bin/staticcheck $@

fmt: tools ## format the Go code
	$(GOFUMPT) -w $$(git ls-files '*.go')

golden: ## rewrite the golden files
	go test ./app ./agent/orchestrator ./agent/agui ./store/catalogdb ./store/rundb ./store/spandb -run Golden -update

crash: compiler ## kill the program KILLS times (200) as SEED says and judge what is left; MUTANT leaves out a rule
	KILLS=$(or $(KILLS),200) SEED=$(or $(SEED),1) MUTANT=$(MUTANT) go test -count=1 -timeout 90m -v -run '^TestCrash$$' ./app/crash

cases: compiler ## play the 87 conversations of app/testdata/cases through the whole program
	go test ./app -run '^TestCases$$' -count 1 -v -timeout 20m

fuzz-agui: compiler ## look for half a minute for a stream that AG-UI clients refuse
	go test -run '^$$' -fuzz '^FuzzWriter$$' -fuzztime 15s -fuzzminimizetime 10x ./agent/agui
	go test -run '^$$' -fuzz '^FuzzTranslator$$' -fuzztime 15s -fuzzminimizetime 10x ./agent/agui

fuzz: ## run each fuzz target for a minute
	@for t in $$(grep -rlE '^func Fuzz' --include='*_test.go' .); do \
		for f in $$(grep -oE '^func Fuzz[A-Za-z]+' $$t | cut -c6-); do \
			go test -run '^$$' -fuzz "^$$f$$" -fuzztime 60s ./$$(dirname $$t) || exit 1; done; done

bench: ## measure what the journal costs a run, plain and with one tool
	go test -run '^$$' -bench Journal -benchtime 10000x -count 3 ./store/rundb

RUNS    ?= 20000
WAITING ?= 200
ROUNDS  ?= 20
FOR     ?= 30s

buyers: compiler ## fifty people want ten portions at once, ROUNDS times, over TCP
	go test ./app -run '^TestBuyers$$' -count 1 -v -timeout 30m -buyers.rounds=$(ROUNDS)

soak: compiler ## RUNS runs of every kind beside WAITING open questions; what must not grow is printed and checked
	go test ./app -run '^TestSoak$$' -count 1 -v -timeout 4h -soak.runs=$(RUNS) -soak.waiting=$(WAITING)

writers: compiler ## fifty clients write at once FOR a while; nothing may be lost
	go test ./app -run '^TestWriters$$' -count 1 -v -timeout 30m -writers.time=$(FOR)

cover: ## test coverage by package
	go test -cover ./...

figures: build ## measure binary size, start and memory, as the README states them
	docs/measure/figures.sh

clean: ## remove what was built and installed here
	rm -rf agentmesh $(TOOLS)
