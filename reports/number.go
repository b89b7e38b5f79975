package reports

import (
	"math"
	"strconv"
	"strings"

	"github.com/tepsbench/teps/plugins"
)

// missing stands wherever a number or a name was not recorded, or is not a number.
const missing = "–"

// significant formats x with that many significant digits and no exponent: 0.01234, 12.3, 1234.
func significant(x float64, digits int) string {
	if !finite(x) {
		return missing
	}
	if x == 0 {
		return "0"
	}
	if a := math.Abs(x); a < 1e-6 || a >= 1e9 {
		return strconv.FormatFloat(x, 'g', digits, 64)
	}
	// Rounding first: 9.9996 has one digit before the point, but 10.00 is what is shown.
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	if err != nil {
		return missing
	}
	decimals := digits - 1 - int(math.Floor(math.Log10(math.Abs(rounded))))
	return strconv.FormatFloat(rounded, 'f', max(decimals, 0), 64)
}

// gteps formats a rate in tuples a second as GTEPS.
func gteps(teps float64) string { return significant(teps/1e9, 4) }

// duration formats seconds with the unit that suits it. Negative and not finite is missing.
func duration(seconds float64) string {
	switch {
	case !finite(seconds) || seconds < 0:
		return missing
	case seconds == 0:
		return "0 s"
	case seconds < 1e-3:
		return significant(seconds*1e6, 4) + " µs"
	case seconds < 1:
		return significant(seconds*1e3, 4) + " ms"
	}
	return significant(seconds, 4) + " s"
}

// measured is duration for a time whose zero means that nobody took it.
func measured(seconds float64) string {
	if seconds == 0 {
		return missing
	}
	return duration(seconds)
}

// bytesText formats a size in binary units; zero and less is missing.
func bytesText(n int64) string {
	if n <= 0 {
		return missing
	}
	x, unit := float64(n), 0
	for x >= 1024 && unit < 5 {
		x, unit = x/1024, unit+1
	}
	if unit == 0 {
		return strconv.FormatInt(n, 10) + " B"
	}
	return significant(x, 3) + " " + [...]string{"", "KiB", "MiB", "GiB", "TiB", "PiB"}[unit]
}

// integer formats n with commas between thousands.
func integer(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, d := range []byte(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(d)
	}
	return sign + b.String()
}

// optional is integer for a number that may be missing.
func optional(n *int64) string {
	if n == nil {
		return missing
	}
	return integer(*n)
}

// counted is integer for what an engine may have counted.
func counted(c plugins.Count) string {
	n, known := c.Get()
	if !known {
		return missing
	}
	return integer(n)
}

// positive is integer for a number whose zero means that it is not known.
func positive(n int64) string {
	if n <= 0 {
		return missing
	}
	return integer(n)
}
