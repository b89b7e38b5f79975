// SPDX-License-Identifier: Apache-2.0

// Package literature is an engine with searches on GPUs as they were published, to compare them on one machine, graph
// and clock. They share plain rows or a list of edges in the labels of the tuples, and a launch or more for each level.
// The clock includes the writing of parents, 64 bits each, which the papers omit.
//
// Each search has a file here, which prepares its arrays and runs its levels, and one in kernels:
//
//	quadratic.go, kernels/quadratic.cu   one thread for each vertex: Harish and Narayanan 2007
//	habr.go, kernels/habr.cu             one thread for each edge: an article on Habr, 2014
//	romeo.go, kernels/romeo.cu           one warp for each word of a bitmap: a thesis on the cluster ROMEO
//	merrill.go, kernels/merrill.cu       queues of vertices and edges: Merrill, Garland and Grimshaw 2012
//	bisson.go, kernels/bisson.cu         a scan of degrees: Bisson, Bernaschi and Mastrostefano 2016
//	kolganov.go, kernels/kolganov.cu     a hybrid over a transformed graph: Kolganov 2018
//	several.go                           levels of merrill and bisson on several GPUs
//	base.go                              kernel 1, and the loop over levels
//	options.go                           options; arithmetic that needs no GPU
//
// Without the build tag cuda the engine only describes itself, as unavailable. cuda/build.sh builds the rest.
package literature

import (
	"github.com/tepsbench/teps/cuda/team"
	"github.com/tepsbench/teps/plugins"
)

// New returns the engine.
func New() plugins.Engine {
	return team.NewEngine(plugins.Description{
		Name:    "literature",
		Version: "1", // changes with the method and with the meaning of options
		Summary: "Searches on NVIDIA GPUs as they were published: " + kernelNames() + ".",
		Options: options(),
		Memory:  plugins.Memory{Fixed: 1 << 30}, // the driver
		Limits:  plugins.Limits{Vertices: maxLabels},
	}, build)
}
