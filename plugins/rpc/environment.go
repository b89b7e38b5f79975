package rpc

import (
	"slices"
	"strings"
)

// environment is what an engine's process sees: the whole environment of the host, because drivers, MPI, OpenMP and
// loaders are set up by variables that nobody can list (CUDA_VISIBLE_DEVICES, LD_LIBRARY_PATH, OMPI_MCA_..., HOME);
// then what the program asks for; then go-plugin's variables. Those that go-plugin has set for this process, should it
// be an engine itself, are left out. Later values win.
func environment(host, program, plugin []string, level string) []string {
	own := []string{
		cookieKey, levelKey,
		"PLUGIN_MIN_PORT", "PLUGIN_MAX_PORT", "PLUGIN_PROTOCOL_VERSIONS", "PLUGIN_CLIENT_CERT",
		"PLUGIN_UNIX_SOCKET_DIR", "PLUGIN_UNIX_SOCKET_GROUP", "PLUGIN_MULTIPLEX_GRPC",
	}
	inherited := slices.DeleteFunc(slices.Clone(host), func(variable string) bool {
		key, _, _ := strings.Cut(variable, "=")
		return slices.Contains(own, key)
	})
	return slices.Concat(inherited, []string{levelKey + "=" + level}, program, plugin)
}
