package rpc

import (
	"log/slog"

	"github.com/tepsbench/teps/internal/child"
)

// output logs the lines that an engine prints and keeps the last ones for the message about a crash.
type output struct {
	logger *slog.Logger
	tail   *child.Tail
}

func (o *output) line(line []byte, source string) {
	o.tail.Add(string(line))
	o.logger.Info(string(line), "from", source)
}
