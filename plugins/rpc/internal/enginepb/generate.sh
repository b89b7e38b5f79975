#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Generates engine.pb.go and engine_grpc.pb.go; see generate.go.
set -eu
bin=$(pwd)/.bin
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOBIN=$bin go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
PATH="$bin:$PATH" protoc --go_out=. --go_opt=paths=source_relative \
	--go-grpc_out=. --go-grpc_opt=paths=source_relative engine.proto
