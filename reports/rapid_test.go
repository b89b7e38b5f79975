// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"flag"
)

// Property tests draw the same cases in every run, so that a change is judged by what it changes. Others are drawn with
// -rapid.seed=0, more of them with -rapid.checks=N.
func init() {
	if err := flag.Set("rapid.seed", "500"); err != nil {
		panic(err)
	}
}
