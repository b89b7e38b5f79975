// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tepsbench/teps/internal/must"
)

func weightsOf(t testing.TB, s Source, first, count int64, threads int) []float32 {
	t.Helper()
	weights := make([]float32, count)
	must.Do(Weights(t.Context(), s, 2, 3, weights, first, threads))
	return weights
}

// hashOfFloats returns the SHA-256 of numbers in little endian, in hex.
func hashOfFloats(numbers []float32) string {
	hash := sha256.New()
	for part := range slices.Chunk(numbers, 1<<16) {
		var bytes []byte
		for _, x := range part {
			bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(x))
		}
		_, _ = hash.Write(bytes)
	}
	return fmt.Sprintf("%x", hash.Sum(nil))
}

// The values come from the Graph500 reference, version 3.0.0, as those of kronecker_test.go.
func TestWeightsMatchTheReferenceBitForBit(t *testing.T) {
	for scale, want := range map[int]string{
		10: "199971e6332f459fe9980a9824b2961e9ec6c724118e24549a1c3880d28616b4",
		16: "a81bf9d9ef5300b830ae7c7b801560cee4f3ec71840717bd28fd67b14756f0a0",
		20: "916f9ed9af73ca74d3ff77323f2e586c3d399bb8959478b0920f4ade50f1327c",
	} {
		t.Run(fmt.Sprintf("scale=%d", scale), func(t *testing.T) {
			k := Kronecker{scale, 16, 2, 3}
			skipLong(t, k.Tuples())
			if hash := hashOfFloats(weightsOf(t, k, 0, k.Tuples(), 0)); hash != want {
				t.Errorf("hash %s, want %s", hash, want)
			}
		})
	}
}

// Batches leave tuples with a rejected draw to makeWeight, which draws one number after the other.
func TestWeightsOfBatchesMatchSingleTuples(t *testing.T) {
	for _, scale := range []int{1, 11, 42} {
		k := Kronecker{scale, 16, 5, 1 << 40}
		g, first, count := newGenerator(k), k.Tuples()/3, min(30_001, k.Tuples()-k.Tuples()/3)
		for i, w := range weightsOf(t, k, first, count, 2) {
			if one := g.makeWeight(first + int64(i)); w != one {
				t.Fatalf("scale %d, tuple %d: %v in a batch, %v alone", scale, first+int64(i), w, one)
			}
		}
	}
}

func TestWeightsOfEverySource(t *testing.T) {
	for _, name := range []string{"kron:9", "rmat:9:16:0.57,0.19,0.19", "uniform:1k:9k", "grid2d:70", "star:9k"} {
		s := parse(t, name)
		whole, sum := weightsOf(t, s, 0, s.Tuples(), 1), 0.0
		for _, w := range whole {
			if sum += float64(w); !(w >= 0 && w <= 1) {
				t.Fatalf("%s: a weight is %v", name, w)
			}
		}
		if mean := sum / float64(len(whole)); math.Abs(mean-0.5) > 0.02 {
			t.Errorf("%s: the mean weight is %v", name, mean)
		}
		if part := weightsOf(t, s, 77, 1000, 2); !slices.Equal(part, whole[77:1077]) {
			t.Errorf("%s: a part differs from the whole", name)
		}
		if err := Weights(t.Context(), s, 2, 3, make([]float32, 2), s.Tuples()-1, 1); err == nil {
			t.Errorf("%s: weights beyond the list", name)
		}
	}
	if err := Weights(t.Context(), Kronecker{}, 2, 3, nil, 0, 1); err == nil {
		t.Error("weights of no recipe")
	}
	kron, rmat := Kronecker{9, 16, 2, 3}, parse(t, "rmat:9:16:0.57,0.19,0.19")
	if !slices.Equal(weightsOf(t, kron, 0, 999, 1), weightsOf(t, rmat, 0, 999, 1)) {
		t.Error("rmat with the odds of kron has other weights")
	}
	grid := parse(t, "grid2d:70")
	other := make([]float32, 999)
	err := Weights(t.Context(), grid, 3, 2, other, 0, 1)
	if err != nil || slices.Equal(other, weightsOf(t, grid, 0, 999, 1)) {
		t.Errorf("other seeds, %v: the same weights", err)
	}
}

// Distances are unique, so these are those of every correct search. They come from the reference.
func TestDistancesMatchTheReferenceBitForBit(t *testing.T) {
	for scale, hashes := range map[int]map[Vertex]string{
		10: {
			458: "a755a9b4836fed792b5d11d81b1bf4810cbde8f4d1128a77367bd0669e29bf07",
			214: "be3ca8a2fb773796995c24f73855229050de778405e3ac42ab25dbefa728d5f7",
		},
		16: {
			29348: "a2c2b318d0733f8bd4356fad1ce5aaed01d85033e432370444e045ee32163ca6",
			8064:  "1b209babc7cd4136752a699e9d5d9e55a4a586d3106956c06db1f376998e70be",
		},
	} {
		k := Kronecker{scale, 16, 2, 3}
		if testing.Short() && scale > 10 {
			continue
		}
		g := must.Get(NewWeightedCSR(listOf(t, k), weightsOf(t, k, 0, k.Tuples(), 0), k.Vertices()))
		for root, want := range hashes {
			_, distance, err := g.ShortestPaths(root)
			if hash := hashOfFloats(distance); err != nil || hash != want {
				t.Errorf("scale %d, root %d: %v, hash %s, want %s", scale, root, err, hash, want)
			}
		}
	}
	g, _ := NewWeightedCSR(nil, nil, 1)
	if _, _, err := g.ShortestPaths(1); err == nil {
		t.Error("shortest paths from a root outside the graph")
	}
	if _, err := NewWeightedCSR(make([]Edge, 2), make([]float32, 1), 1); err == nil {
		t.Error("one weight of two tuples")
	}
}
