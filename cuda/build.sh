#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds everything that needs CUDA. Requires a CUDA toolkit (11.8 or later), a C compiler and Go.
#   bash cuda/build.sh              build the kernels, and here teps-engine-cuda, teps-engine-cuda-literature and teps-host-cuda
#   bash cuda/build.sh -o DIR       build all three in DIR
#   bash cuda/build.sh kernels      build only the kernels
#   bash cuda/build.sh go ARG...    run a go command with the flags for linking: vet ./cuda, test -c ./cuda, ...
#   bash cuda/build.sh test         build the kernels, and run all tests of the engines on the first GPU
# TEPS_CUDA_ARCHS="70 80 90" selects compute capabilities; default: 70, 80, 90 and 100, as far as nvcc supports them.
set -euo pipefail
cd "$(dirname "$0")/.."

nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if ! [ -x "$nvcc" ]; then
	echo "cuda/build.sh: nvcc not found; install a CUDA toolkit (Debian: nvidia-cuda-toolkit nvidia-cuda-dev in non-free), or set NVCC" >&2
	exit 1
fi

kernels() {
	known=$("$nvcc" --list-gpu-arch)
	codes=() newest=
	for arch in ${TEPS_CUDA_ARCHS:-70 80 90 100}; do
		if grep -qx "compute_$arch" <<<"$known"; then
			codes+=(-gencode "arch=compute_$arch,code=sm_$arch")
			newest=$arch
		fi
	done
	if [ -z "$newest" ]; then
		echo "cuda/build.sh: $nvcc supports none of the compute capabilities ${TEPS_CUDA_ARCHS:-70 80 90 100}; select others with TEPS_CUDA_ARCHS" >&2
		exit 1
	fi
	rows=(cuda/kernels/{order,sort,edges,lists}.cu) # kernel 1 of plain rows
	single=(cuda/accelerator/kernels/generate.cu)
	for source in cuda/kernels/*.cu; do
		case $source in */several.cu | */edges.cu) ;; *) single+=("$source") ;; esac
	done
	image cuda/kernels/kernels.fatbin -DPACKED=false "${single[@]}" &
	image cuda/kernels/packed.fatbin -DPACKED=true "${single[@]}" &
	image cuda/kernels/several.fatbin -DSEVERAL=true cuda/kernels/*.cu &
	image cuda/kernels/paths/paths.fatbin -DSEVERAL=false cuda/kernels/{order,sort}.cu cuda/kernels/paths/*.cu &
	papers=(cuda/literature/kernels/*.cu)
	image cuda/literature/kernels/literature.fatbin -DSEVERAL=false -DCHILDREN=false "${rows[@]}" "${papers[@]}" &
	image cuda/literature/kernels/kolganov.fatbin -DSEVERAL=false -DCHILDREN=true "${rows[@]}" \
		cuda/literature/kernels/{base,kolganov}.cu &
	image cuda/accelerator/kernels/accelerator.fatbin -DSEVERAL=false cuda/accelerator/kernels/*.cu &
	for job in $(jobs -p); do wait "$job"; done # each, for its status
}

# image FATBIN DEFINITION SOURCE... compiles and links kernels.
image() {
	"$nvcc" -std=c++17 -O3 -Wno-deprecated-gpu-targets "${codes[@]}" "$2" -rdc=true -dlink -fatbin \
		"${@:3}" -lcudadevrt -o "$1"
}

# The program loads the driver's library by name when it starts, so that it also starts on machines without a driver. The linker
# gets an empty library instead, and leaves the driver's functions to be resolved at their first call.
golang() {
	empty=$PWD/cuda/kernels # always the same path: another one would make Go compile all of cgo's packages again
	echo '/* empty */' >"$empty/libcuda.so"
	root=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
	export CGO_ENABLED=1
	export CGO_CFLAGS="${CGO_CFLAGS:--O2 -g} -I$root/include"
	export CGO_LDFLAGS="-L$empty ${CGO_LDFLAGS:-}"
	command=$1
	shift
	flags=()
	case $command in
	build | test | run) flags=(-ldflags "-extldflags '-L$empty -Wl,--export-dynamic -Wl,-z,lazy -Wl,--unresolved-symbols=ignore-in-object-files'") ;;
	esac
	go "$command" -tags cuda "${flags[@]}" "$@"
}

case ${1:-} in
kernels) kernels ;;
go)
	shift
	golang "$@"
	;;
test)
	kernels
	golang test -count=1 ./cuda/... -gpu
	;;
'' | -o)
	kernels
	vcs=() # in a clone programs name their commit, and so do their records
	if [ -e .git/HEAD ]; then vcs=(-buildvcs=true); fi
	golang build "${vcs[@]}" -o "${2:-.}/" ./cmd/teps-engine-cuda ./cmd/teps-host-cuda ./cmd/teps-engine-cuda-literature
	;;
*)
	sed -n '2,8s/^# //p' "$0" >&2
	exit 2
	;;
esac
