# SPDX-License-Identifier: Apache-2.0
# As packages/teps/package.py of a Spack repository: spack install teps
from spack.package import *

try:  # Spack 1.0; older and newer ones have it in spack.package
    from spack_repo.builtin.build_systems.generic import Package
except ImportError:
    pass


class Teps(Package):
    """Graph500 and GreenGraph500 with engines that are plugins."""

    homepage = "https://github.com/tepsbench/teps"
    git = "https://github.com/tepsbench/teps.git"

    license("Apache-2.0")

    version("main", branch="main")

    variant("cuda", default=False, description="Build the engine and the host for NVIDIA GPUs")
    variant("mpi", default=False, description="Ranks under MPI, which teps opens at run time")

    depends_on("go@1.26:", type="build")
    depends_on("c", type="build")
    depends_on("cuda@11.8:", when="+cuda")
    depends_on("mpi", type="run", when="+mpi")

    def setup_build_environment(self, env):
        # Modules go to the stage, which Spack removes.
        env.set("GOPATH", join_path(self.stage.path, "go"))
        env.set("GOFLAGS", "-modcacherw")

    def install(self, spec, prefix):
        mkdirp(prefix.bin)
        Executable("go")("build", "-o", join_path(prefix.bin, "teps"), "./cmd/teps")
        if spec.satisfies("+cuda"):
            Executable("bash")("cuda/build.sh", "-o", prefix.bin)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def run_small(self):
        out = join_path(self.stage.path, "run")
        Executable(join_path(self.prefix.bin, "teps"))("run", "--engine", "cpu", "--scale", "10", "--out", out)
