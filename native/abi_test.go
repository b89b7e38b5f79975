//go:build cgo

package native

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// A library that was compiled with the first teps_engine.h, kept as it was, still conforms.
func TestTheLibraryOfVersion1StillRuns(t *testing.T) {
	library := compile(t, filepath.Join("testdata", "abi1", "mine.c"))
	enginetest.Test(t, func(context.Context) (plugins.Engine, error) { return New(library), nil })
}
