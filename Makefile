# The usual targets. Everything but cuda needs nothing but Go.
.PHONY: build test check cuda clean

# In a clone programs name their commit, whatever GOFLAGS says, and so do their records.
VCS := $(if $(wildcard .git/HEAD),-buildvcs=true,)

build: ## the program teps, here
	go build $(VCS) ./cmd/teps

test: ## all tests that need nothing but Go
	go test ./...

check: ## everything that must pass before a change lands; installs tools on Debian
	bash .ci/run

cuda: ## the engines for NVIDIA GPUs, here; needs a CUDA toolkit
	bash cuda/build.sh

clean:
	rm -f teps teps-engine-cuda teps-engine-cuda-literature teps-host-cuda
