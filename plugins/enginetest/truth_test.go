// SPDX-License-Identifier: Apache-2.0

package enginetest

import (
	"errors"
	"flag"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tepsbench/teps/graph"
	"github.com/tepsbench/teps/graph/validate"
)

// TestOracleAndValidatorJudgeAlike spoils right answers at random. Two judges that work in different ways must agree,
// or one of them is wrong.
func TestOracleAndValidatorJudgeAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 24).Draw(t, "vertices")
		in := random(n, rapid.IntRange(0, 40).Draw(t, "tuples"), rapid.Uint64().Draw(t, "seed"))
		root := graph.Vertex(rapid.Int64Range(0, n-1).Draw(t, "root"))
		truth, err := NewTruth(in.tuples, in.vertices)
		if err != nil {
			t.Fatal(err)
		}
		parent, _, err := truth.graph.Search(root)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			v := rapid.Int64Range(0, n-1).Draw(t, "changed")
			parent[v] = graph.Vertex(rapid.Int64Range(-2, n).Draw(t, "to"))
		}
		_, verdict := truth.host.Validate(t.Context(), root, parent)
		switch err := truth.Check(t.Context(), root, parent); {
		case err != nil && strings.Contains(err.Error(), "host's validator"):
			t.Fatalf("%v, root %d, parents %v: only the oracle accepts: %v", in.tuples, root, parent, err)
		case err != nil && verdict == nil:
			t.Fatalf("%v, root %d, parents %v: only the validator accepts: %v", in.tuples, root, parent, err)
		}
	})
}

func TestValidatorThatDisagreesWithTheOracleIsReported(t *testing.T) {
	in := path(5)
	truth, err := NewTruth(in.tuples, in.vertices)
	if err != nil {
		t.Fatal(err)
	}
	other := path(5)
	other.tuples = append(edges(0, 3), other.tuples...)
	if truth.host, err = validate.New(other.tuples, 5, 1); err != nil {
		t.Fatal(err)
	}
	var broken *validate.Violation
	if err := truth.Check(t.Context(), 0, []graph.Vertex{0, 0, 1, 2, 3}); !errors.As(err, &broken) {
		t.Errorf("want the validator's violation, got %v", err)
	}
}

// Property tests draw the same cases in every run, so that a change is judged by what it changes. Others are drawn with
// -rapid.seed=0, more of them with -rapid.checks=N.
func init() {
	if err := flag.Set("rapid.seed", "500"); err != nil {
		panic(err)
	}
}
