// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"

	"github.com/tepsbench/teps/reports"
)

// ticks are the ticks of an axis: its own, or round numbers.
func ticks(a reports.Axis) plot.Ticker {
	if a.Ticks == nil {
		if a.Log {
			return plot.TickerFunc(logTicks)
		}
		return plot.TickerFunc(linearTicks)
	}
	var own plot.ConstantTicks
	for _, t := range a.Ticks {
		own = append(own, plot.Tick{Value: position(a, t.At), Label: t.Label})
	}
	return own
}

// linearTicks are five to eight round numbers: steps of 1, 2 or 5 times a power of ten.
func linearTicks(low, high float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/5)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*factor) <= 8 {
			step *= factor
			break
		}
	}
	decimals := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	var out []plot.Tick
	for i := int(math.Ceil(low/step - 1e-9)); float64(i)*step <= high*(1+1e-12); i++ {
		value := float64(i) * step
		out = append(out, plot.Tick{Value: value, Label: strconv.FormatFloat(value, 'f', decimals, 64)})
	}
	return out
}

// logTicks are the powers of ten between 10^low and 10^high, with 2 and 5 times them where they are few, and small
// ticks between them unless they are many.
func logTicks(low, high float64) []plot.Tick {
	var out []plot.Tick
	for decade := math.Floor(low); decade <= high; decade++ {
		for digit := 1.0; digit <= 9; digit++ {
			value := decade + math.Log10(digit)
			if value < low-1e-9 || value > high+1e-9 {
				continue
			}
			label := ""
			if digit == 1 || high-low < 2.2 && (digit == 2 || digit == 5) {
				label = powerLabel(digit, int(decade), high > 4)
			}
			if label != "" || high-low < 4 {
				out = append(out, plot.Tick{Value: value, Label: label})
			}
		}
	}
	return out
}

// powerLabel writes digit times 10^exponent: as a plain number, or as a power where numbers are large.
func powerLabel(digit float64, exponent int, power bool) string {
	if !power {
		return strconv.FormatFloat(digit*math.Pow10(exponent), 'f', max(0, -exponent), 64)
	}
	return strings.TrimPrefix(strconv.Itoa(int(digit))+"·", "1·") + "10" + reports.Superscript(exponent)
}

// position is the place of a value in the coordinates of the axis. Values beyond an end lie on it.
func position(a reports.Axis, x float64) float64 {
	x = min(max(x, a.Min), a.Max)
	if a.Log {
		return math.Log10(x)
	}
	return x
}
