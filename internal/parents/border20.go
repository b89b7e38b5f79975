// SPDX-License-Identifier: Apache-2.0

//go:build border20

package parents

// lowBits is smaller in tests, so that the labels of small graphs need both halves.
const lowBits = 20
