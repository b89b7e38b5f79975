// SPDX-License-Identifier: Apache-2.0

//go:build unix

package regular

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tepsbench/teps/internal/must"
)

func TestReadRefusesWhatIsNotARegularFileOfItsSize(t *testing.T) {
	const limit = 1 << 20
	dir := t.TempDir()
	pipe, file, socket := filepath.Join(dir, "pipe"), filepath.Join(dir, "file"), filepath.Join(dir, "socket")
	link := filepath.Join(dir, "link")
	must.Do(syscall.Mkfifo(pipe, 0o600))
	if listener, err := net.Listen("unix", socket); err == nil {
		defer listener.Close()
	}
	must.Do(os.Symlink(file, link))
	for _, name := range []string{pipe, dir, "/dev/zero", "/dev/null"} {
		must.Is(t, must.Err(Read(name, limit)), ErrRefused)
	}
	if _, err := Read(socket, limit); err == nil {
		t.Error("a socket was read")
	}
	must.Is(t, must.Err(Read(file, limit)), fs.ErrNotExist)
	for _, c := range []struct {
		size int
		want error
	}{{0, nil}, {limit, nil}, {limit + 1, ErrRefused}} {
		must.Do(os.WriteFile(file, make([]byte, c.size), 0o600))
		data, err := Read(link, limit)
		if !errors.Is(err, c.want) || err == nil && len(data) != c.size {
			t.Errorf("%d bytes: got %d bytes and %v, want %v", c.size, len(data), err, c.want)
		}
	}
}
