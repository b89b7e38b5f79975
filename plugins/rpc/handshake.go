package rpc

// What host and engine agree on before the first call: a magic cookie in the environment (a protection against running
// an engine by hand, not a secret), the protocol version, gRPC as go-plugin's transport, and mutual TLS with
// certificates made for this one connection. The engine answers on standard output with one line,
//
//	core version | protocol version | network | address | "grpc" | certificate
//
// which go-plugin writes and reads; the host looks at it first, so that a fault in it gets a name (see errors.go).

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/tepsbench/teps/plugins/rpc/internal/enginepb"
)

// ProtocolVersion is the version of engine.proto that this package speaks.
const ProtocolVersion = 1

const (
	// serviceName is what the set of services of a protocol version is called inside go-plugin.
	serviceName = "engine"

	cookieKey   = "TEPS_ENGINE_COOKIE"
	cookieValue = "b6a9a0c1-graph500-breadth-first-search"
	levelKey    = "TEPS_LOG_LEVEL" // lowest level that the host logs, in slog's words
)

// handshake is go-plugin's part of the agreement. Its ProtocolVersion stays 0: versions come from versions below.
func handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{MagicCookieKey: cookieKey, MagicCookieValue: cookieValue}
}

// versions are the protocol versions that one side speaks; go-plugin takes the highest that both do.
func versions(service plugin.Plugin) map[int]plugin.PluginSet {
	return map[int]plugin.PluginSet{ProtocolVersion: {serviceName: service}}
}

// service joins engine.proto to go-plugin, on both sides.
type service struct {
	plugin.NetRPCUnsupportedPlugin
	server *server // the engine's side; nil at the host
}

func (s *service) GRPCServer(_ *plugin.GRPCBroker, registrar *grpc.Server) error {
	enginepb.RegisterEngineServer(registrar, s.server)
	return nil
}

func (s *service) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return enginepb.NewEngineClient(conn), nil
}

// checkHandshake says what is wrong with the first line of an engine's standard output.
func checkHandshake(line string) error {
	parts := strings.Split(strings.TrimSpace(line), "|")
	core, err := strconv.Atoi(parts[0])
	if err != nil || len(parts) < 4 {
		return fmt.Errorf("its first line on standard output is %s instead of the handshake; "+
			"an engine may print nothing there before rpc.Serve: %w", quote(line), ErrHandshake)
	}
	if core != plugin.CoreProtocolVersion {
		return fmt.Errorf("it speaks version %d of go-plugin's handshake, this host %d; rebuild it: %w", core, plugin.CoreProtocolVersion, ErrVersion)
	}
	if version, err := strconv.Atoi(parts[1]); err != nil {
		return fmt.Errorf("its protocol version is %s: %w", quote(parts[1]), ErrHandshake)
	} else if version != ProtocolVersion {
		return fmt.Errorf("it speaks version %d, this host %d; build both from releases that agree: %w", version, ProtocolVersion, ErrVersion)
	}
	if !slices.Contains([]string{"unix", "tcp"}, parts[2]) {
		return fmt.Errorf("it listens on the unknown network %s: %w", quote(parts[2]), ErrHandshake)
	}
	if len(parts) < 5 || parts[4] != string(plugin.ProtocolGRPC) {
		return fmt.Errorf("it does not offer gRPC, the only transport here; serve it with rpc.Serve: %w", ErrHandshake)
	}
	if len(parts) < 6 || parts[5] == "" {
		return fmt.Errorf("it sent no certificate (PLUGIN_CLIENT_CERT in its environment asks for one): %w", ErrHandshake)
	}
	return nil
}

// quote shows text of unknown contents and length.
func quote(text string) string {
	const longest = 200
	if len(text) > longest {
		return strconv.Quote(text[:longest]) + "..."
	}
	return strconv.Quote(text)
}

// errNoHandshake ends go-plugin's wait for a first line that the host has refused.
var errNoHandshake = errors.New("rpc: no handshake")
