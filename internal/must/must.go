// SPDX-License-Identifier: Apache-2.0

// Package must is for tests: it has the conditions that nearly every test repeats.
package must

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "pgregory.net/rapid" // which has the flag
)

// Property tests draw the same cases in every run, so that a change is judged by what it changes. -rapid.seed=0 draws
// others, and -rapid.checks=N more of them.
func init() { Do(flag.Set("rapid.seed", "500")) }

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

// reporter is a testing.TB or a rapid.T.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// Fail reports an error that is missing, or whose text does not contain a word.
func Fail(t reporter, err error, words ...string) {
	t.Helper()
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("got the error %v, want %q", err, word)
		}
	}
}

// Is reports an error that does not wrap another one, or whose text does not contain a word.
func Is(t reporter, err, wrapped error, words ...string) {
	t.Helper()
	if !errors.Is(err, wrapped) {
		t.Errorf("got the error %v, want %v", err, wrapped)
	}
	Fail(t, err, words...)
}

// Equal reports a value that is not the wanted one. about says what the value is of.
func Equal[T any](t reporter, got, want T, about ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: got %+v (-want +got):\n%s", strings.TrimSpace(fmt.Sprintln(about...)), got, diff)
	}
}

// Ends waits until a process has ended or is a zombie, and reports whether that happened within a minute.
func Ends(pid int) bool {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ") {
			return true
		}
	}
	return false
}
