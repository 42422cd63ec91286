# smsdesk. `make` alone lists what can be asked of it.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

export CGO_ENABLED := 0
export PLAYWRIGHT_DRIVER_PATH ?= $(CURDIR)/.cache/playwright
export PLAYWRIGHT_NODEJS_PATH ?= $(shell command -v node)

TOOL := go tool -modfile=tools.mod
TALLY := awk -v ci="$${CI:-}" -f .ci/tally.awk
GENERATED := { grep -rl --include='*.go' '^// Code generated .* DO NOT EDIT' storage views || true; } | sort | xargs -r sha256sum
SOURCES := { find views storage \( -name '*.templ' -o -name '*.sql' \); ls sqlc.yaml tools.mod tools.sum; } | sort | xargs sha256sum

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: go
go:
	@command -v go >/dev/null || { echo "smsdesk is built with Go 1.26 or newer, and there is no go on the PATH. Install it from the Go project's download page, then run make again." >&2; exit 1; }

.PHONY: deps
deps: ## install what the browser tests need (as root; otherwise says the command)
	@.ci/deps

.PHONY: build
build: go ## build bin/smsdesk
	@go build -ldflags "-X main.linked=$$(git describe --tags --always --dirty 2>/dev/null || true)" -o bin/smsdesk ./cmd/smsdesk

# 40 MiB
RELEASE_MOST := 41943040
.PHONY: release
release: go ## build bin/release/smsdesk, stripped, and print its size
	@go build -trimpath -ldflags "-s -w -X main.linked=$$(git describe --tags --always --dirty 2>/dev/null || true)" -o bin/release/smsdesk ./cmd/smsdesk
	@size="$$(wc -c < bin/release/smsdesk)"; echo "measured: the release is $$size bytes, at most $(RELEASE_MOST) may be"; \
	((size <= $(RELEASE_MOST)))

.PHONY: run
run: build ## build and serve at http://127.0.0.1:8080, with the sandbox
	@exec bin/smsdesk serve --listen 127.0.0.1:8080 --data data

.PHONY: generate
generate: go ## write the generated code again (templ, sqlc)
	@$(TOOL) templ generate 2>&1 | { grep -v '(✓)' || true; }
	@$(TOOL) sqlc generate

# Unit tests make and sync thousands of small files: in memory, where there is
# room for that. Everything has been vetted by then, and the longest packages
# begin first, so that none of them is what is waited for in the end. Code is
# generated only where something changed since the last time: Go keeps a test's
# result only as long as no file that it opened was written.
.PHONY: check
check: export TMPDIR := $(or $(shell .ci/memory),$(TMPDIR),/tmp)
check: go ## generated code, format, vet, staticcheck, unit and storage tests
	@echo "generated code"
	@mkdir -p .cache; before="$$($(GENERATED))"; \
	if [ "$$($(SOURCES))$$before" = "$$(cat .cache/generated 2>/dev/null)" ]; then exit 0; fi; \
	$(MAKE) --no-print-directory generate; after="$$($(GENERATED))"; \
	printf '%s' "$$($(SOURCES))$$after" > .cache/generated; \
	if [ "$$before" != "$$after" ]; then \
		echo "The generated code was not what its sources say. It has been written again; commit these files:" >&2; \
		diff <(echo "$$before") <(echo "$$after") | awk '/^[<>]/ { print "  " $$3 }' | sort -u >&2; exit 1; \
	fi
	@echo "format"
	@unformatted="$$(gofmt -l cmd e2e internal static storage views web)"; \
	if [ -n "$$unformatted" ]; then echo "Run gofmt -w on: $$unformatted" >&2; exit 1; fi
	@echo "vet"
	@go vet ./...
	@echo "staticcheck"
	@$(TOOL) staticcheck ./...
	@echo "unit and storage tests"
	@mkdir -p .cache/tally
	@go test -v -vet=off -timeout 10m ./storage ./internal/workers ./internal/desk ./web \
		$$(go list ./... | grep -vE '^smsdesk/(e2e|storage|internal/workers|internal/desk|web)$$') 2>&1 | $(TALLY) -v out=.cache/tally/check

.PHONY: e2e
e2e: go deps ## drive the built program through whole stories, in a browser and by kill -9
	@echo "stories"
	@mkdir -p .cache/tally
	@go test -v -count=1 -timeout 30m -parallel 100 ./e2e/... 2>&1 | $(TALLY) -v out=.cache/tally/e2e

.PHONY: fuzz
fuzz: export FUZZTIME ?= 5s
fuzz: go ## look for input that breaks the readers, FUZZTIME each (5s; make soak: 60s)
	@echo "fuzzing, $$FUZZTIME each"
	@.ci/fuzz

.PHONY: test
test: deps check fuzz e2e ## everything; in CI a skipped test is a failure
	@awk '{ p += $$1; f += $$2; s += $$3 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s }' .cache/tally/check .cache/tally/e2e

.PHONY: soak
soak: go ## search further than the gate does: larger models, more seeds, longer fuzzing (hours)
	@FUZZTIME=60s $(MAKE) --no-print-directory fuzz
	@SMSDESK_SOAK=1 go test -v -count=1 -timeout 12h -run '^(TestModel|TestSimulation|TestEveryFault|TestContactsAnswer)' ./storage ./internal/workers $(SOAK)
	@SMSDESK_SOAK=1 go test -v -count=1 -timeout 1h \
		-run '^(TestAnOutageDoubtsNothing|TestBulkGoesOutAsPlanned|TestKillLoop.*|TestMemoryOfLargeLists)$$' ./e2e $(SOAK)

.PHONY: mutants
mutants: go ## break one rule at a time: a test of its own package must notice each (WORD=journal: some)
	@go run .ci/mutate.go $(WORD)

.PHONY: bench
bench: go ## measure, each figure beside a ceiling, a peer or a lower bound (needs sqlite3)
	@.ci/deps bench
	@$(MAKE) --no-print-directory release
	@go build -o bin/bench ./cmd/bench
	@bin/bench $(BENCH)
	@go test -run '^$$' -bench . -benchmem ./internal/...

.PHONY: vuln
vuln: go ## look for known vulnerabilities (needs the vulnerability database)
	@go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

.PHONY: clean
clean: ## remove what was built; the data folder stays
	@rm -rf bin .cache
