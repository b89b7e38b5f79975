//go:build cuda

package cuda

import (
	_ "embed"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// image holds the linked kernels for every architecture that build.sh compiled them for.
//
//go:embed kernels/kernels.fatbin
var image string

// kernel is a function on the device, launched over blocks of the same size.
type kernel struct {
	name    string
	f       cu.Function
	threads int
	shared  int // bytes of a block, beside what the kernel declares
	args    arguments
}

// kernels are all functions of kernels/*.cu, by the names that they have there.
type kernels struct {
	narrow, countDegrees, largestDegree, degreeKeys, number, nearest, groupKeys, groupBorders kernel
	sortCount, sortScatter, scan                                                              kernel
	rangeEntries, listKeys, countUnique, writeLists, endLists                                 kernel
	firstNeighbours, wordHubs, linkHubs, alignedRows, alignedFill, outputTemplate             kernel
	search, expandDynamic, erase, writeReached, writeFinds, writeRoot, wake                   kernel
}

func (k *kernels) load(m cu.Module) error {
	for _, each := range []struct {
		into    *kernel
		name    string
		threads int
	}{
		{&k.narrow, "narrow", blockThreads}, {&k.countDegrees, "count_degrees", blockThreads},
		{&k.largestDegree, "largest_degree", blockThreads}, {&k.degreeKeys, "degree_keys", blockThreads},
		{&k.number, "number", blockThreads}, {&k.nearest, "nearest", blockThreads},
		{&k.groupKeys, "group_keys", blockThreads}, {&k.groupBorders, "group_borders", blockThreads},
		{&k.sortCount, "sort_count", blockThreads}, {&k.sortScatter, "sort_scatter", blockThreads}, {&k.scan, "scan", 0},
		{&k.rangeEntries, "range_entries", blockThreads}, {&k.listKeys, "list_keys", blockThreads},
		{&k.countUnique, "count_unique", blockThreads}, {&k.writeLists, "write_lists", blockThreads},
		{&k.endLists, "end_lists", blockThreads}, {&k.firstNeighbours, "first_neighbours", blockThreads},
		{&k.wordHubs, "word_hubs", blockThreads}, {&k.linkHubs, "link_hubs", blockThreads},
		{&k.alignedRows, "aligned_rows", blockThreads}, {&k.alignedFill, "aligned_fill", blockThreads},
		{&k.outputTemplate, "output_template", blockThreads}, {&k.search, "search", 0},
		{&k.expandDynamic, "expand_dynamic", blockThreads}, {&k.erase, "erase", blockThreads},
		{&k.writeReached, "write_reached", blockThreads}, {&k.writeFinds, "write_finds", blockThreads}, {&k.writeRoot, "write_root", 1}, {&k.wake, "wake", 1},
	} {
		f, err := m.Function(each.name)
		if err != nil {
			return fmt.Errorf("cuda: kernel %s is not in the program: %w; build it again with cuda/build.sh", each.name, err)
		}
		if each.threads == 0 { // as many as the kernel was compiled for
			if each.threads, err = f.Attribute(cu.FnMaxThreadsPerBlock); err != nil {
				return fmt.Errorf("cuda: kernel %s: %w", each.name, err)
			}
		}
		each.into.name, each.into.f, each.into.threads = each.name, f, each.threads
	}
	return nil
}

// launch queues the kernel on a stream.
func (k *kernel) launch(stream cu.Stream, blocks int, args ...uint64) error {
	if err := k.f.Launch(blocks, 1, 1, k.threads, 1, 1, k.shared, stream, k.args.pack(args...)); err != nil {
		return fmt.Errorf("cuda: kernel %s: %w", k.name, err)
	}
	return nil
}

// launchTogether queues the kernel on a stream with all of its blocks at once.
func (k *kernel) launchTogether(stream cu.Stream, blocks int, args ...uint64) error {
	k.args.pack(args...)
	if err := launchCooperative(k.f, blocks, k.threads, k.shared, stream, k.args.values[:k.args.n]); err != nil {
		return fmt.Errorf("cuda: kernel %s: %w", k.name, err)
	}
	return nil
}

// allow gives blocks of the kernel so many bytes of shared memory.
func (k *kernel) allow(shared int) error {
	if err := allowShared(k.f, shared); err != nil {
		return fmt.Errorf("cuda: kernel %s: %d bytes of shared memory: %w", k.name, shared, err)
	}
	k.shared = shared
	return nil
}

// read copies from the device into a Go value without pointers.
func read[T any](into []T, from uint64) error {
	if len(into) == 0 {
		return nil
	}
	bytes := int64(len(into)) * int64(unsafe.Sizeof(into[0]))
	return cu.MemcpyDtoH(unsafe.Pointer(&into[0]), cu.DevicePtr(from), bytes)
}

// write copies a Go value without pointers to the device.
func write[T any](into uint64, from []T) error {
	if len(from) == 0 {
		return nil
	}
	bytes := int64(len(from)) * int64(unsafe.Sizeof(from[0]))
	return cu.MemcpyHtoD(cu.DevicePtr(into), unsafe.Pointer(&from[0]), bytes)
}
