// SPDX-License-Identifier: Apache-2.0

//go:build !cuda

package literature

import "github.com/tepsbench/teps/cuda/team"

var build = team.BuildWithoutCUDA
