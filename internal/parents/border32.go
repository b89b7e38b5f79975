// SPDX-License-Identifier: Apache-2.0

//go:build !border20

package parents

// lowBits is the number of bits in the low half of a label.
const lowBits = 32
