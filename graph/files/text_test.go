// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"
)

// number agrees with strconv on fields of every length, whatever follows them and wherever the text ends.
func TestNumbersAreThoseOfStrconv(t *testing.T) {
	check := func(text []byte) {
		t.Helper()
		end := bytes.IndexAny(text, " \t\r\n,")
		if end < 0 {
			end = len(text)
		}
		want, err := strconv.ParseUint(string(text[:end]), 10, 64)
		if err != nil {
			want, end = 0, 0
		}
		if n, next := number(text, 0); n != want || next != end {
			t.Errorf("number(%q) is %d and ends at %d, want %d and %d", text, n, next, want, end)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		text := strconv.AppendUint(nil, random.Uint64()>>random.IntN(64), 10)
		text = append(bytes.Repeat([]byte("0"), random.IntN(3)), text...)
		follow := [...]string{"", " ", "\n", "\t7", ",7", "\r\n12345678", ".", "/", ":", "x", "\x80", "\xb0", "9999999999"}
		check(append(text, follow[random.IntN(len(follow))]...))
	}
	for _, text := range []string{"", "+1", "-1", "18446744073709551615", "18446744073709551616", "99999999999999999999",
		"00000000000000000000000000000000000007 "} {
		check([]byte(text))
	}
	for c := range 256 {
		for digits := range 9 {
			check(append(bytes.Repeat([]byte("8"), digits), byte(c), '1', '2'))
		}
	}
}
