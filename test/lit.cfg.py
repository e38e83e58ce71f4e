# Configuration of the lit tests; the generated lit.site.cfg.py loads it with
# the paths of one build.

import glob
import os
import re
import shutil
import subprocess

import lit.formats
import lit.TestRunner

config.name = "sparseattn"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
# GoogleTest sources, data and scripts that run in other parts.
config.excludes = ["unit", "data", "Examples", "Release", "benchmarks"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(config.sparseattn_build_dir, "test")

path = [
    os.path.join(config.sparseattn_build_dir, "bin"),
    config.llvm_tools_dir,
    os.environ["PATH"],
    os.path.join(config.sparseattn_build_dir, "ptxas", "bin"),
]
config.environment["PATH"] = os.pathsep.join(path)
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# Caches and temporary files of the tools stay in the build tree.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")


def quoted(value):
    """Paths with spaces stay one word, also inside a longer one: 'a b'.mlir."""
    return f"'{value}'" if isinstance(value, str) and re.search(r"\s", value) else value


# lit itself never quotes %s, %S, %t and so on.
default_substitutions = lit.TestRunner.getDefaultSubstitutions
lit.TestRunner.getDefaultSubstitutions = lambda *arguments, **named: [
    (pattern, value if (pattern, value) in config.substitutions else quoted(value))
    for pattern, value in default_substitutions(*arguments, **named)
]

config.substitutions += [
    ("%python", quoted(config.python)),
    ("%data", quoted(os.path.join(config.test_source_root, "data"))),
    ("%source_root", quoted(config.sparseattn_source_dir)),
    ("%unittests", quoted(os.path.join(config.sparseattn_build_dir, "unittests"))),
]

# A library in place of the CUDA driver's, where unit tests are built.
stand_in = os.path.join(config.sparseattn_build_dir, "unittests", "stand-in")
config.substitutions += [
    ("%stand_in", quoted(stand_in)),
    ("%bin_dir", quoted(os.path.join(config.sparseattn_build_dir, "bin"))),
]
if os.path.exists(os.path.join(stand_in, "libcuda.so.1")):
    config.available_features.add("stand-in-driver")

# Open MPI's launcher; several processes share a core, and one machine's own way
# of copying needs rights that containers may lack.
mpirun = shutil.which("mpirun")
plugin = os.path.join(config.sparseattn_build_dir, "lib", "libsparseattn-mpi.so")
if mpirun and os.path.exists(plugin):
    config.available_features.add("mpi")
config.substitutions.append(
    (
        "%mpirun",
        "mpirun --oversubscribe"
        + (" --allow-run-as-root" if os.getuid() == 0 else "")
        + " --mca btl_vader_single_copy_mechanism none",
    )
)


def makes_network_namespaces():
    """Whether this user may: then they play hosts."""
    if os.getuid() != 0 or not shutil.which("ip") or not shutil.which("unshare"):
        return False
    command = ["unshare", "--net", "--uts", "ip", "link", "add", "type", "bridge"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


if mpirun and makes_network_namespaces():
    config.available_features.add("network-namespaces")

# Every version of ptxas that kernels are tested with. A test that names one that
# is not there fails: kernels that nobody assembled are not tested.
versions = glob.glob(os.path.join(config.sparseattn_build_dir, "ptxas", "*", "bin", "ptxas"))
versions.sort(key=lambda path: [int(part) for part in re.findall(r"\d+", path.split(os.sep)[-3])])
absent = os.path.join(config.sparseattn_build_dir, "ptxas", "run-tools-install-ptxas.sh")
config.substitutions += [
    ("%ptxas_oldest", quoted((versions or [absent])[0])),
    ("%ptxas_newest", quoted((versions or [absent])[-1])),
]

# --param roundtrip=1: every sparseattn-opt run also prints, parses and compares
# its input, in text and in bytecode.
if lit_config.params.get("roundtrip"):
    config.substitutions.append(
        (r"\bsparseattn-opt\b", "sparseattn-opt --verify-roundtrip")
    )

# A hang is a failure, not a wait.
lit_config.maxIndividualTestTime = int(lit_config.params.get("test_timeout", "180"))
