package rpc

import (
	"context"
	"io"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// pluginLogger lets go-plugin log into logger. Everything arrives at debug level: what go-plugin calls an error (an
// engine that has exited, say) is reported as an error by the call that meets it.
func pluginLogger(logger *slog.Logger) hclog.Logger {
	l := hclog.NewInterceptLogger(&hclog.LoggerOptions{Output: io.Discard, Level: hclog.Debug})
	l.RegisterSink(logSink{logger})
	return l
}

// logSink is the hclog.SinkAdapter behind pluginLogger.
type logSink struct{ logger *slog.Logger }

func (s logSink) Accept(_ string, _ hclog.Level, message string, arguments ...any) {
	s.logger.Debug("go-plugin: "+message, arguments...)
}

// lowestLevel is the lowest of slog's named levels that logger records, in slog's words.
func lowestLevel(logger *slog.Logger) string {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn} {
		if logger.Enabled(context.Background(), level) {
			return level.String()
		}
	}
	return slog.LevelError.String()
}
