// SPDX-License-Identifier: Apache-2.0

package units

import (
	"math"
	"testing"
	"time"
)

func TestSignificant(t *testing.T) {
	for _, c := range []struct {
		x      float64
		digits int
		want   string
	}{
		{0, 4, "0"}, {
			0.012346, 4, "0.01235",
		}, {9.9996, 4, "10.00"}, {99.99, 4, "99.99"}, {1234.5, 4, "1234"}, {-1.25, 3, "-1.25"},
		{123456, 4, "123500"}, {1e9, 4, "1e+09"}, {1.5e-7, 4, "1.5e-07"}, {math.NaN(), 4, Missing}, {math.Inf(1), 4, Missing},
	} {
		if got := Significant(c.x, c.digits); got != c.want {
			t.Errorf("Significant(%g, %d) = %q, want %q", c.x, c.digits, got, c.want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0 s", 1.5e-5: "15.00 µs", 2.5e-3: "2.500 ms", 0.25: "250.0 ms", 12.345: "12.35 s",
		-1: Missing, math.Inf(1): Missing,
	} {
		if got := Seconds(x); got != want {
			t.Errorf("Seconds(%g) = %q, want %q", x, got, want)
		}
	}
	if got, want := Duration(90*time.Second), "90.00 s"; got != want {
		t.Errorf("Duration = %q, want %q", got, want)
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		-1: Missing, 0: Missing, 512: "512 B", 1024: "1.00 KiB", 3 << 19: "1.50 MiB", 100 * GiB: "100 GiB",
		1 << 50: "1.00 PiB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestInteger(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := Integer(n); got != want {
			t.Errorf("Integer(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{5, 1, 3}, 3}, {[]float64{4, 1, 2, 10}, 3}} {
		if got := Median(c.x); got != c.want {
			t.Errorf("Median(%v) = %g, want %g", c.x, got, c.want)
		}
	}
	if got := Median([]time.Duration{4, 2}); got != 3 {
		t.Errorf("Median of durations = %v, want 3ns", got)
	}
}
