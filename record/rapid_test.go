package record

import "flag"

// Property tests draw the same cases in every run. -rapid.seed=0 draws others, -rapid.checks=N more.
func init() {
	if err := flag.Set("rapid.seed", "500"); err != nil {
		panic(err)
	}
}
