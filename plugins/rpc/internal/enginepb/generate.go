// SPDX-License-Identifier: Apache-2.0

// Package enginepb is generated from engine.proto and committed, so that building teps does not need protoc.
//
// Regenerate it with `go generate ./plugins/rpc/...` after changing engine.proto. That needs protoc 3.21.12 (Debian
// 12's protobuf-compiler; its version appears in the output) and installs the two Go plugins into .bin, which it then
// deletes. `go generate ./plugins/rpc/... && git diff --exit-code -- plugins/rpc/internal/enginepb` checks the
// committed code.
package enginepb

//go:generate sh generate.sh
