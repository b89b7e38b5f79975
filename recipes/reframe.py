# SPDX-License-Identifier: Apache-2.0
# reframe -c recipes/reframe.py -r; teps must be in PATH, or add a module to valid_prog_environs or modules.
import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class TepsCheck(rfm.RunOnlyRegressionTest):
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    engine = parameter(["cpu"])
    scale = parameter([18, 20])
    executable = "teps"
    time_limit = "30m"

    @run_before("run")
    def set_options(self):
        self.executable_opts = ["run", "--engine", self.engine, "--scale", str(self.scale), "--out", "run"]
        self.postrun_cmds = ["teps report run --format openmetrics --out metrics.txt"]
        self.keep_files = ["run", "metrics.txt"]

    @sanity_function
    def every_search_is_valid(self):
        # An official text has this line only if every search was validated and is valid.
        return sn.assert_found(r"^bfs  harmonic_mean_TEPS:     !  ", self.stdout)

    @performance_function("GTEPS")
    def harmonic_mean(self):
        return sn.extractsingle(r"^bfs  harmonic_mean_TEPS:     !  (\S+)", self.stdout, 1, float) / 1e9

    @performance_function("s")
    def kernel_1(self):
        return sn.extractsingle(r"^construction_time: +(\S+)", self.stdout, 1, float)
