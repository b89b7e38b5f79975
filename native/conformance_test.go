//go:build cgo

package native

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// compile makes a library of a C file.
func compile(t testing.TB, source string, flags ...string) string {
	t.Helper()
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skipf("a C compiler is needed: %v", err)
	}
	library := filepath.Join(t.TempDir(), "lib"+filepath.Base(source)+".so")
	args := append([]string{"-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", ".", "-o", library, source}, flags...)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", source, err, out)
	}
	return library
}

func TestTheExampleInCConforms(t *testing.T) {
	library := compile(t, filepath.Join("..", "examples", "c", "mine.c"))
	enginetest.Test(t, func(context.Context) (plugins.Engine, error) { return New(library), nil })
}
