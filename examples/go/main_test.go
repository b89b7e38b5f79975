// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"

	"github.com/tepsbench/teps/plugins"
	"github.com/tepsbench/teps/plugins/enginetest"
)

// The whole conformance suite inside this process: faster than teps conform, and it works with a debugger.
func TestConformance(t *testing.T) {
	enginetest.Test(t, func(context.Context) (plugins.Engine, error) { return plugins.New(describe, build), nil })
}
