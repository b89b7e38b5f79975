// SPDX-License-Identifier: Apache-2.0

package rpc

// Before the first call, host and engine agree on a cookie in the environment, the protocol version, and mutual TLS
// with certificates made for this connection. The cookie is not a secret; an engine that is started by hand does not
// have it. The engine prints one line on standard output, which go-plugin writes and reads:
//
//	core version | protocol version | network | address | "grpc" | certificate

import (
	"context"
	_ "embed"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// ProtocolVersion is the version of engine.proto that this package implements.
const ProtocolVersion = 1

//go:embed internal/enginepb/engine.proto
var protocol string

// Proto returns the text of engine.proto, for engines in other languages.
func Proto() string { return protocol }

const (
	serviceName = "engine" // go-plugin's name for the services of a protocol version
	cookieKey   = "TEPS_ENGINE_COOKIE"
	cookieValue = "b6a9a0c1-graph500-breadth-first-search"
)

func handshakeConfig() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{MagicCookieKey: cookieKey, MagicCookieValue: cookieValue}
}

// versions are the protocol versions that one side implements. go-plugin takes the highest common one.
func versions(service plugin.Plugin) map[int]plugin.PluginSet {
	return map[int]plugin.PluginSet{ProtocolVersion: {serviceName: service}}
}

// service connects engine.proto with go-plugin. The host makes its client without go-plugin.
type service struct {
	plugin.NetRPCUnsupportedPlugin
	server enginepb.EngineServer // nil in the host
}

func (s *service) GRPCServer(_ *plugin.GRPCBroker, registrar *grpc.Server) error {
	enginepb.RegisterEngineServer(registrar, s.server)
	return nil
}

func (s *service) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, nil
}

// checkHandshake explains errors in the first line of an engine's standard output.
func checkHandshake(line string) error {
	parts := strings.Split(line, "|")
	core, err := strconv.Atoi(parts[0])
	if err != nil || len(parts) < 4 {
		return fmt.Errorf("%w: its first line on standard output is not the handshake but %.200q; "+
			"an engine must print nothing before rpc.Serve", ErrHandshake, line)
	}
	if core != plugin.CoreProtocolVersion || parts[1] != strconv.Itoa(ProtocolVersion) {
		return fmt.Errorf("%w: it implements version %s of the protocol (go-plugin: %d), teps version %d (go-plugin: %d); "+
			"build both from the same release",
			ErrHandshake, parts[1], core, ProtocolVersion, plugin.CoreProtocolVersion)
	}
	if len(parts) < 6 || parts[4] != string(plugin.ProtocolGRPC) || parts[5] == "" {
		return fmt.Errorf("%w: its handshake %.200q offers no gRPC with a certificate; use rpc.Serve", ErrHandshake, line)
	}
	// Another machine cannot map the shared memory, and the host must not send it calls.
	host, _, _ := net.SplitHostPort(parts[3])
	if loopback := net.ParseIP(host); parts[2] != "unix" && (parts[2] != "tcp" || !loopback.IsLoopback()) {
		return fmt.Errorf("%w: its handshake names the address %.200q; want a Unix socket, or TCP on 127.0.0.1",
			ErrHandshake, parts[2]+" "+parts[3])
	}
	return nil
}

// environment returns the environment of an engine's process: that of the host, because drivers, MPI, OpenMP and
// loaders need unknown variables, and go-plugin's variables, without those of an outer host.
func environment(host, plugin []string) []string {
	inherited := slices.DeleteFunc(slices.Clone(host), func(variable string) bool {
		return strings.HasPrefix(variable, cookieKey+"=") || strings.HasPrefix(variable, "PLUGIN_")
	})
	return slices.Concat(inherited, plugin)
}
