package power

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// What a meter reads says nothing of how exact it is; its data sheet does. Whoever asks for a meter can state that: 2% behind
// an @ after the scope.

// parseError takes a relative error in per cent, 2% or 0.5%.
func parseError(text string) (float64, error) {
	number, isPercent := strings.CutSuffix(strings.TrimSpace(text), "%")
	percent, err := strconv.ParseFloat(number, 64)
	if err != nil || !isPercent || !(percent > 0 && percent < 100) {
		return 0, fmt.Errorf("%q is no error of a meter; write for example @2%%", text)
	}
	return percent / 100, nil
}

// rated is a meter whose error somebody has stated.
type rated struct {
	Meter
	error float64
}

func rate(m Meter, relative float64) Meter {
	if relative == 0 {
		return m
	}
	r := rated{m, relative}
	if p, ok := m.(Paced); ok {
		return ratedPaced{r, p.Pace()}
	}
	return r
}

func (r rated) Info() Info {
	i := r.Meter.Info()
	i.Error = r.error
	return i
}

type ratedPaced struct {
	rated
	pace time.Duration
}

func (r ratedPaced) Pace() time.Duration { return r.pace }
