package main

import (
	"context"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// The whole conformance suite, inside of this process: quicker than teps conform, and with a debugger.
func TestConformance(t *testing.T) {
	enginetest.Test(t, func(context.Context) (plugins.Engine, error) { return engine(), nil })
}
