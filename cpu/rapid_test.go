// SPDX-License-Identifier: Apache-2.0

package cpu

import "flag"

// Property tests draw the same cases in every run, so that a failure is due to a change of the code. Use
// -rapid.seed=0 for other cases and -rapid.checks=N for more of them.
func init() {
	if err := flag.Set("rapid.seed", "500"); err != nil {
		panic(err)
	}
}
