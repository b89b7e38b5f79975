package rpc

import _ "embed"

//go:embed internal/enginepb/engine.proto
var protocol string

// Proto is the text of engine.proto, for engines in other languages.
func Proto() string { return protocol }
