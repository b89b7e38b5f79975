// SPDX-License-Identifier: Apache-2.0

package plugins

import "errors"

// NewEnding is New for an engine that ends something else when it is closed, such as MPI.
func NewEnding(describe func() (Description, error), build Build, end func() error) Engine {
	return ending{&adapter{describe: describe, build: build}, end}
}

type ending struct {
	*adapter
	end func() error
}

func (e ending) Close() error { return errors.Join(e.adapter.Close(), e.end()) }
