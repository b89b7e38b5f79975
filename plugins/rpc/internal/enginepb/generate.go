// Package enginepb is generated from engine.proto and committed, so that building teps needs no protoc.
//
// Regenerate with `go generate ./plugins/rpc/...` after any change of engine.proto. It needs protoc (written with
// Debian 12's protobuf-compiler, 3.21.12, whose version ends up in the header of the output) and installs the two Go
// plugins, at the versions below, into the folder .bin, which is deleted afterwards. `go generate ./plugins/rpc/... &&
// git diff --exit-code -- plugins/rpc/internal/enginepb` checks that the committed code is current.
package enginepb

//go:generate sh -c "GOBIN=\"$(pwd)/.bin\" go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12"
//go:generate sh -c "GOBIN=\"$(pwd)/.bin\" go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2"
//go:generate sh -c "PATH=\"$(pwd)/.bin:$PATH\" protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative engine.proto"
//go:generate rm -r .bin
