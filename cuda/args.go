package cuda

import (
	"math"
	"unsafe"
)

// arguments of a kernel, 8 bytes each: the binding copies so many from every pointer, so kernels take no narrower ones.
type arguments struct {
	values   [12]uint64
	pointers [12]unsafe.Pointer
	n        int
}

// pack makes a the given arguments and returns pointers to them. They stay valid until the next pack.
func (a *arguments) pack(values ...uint64) []unsafe.Pointer {
	a.n = copy(a.values[:], values)
	if a.n < len(values) {
		panic("cuda: a kernel with more arguments than arguments holds")
	}
	for i := range a.n {
		a.pointers[i] = unsafe.Pointer(&a.values[i])
	}
	return a.pointers[:a.n]
}

// floats puts two 32-bit numbers into an argument, the first one low.
func floats(low, high float64) uint64 {
	return uint64(math.Float32bits(float32(low))) | uint64(math.Float32bits(float32(high)))<<32
}
