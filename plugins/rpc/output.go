package rpc

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// maxOutput is how many bytes of output are kept in a file.
const maxOutput = 16 << 20

// output is a file for the lines that engines print. It is created by the first line.
type output struct {
	mu   sync.Mutex
	path string // empty: lines are not kept
	file *os.File
	left int // bytes until the file is full
}

// KeepOutput appends what engines print from now on to the file at path, up to 16 MiB: each line with the time, the
// engine's name, and stdout or stderr. The file is created when an engine prints something. An empty path ends it.
func (h *Host) KeepOutput(path string) {
	o := &h.output
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file != nil {
		o.file.Close()
	}
	o.path, o.file, o.left = path, nil, maxOutput
}

// add writes a line. After an error, which it logs, the rest is not kept.
func (o *output) add(logger *slog.Logger, engine, source, line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.path == "" {
		return
	}
	text := fmt.Sprintf("%s %s %s: %s\n", time.Now().Format("15:04:05.000"), engine, source, printable(line))
	var err error
	if o.file == nil {
		o.file, err = os.OpenFile(o.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	}
	if o.left -= len(text); o.left < 0 {
		text = fmt.Sprintf("more than %d MiB: the rest is not kept\n", maxOutput>>20)
	}
	if err == nil {
		_, err = o.file.WriteString(text)
	}
	if err != nil {
		logger.Warn("rpc: what engines print is not kept", "error", err)
	}
	if err != nil || o.left < 0 {
		o.path = ""
	}
}
