package reports

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// measure is how a positive quantity lies along an axis: linear from 0, or, when the values span more than a factor of
// 12, by its decimal logarithm. gonum/plot's own LogScale squeezes a plot with axis titles, so the logarithm is taken of
// the values and the axis stays linear, with ticks of its own.
type measure struct {
	log      bool
	min, max float64 // ends of the axis, in values
}

// measureOf fits a measure around values from lowest to highest, both positive.
func measureOf(lowest, highest float64) measure {
	if highest > 12*lowest {
		return measure{log: true, min: lowest / 1.5, max: highest * 1.5}
	}
	return measure{max: highest * 1.08}
}

// at is where a value lies on the axis, in the axis's own coordinates. Values beyond an end lie on it.
func (m measure) at(x float64) float64 {
	x = min(max(x, m.min), m.max)
	if m.log {
		return math.Log10(x)
	}
	return x
}

// fit sets an axis to m and adds what m is to its title.
func (m measure) fit(a *plot.Axis) {
	a.Min, a.Max = m.at(m.min), m.at(m.max)
	a.Tick.Marker = plot.TickerFunc(func(low, high float64) []plot.Tick {
		if m.log {
			return logTicks(low, high)
		}
		return linearTicks(low, high)
	})
	if m.log {
		a.Label.Text += ", log scale"
	}
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
	var ticks []plot.Tick
	for i := int(math.Ceil(low/step - 1e-9)); float64(i)*step <= high*(1+1e-12); i++ {
		value := float64(i) * step
		ticks = append(ticks, plot.Tick{Value: value, Label: strconv.FormatFloat(value, 'f', decimals, 64)})
	}
	return ticks
}

// logTicks are the powers of ten between 10^low and 10^high, with 2 and 5 times them where they are few, and small ticks
// between them unless they are many.
func logTicks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
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
				ticks = append(ticks, plot.Tick{Value: value, Label: label})
			}
		}
	}
	return ticks
}

// powerLabel spells digit times 10^exponent: as a plain number, or with a superscript where numbers are large.
func powerLabel(digit float64, exponent int, superscripts bool) string {
	if !superscripts {
		return strconv.FormatFloat(digit*math.Pow10(exponent), 'f', max(0, -exponent), 64)
	}
	if digit == 1 {
		return "10" + superscript(exponent)
	}
	return strconv.Itoa(int(digit)) + "·10" + superscript(exponent)
}

func superscript(n int) string {
	return strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").
		Replace(strconv.Itoa(n))
}

// scaleTicks are 2^s for each of the scales from low to high; with many of them every second, third, ... is labelled.
func scaleTicks(low, high int) plot.ConstantTicks {
	every := (high-low)/16 + 1
	var ticks plot.ConstantTicks
	for s := low; s <= high; s++ {
		label := ""
		if (s-low)%every == 0 {
			label = "2" + superscript(s)
		}
		ticks = append(ticks, plot.Tick{Value: float64(s), Label: label})
	}
	return ticks
}
