// SPDX-License-Identifier: Apache-2.0

// Package must is for tests: it has the conditions that nearly every test repeats.
package must

import (
	"errors"
	"strings"
)

// Get returns the value of a call that does not fail. It panics for an error, which ends a test, too.
func Get[T any](value T, err error) T {
	Do(err)
	return value
}

// Get2 is Get for a call with two values.
func Get2[T, U any](value T, other U, err error) (T, U) {
	Do(err)
	return value, other
}

// Do panics for errors.
func Do(errs ...error) {
	if err := errors.Join(errs...); err != nil {
		panic(err)
	}
}

// Err returns the error of a call with a value.
func Err[T any](_ T, err error) error { return err }

// Fail reports an error that is missing, or whose text does not contain a word. t is a testing.TB or a rapid.T.
func Fail(t interface {
	Helper()
	Errorf(format string, args ...any)
}, err error, words ...string) {
	t.Helper()
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("got the error %v, want %q", err, word)
		}
	}
}
