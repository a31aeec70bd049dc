export CGO_ENABLED ?= 0

.PHONY: build test race lint bench fmt

build: ## the binary, static
	go build -trimpath -o bin/daybook ./cmd/daybook

test:
	go test ./...

race: ## needs a C compiler
	CGO_ENABLED=1 go test -race -shuffle=on ./...

lint:
	go tool -modfile=internal/tools/go.mod golangci-lint run ./...

fmt:
	go tool -modfile=internal/tools/go.mod golangci-lint fmt ./...

bench: ## prints the rows of docs/benchmarks
	go run ./cmd/loadgen
