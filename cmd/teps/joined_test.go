package main

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestJoinedErrorsComeApartAndWrappedOnesDoNot(t *testing.T) {
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	wrapped := fmt.Errorf("both: %w, %w", b, c)
	got := joined(errors.Join(errors.Join(errReported, a), nil, errors.Join(wrapped)))
	if want := []error{errReported, a, wrapped}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := joined(a); !slices.Equal(got, []error{a}) {
		t.Errorf("got %q", got)
	}
}
