export CGO_ENABLED ?= 0

# `make engines test` starts all engines, and a test that lacks one fails;
# `make engines bench` measures the distributed size on them too.
ifneq ($(filter engines,$(MAKECMDGOALS)),)
export DAYBOOK_REQUIRE ?= history,schemas,postgres,nats,elasticsearch,opensearch,chromium
test race bench: | engines
endif

# The URLs of the engines that run, for the tests.
with_engines = set -a; eval "$$(deploy/engines/status 2>/dev/null)"; set +a;

.PHONY: build release test race lint bench pictures fmt engines engines-down

build: ## the binary, static
	go build -trimpath -o bin/daybook ./cmd/daybook

release: ## static binaries of all platforms, checksums, bills of materials
	deploy/release

test:
	$(with_engines) go test ./...

race: ## needs a C compiler
	$(with_engines) CGO_ENABLED=1 go test -race -gcflags=modernc.org/sqlite/lib=-race=false -gcflags=github.com/klauspost/compress/...=-race=false ./...

engines: ## servers for tests, see deploy/engines/README.md
	deploy/engines/up

engines-down:
	deploy/engines/down

lint:
	go tool -modfile=internal/tools/go.mod golangci-lint run --allow-parallel-runners ./...

fmt:
	go tool -modfile=internal/tools/go.mod golangci-lint fmt ./...

bench: ## prints the rows of docs/benchmarks
	$(with_engines) go run ./cmd/loadgen $(BENCH)

PICTURES ?= bin/pictures
pictures: ## of every view, in PICTURES; ONLY=en/month/360/dark takes some
	$(with_engines) go test ./cmd/daybook -count=1 -timeout 1h -run 'TestPictures/$(ONLY)' -pictures $(abspath $(PICTURES))
