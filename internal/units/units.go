// SPDX-License-Identifier: Apache-2.0

// Package units formats quantities for people and takes medians.
package units

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// Binary units, in bytes.
const (
	KiB int64 = 1 << 10
	MiB int64 = 1 << 20
	GiB int64 = 1 << 30
)

// Missing stands for a value that was not measured or is not a number.
const Missing = "–"

// Significant formats x with the given number of significant digits, without an exponent where that is readable:
// 0.01234, 12.30, 1234. An infinite x or NaN is Missing.
func Significant(x float64, digits int) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return Missing
	}
	if x == 0 {
		return "0"
	}
	if a := math.Abs(x); a < 1e-6 || a >= 1e9 {
		return strconv.FormatFloat(x, 'g', digits, 64)
	}
	// Round first: 9.9996 has one digit before the point, but rounds to 10.00.
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64) // always well-formed
	decimals := digits - 1 - int(math.Floor(math.Log10(math.Abs(rounded))))
	return strconv.FormatFloat(rounded, 'f', max(decimals, 0), 64)
}

// Percent formats a share as a percentage with the given number of significant digits.
func Percent(share float64, digits int) string { return Significant(100*share, digits) + " %" }

// Seconds formats a time in seconds with four digits and a suitable unit: 2.5 ms, 12.34 s. A negative one is Missing.
func Seconds(s float64) string {
	switch {
	case math.IsNaN(s) || s < 0 || math.IsInf(s, 0):
		return Missing
	case s == 0:
		return "0 s"
	case s < 1e-3:
		return Significant(s*1e6, 4) + " µs"
	case s < 1:
		return Significant(s*1e3, 4) + " ms"
	}
	return Significant(s, 4) + " s"
}

// Duration is Seconds for a time.Duration.
func Duration(d time.Duration) string { return Seconds(d.Seconds()) }

// Bytes formats a size with three digits and a binary unit: 512 B, 1.5 MiB. A size of 0 or less is Missing.
func Bytes(n int64) string {
	if n <= 0 {
		return Missing
	}
	if n < KiB {
		return strconv.FormatInt(n, 10) + " B"
	}
	x, unit := float64(n)/1024, 0
	for ; x >= 1024 && unit < 4; unit++ {
		x /= 1024
	}
	return Significant(x, 3) + " " + [...]string{"KiB", "MiB", "GiB", "TiB", "PiB"}[unit]
}

// Integer formats n with a comma between thousands.
func Integer(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for end := len(digits) - 3; end > 0 && digits[end-1] != '-'; end -= 3 {
		digits = digits[:end] + "," + digits[end:]
	}
	return digits
}

// Median returns the middle value of x, or the mean of the two in the middle; 0 if x is empty. It leaves x as it is.
func Median[T ~int | ~int64 | ~float64](x []T) T {
	if len(x) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(x))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
