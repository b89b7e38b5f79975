// Command plain is an engine without a loop of its own.
package main

import (
	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/rpc"
	"github.com/tepsbench/teps/serial"
)

// plain has the methods of plugins.Engine and no others.
type plain struct{ plugins.Engine }

func main() { rpc.Serve(plain{serial.New()}) }
