//go:build !cuda

package cuda

import "github.com/tepsbench/teps/plugins"

// New returns an engine that says what is missing: this program was built without CUDA.
func New() plugins.Engine {
	return &absent{why: "this program was built without CUDA; build it where a CUDA toolkit is: bash cuda/build.sh"}
}
