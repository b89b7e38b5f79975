// SPDX-License-Identifier: Apache-2.0

// Package opencl is the engine for every device with a driver for OpenCL 1.2: GPUs of AMD, Apple, Intel and NVIDIA, and
// processors. It needs neither cgo nor a toolkit: package driver opens the library at run time, and the kernels are
// compiled by the driver.
//
// Files:
//
//	bfs.go             the search on the host: slots, batches, output
//	kernels/search.cl  the search on the device
//	construct.go       kernel 1, step by step; kernels/order.cl and kernels/lists.cl run on the device
//	kernels/graph.cl   the graph and the numbering of its vertices
//	plan.go            sizes: limits, memory, work-groups
package opencl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tepsbench/teps/opencl/driver"
	"github.com/tepsbench/teps/plugins"
)

// New returns the engine. It holds no resources before Construct.
func New() plugins.Engine { return plugins.New(describe, build) }

// Problem names the fact of a described device that says why it cannot be used.
const Problem = "problem"

func describe() (plugins.Description, error) {
	d := plugins.Description{
		Name:    "opencl",
		Version: "1.0", // changes with the method and with the meaning of options
		Summary: "Direction-optimizing search on a device of any maker through OpenCL 1.2: edge-balanced top-down, " +
			"bottom-up over groups of hubs and four neighbors of each vertex.",
	}
	devices, err := driver.Devices()
	d.Options = options(devices)
	if err == nil {
		_, err = choose(devices, automatic)
	}
	if err != nil {
		d.Unavailable = oneLine(err.Error(), plugins.MaxText)
	}
	for i, one := range devices {
		details := []plugins.Fact{{Name: "device", Value: strconv.Itoa(i)}, {Name: "platform", Value: one.Platform},
			{Name: "driver", Value: one.Driver}, {Name: "version", Value: one.Version}}
		if one.UUID != "" {
			details = append(details, plugins.Fact{Name: plugins.DeviceUUID, Value: one.UUID})
		}
		if one.Problem != "" {
			details = append(details, plugins.Fact{Name: Problem, Value: one.Problem})
		}
		for i := range details {
			details[i].Value = cmp.Or(oneLine(details[i].Value, plugins.MaxText), "unknown")
		}
		name := cmp.Or(oneLine(one.Name, plugins.MaxName), "unnamed")
		d.Devices = append(d.Devices, plugins.Device{Kind: one.Kind, Name: name, Units: one.Units,
			MemoryBytes: one.Memory, Details: details})
	}
	d.Memory = hostMemory(devices)
	return d, nil
}

// oneLine returns a text of a driver as the contract wants it: one line of printable characters, of limited length.
func oneLine(text string, limit int) string {
	printable := func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}
	text = strings.Join(strings.Fields(strings.Map(printable, text)), " ")
	return strings.ToValidUTF8(text[:min(len(text), limit)], "")
}

// automatic is the device option that leaves the choice to the engine.
const automatic = "auto"

func options(devices []driver.Device) []plugins.Option {
	device := plugins.Option{Name: "device", Kind: plugins.Choice, Default: automatic,
		Meaning: "a device by its number or name; auto is the first GPU, or the first device without one"}
	values := []string{automatic}
	for i, d := range devices {
		values = append(values, strconv.Itoa(i), shortName(d))
	}
	for _, value := range values {
		var limit plugins.Limits
		i, err := choose(devices, value)
		if slices.Contains(device.Choices, value) || err != nil && value != automatic {
			continue
		}
		if err == nil {
			limit = limits(devices[i])
		}
		device.Choices, device.Limits = append(device.Choices, value), append(device.Limits, limit)
	}
	return append([]plugins.Option{device}, plugins.SwitchOptions("30", "16384")...)
}

// shortName returns the name of a device in lower case, with dashes between its words.
func shortName(d driver.Device) string {
	words := strings.FieldsFunc(strings.ToLower(d.Name), func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N) })
	return oneLine(strings.Join(words, "-"), plugins.MaxName)
}

// choose returns the number of the device that the option means.
func choose(devices []driver.Device, option string) (int, error) {
	gpu := slices.IndexFunc(devices, func(d driver.Device) bool { return d.Problem == "" && d.Kind == "gpu" })
	var why []string
	for i, d := range devices {
		switch {
		case d.Problem != "":
			why = append(why, d.Name+": "+d.Problem)
		case option == strconv.Itoa(i), option == shortName(d), option == automatic && (i == gpu || gpu < 0):
			return i, nil
		}
	}
	return 0, fmt.Errorf("%w: no OpenCL device can be used: %s", plugins.ErrUnavailable, strings.Join(why, "; "))
}

// build is kernel 1, and makes the kernel 2 of its graph.
func build(ctx context.Context, in plugins.Input, set plugins.Settings) (plugins.Built, error) {
	devices, err := driver.Devices()
	if err != nil {
		return plugins.Built{}, fmt.Errorf("%w: %w", plugins.ErrUnavailable, err)
	}
	i, err := choose(devices, set.Text("device"))
	if err != nil {
		return plugins.Built{}, err
	}
	_, built, err := construct(ctx, in.Tuples, devices[i], set, tuned(devices[i]))
	if failed := new(driver.BuildError); errors.As(err, &failed) {
		fmt.Fprintln(os.Stderr, failed.Log) // the run keeps it
		return built, fmt.Errorf("%w; the run's engines.log has the compiler's log", err)
	}
	return built, err
}
