#!/usr/bin/env python3
"""Runs the tests of one build and counts them; test/run.sh calls it.

Every part prints its failures and one line of progress. The last line of the
output is `N passed, N failed`, with `, N skipped` when tests were skipped.
The status is 1 when a test failed or none ran.
"""

import argparse
import collections
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PART_TIMEOUT_SECONDS = 1500
BINARY_TIMEOUT_SECONDS = 900

Result = collections.namedtuple("Result", "name status detail")
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


def run(command, timeout):
    """(exit status or None after the timeout, stdout, stderr)."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        # The children go too: they hold the pipes.
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return None, out, err


def status_text(status, timeout):
    if status is None:
        return f"no end after {timeout} s"
    if status < 0:
        return f"ended by {signal.Signals(-status).name}"
    return f"exit status {status}"


def line_results(name, command, timeout=PART_TIMEOUT_SECONDS):
    """Results of a script that prints `PASS: x`, `FAIL: x` and `SKIP: x` lines."""
    status, out, err = run(command, timeout)
    words = {"PASS": PASSED, "FAIL": FAILED, "SKIP": SKIPPED}
    results = []
    for line in out.splitlines():
        match = re.match(r"(PASS|FAIL|SKIP): (.+)", line)
        if match:
            results.append(Result(match.group(2), words[match.group(1)], ""))
    reported = any(r.status == FAILED for r in results)
    if not results or (status != 0 and not reported):
        results.append(Result(name, FAILED, status_text(status, timeout)))
        reported = True
    if reported:
        text = "\n".join(l for l in out.splitlines() if not re.match("(PASS|SKIP): ", l))
        print(f"{text}\n{err}".strip())
    return results


def lint_part(build, options):
    results = []
    for script in ("tools/lint/run.py", "tools/lint/selftest.py", "test/driver_selftest.py"):
        results += line_results(script, [sys.executable, os.path.join(ROOT, script)])
    return results


def tidy_part(build, options):
    script = os.path.join(ROOT, "tools", "lint", "clang_tidy.py")
    return line_results(
        "clang-tidy",
        [sys.executable, script, "--build-dir", build["build_dir"], "runtime/"],
    )


def lit_part(build, options):
    lit = os.path.join(build["llvm_tools_dir"], "lit")
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "lit.json")
        command = [sys.executable, lit, "-v", "--no-progress-bar", "-o", report]
        command += ["-j", str(options.jobs)]
        if options.ci:
            command += ["--param", "roundtrip=1"]
        if options.filter:
            command += ["--filter", options.filter, "--allow-empty-runs"]
        command.append(os.path.join(build["build_dir"], "test"))
        status, out, err = run(command, PART_TIMEOUT_SECONDS)
        if not os.path.exists(report):
            print(f"{out}\n{err}".strip())
            return [Result("lit", FAILED, status_text(status, PART_TIMEOUT_SECONDS))]
        with open(report, encoding="utf-8") as file:
            tests = json.load(file)["tests"]
    results = []
    for test in tests:
        code = test["code"]
        if code == "EXCLUDED":
            continue
        if code == "PASS":
            results.append(Result(test["name"], PASSED, ""))
        elif code in ("UNSUPPORTED", "SKIPPED"):
            results.append(Result(test["name"], SKIPPED, ""))
        else:
            results.append(Result(test["name"], FAILED, code))
    if any(r.status == FAILED for r in results):
        lines = [l for l in out.splitlines() if not re.match("(PASS|UNSUPPORTED): ", l)]
        print("\n".join(lines))
    elif status != 0:
        print(f"{out}\n{err}".strip())
        results.append(Result("lit", FAILED, status_text(status, PART_TIMEOUT_SECONDS)))
    return results


def gtest_results(name, report):
    for suite in report["testsuites"]:
        for test in suite["testsuite"]:
            full = f"{name}/{suite['name']}.{test['name']}"
            if test.get("failures"):
                yield Result(full, FAILED, "")
            elif test["status"] != "RUN" or test["result"] == "SKIPPED":
                yield Result(full, SKIPPED, "")
            else:
                yield Result(full, PASSED, "")


def unit_part(build, options):
    results = []
    for name in filter(None, build["unittests"]):
        binary = os.path.join(build["build_dir"], "unittests", name)
        if not os.path.exists(binary):
            results.append(Result(name, FAILED, "not built"))
            continue
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "gtest.json")
            command = [binary, f"--gtest_output=json:{report}"]
            if options.filter:
                command.append(f"--gtest_filter=*{options.filter}*")
            status, out, err = run(command, BINARY_TIMEOUT_SECONDS)
            found = []
            if os.path.exists(report):
                with open(report, encoding="utf-8") as file:
                    found = list(gtest_results(name, json.load(file)))
            if status != 0 and not any(r.status == FAILED for r in found):
                # It died on the way: what it printed says how far it came.
                found = [
                    Result(f"{name}/{test}", PASSED, "")
                    for test in re.findall(r"^\[       OK \] (\S+)", out, re.M)
                ]
                started = re.findall(r"^\[ RUN      \] (\S+)", out, re.M)
                last = f"{name}/{started[-1]}" if started else name
                why = status_text(status, BINARY_TIMEOUT_SECONDS)
                found.append(Result(last, FAILED, why))
            elif not found and not options.filter:
                found.append(Result(name, FAILED, "it has no test"))
            if any(r.status == FAILED for r in found):
                out = re.sub(r"^\[(       OK|  RUN     | RUN      |-{10})\].*\n", "", out, flags=re.M)
                print(f"{out}\n{err}".strip())
            results += found
    return results


def sibling_build(build, preset, *targets):
    """Builds targets of another preset beside this build's folder; (folder, None)
    or (None, why it could not be built)."""
    folder = build["build_dir"].rstrip("/") + "-" + preset
    script = os.path.join(ROOT, "tools", "build.sh")
    command = [script, "--preset", preset, "--build-dir", folder, *targets]
    status, out, err = run(command, PART_TIMEOUT_SECONDS)
    if status == 0:
        return folder, None
    print(f"{out[-8000:]}\n{err}".strip())
    return None, status_text(status, PART_TIMEOUT_SECONDS)


def fuzz_part(build, options):
    folder, failure = sibling_build(build, "fuzz", "sparseattn-fuzzers")
    if failure:
        return [Result("fuzz/build", FAILED, failure)]
    script = os.path.join(ROOT, "test", "fuzz", "run_fuzzers.py")
    command = [sys.executable, script, "--build-dir", folder, "--jobs", str(options.jobs)]
    return line_results("fuzz", command)


# Unit tests that the sanitizers watch: the runtime's, and those of readers.
SANITIZED = {
    # preset: binaries
    "fuzz": (
        "BackendsTests CacheTests CudaTests ExecutorTests NpzTests PlanningTests "
        "ProgramTests ProgramTextTests TargetPlanTests TransportTests"
    ).split(),
    "tsan": "BackendsTests CacheTests ExecutorTests TransportTests".split(),
}


def sanitizers_part(build, options):
    # Only our half of LLVM's allocators is instrumented (test/fuzz/README.md).
    os.environ.setdefault("ASAN_OPTIONS", "allow_user_poisoning=0")
    results = []
    for preset, binaries in SANITIZED.items():
        folder, failure = sibling_build(build, preset, *binaries)
        if failure:
            results.append(Result(f"sanitizers/{preset}/build", FAILED, failure))
            continue
        for result in unit_part({"build_dir": folder, "unittests": binaries}, options):
            results.append(result._replace(name=f"sanitizers/{preset}/{result.name}"))
    return results


def docs_part(build, options):
    folder = os.path.join(ROOT, "test", "Docs")
    opt = os.path.join(build["build_dir"], "bin", "sparseattn-opt")
    results = []
    for command in (
        [os.path.join(folder, "run_examples.py"), "--opt", opt],
        [os.path.join(folder, "run_documents.py"), build["build_dir"]],
        [os.path.join(folder, "check_reference.py"), build["build_dir"]],
    ):
        results += line_results("docs", [sys.executable] + command)
    return results


def examples_part(build, options):
    """Scripts in test/Examples; each gets the build folder as its argument."""
    results = []
    for script in sorted(glob.glob(os.path.join(ROOT, "test", "Examples", "*.py"))):
        name = os.path.basename(script)
        if options.filter and not re.search(options.filter, name):
            continue
        results += line_results(name, [sys.executable, script, build["build_dir"]])
    return results


def check_archive(build):
    """What an unpacked archive needs, shows and holds."""
    results = []
    for name in ("check_archive.py", "selftest.py"):
        script = os.path.join(ROOT, "test", "Release", name)
        results += line_results(name, [sys.executable, script, build["build_dir"]])
    return results


def release_part(build, options):
    """An archive by itself; for another build one is made first, from the same
    objects where a compiler cache has them, and its commands are tested too."""
    if "archive" in build:
        return check_archive(build)
    script = os.path.join(ROOT, "tools", "make-archive.sh")
    status, out, err = run([script, "--fast"], PART_TIMEOUT_SECONDS)
    if status != 0:
        print(f"{out}\n{err}"[-5000:].strip())
        return [Result("make-archive", FAILED, status_text(status, PART_TIMEOUT_SECONDS))]
    archive = out.splitlines()[-1]
    with tempfile.TemporaryDirectory() as parent:
        folder = os.path.join(parent, "archive")
        script = os.path.join(ROOT, "test", "Release", "prepare.py")
        command = [sys.executable, script, archive, folder, build["llvm_tools_dir"]]
        status, out, err = run(command, PART_TIMEOUT_SECONDS)
        if status != 0:
            print(f"{out}\n{err}".strip())
            return [Result("prepare", FAILED, status_text(status, PART_TIMEOUT_SECONDS))]
        with open(os.path.join(folder, "test", "build.json"), encoding="utf-8") as file:
            unpacked = json.load(file)
        lit = [r._replace(name=f"archive: {r.name}") for r in lit_part(unpacked, options)]
        return check_archive(unpacked) + lit


# name: (function, needs the compiler, runs when nothing is chosen)
PARTS = {
    "lint": (lint_part, False, True),
    "unit": (unit_part, False, True),
    "lit": (lit_part, True, True),
    "docs": (docs_part, True, True),
    "examples": (examples_part, True, True),
    "tidy": (tidy_part, False, False),
    "fuzz": (fuzz_part, False, False),
    "sanitizers": (sanitizers_part, False, False),
    "release": (release_part, True, False),
}
CI_PARTS = ("tidy", "fuzz", "sanitizers", "release")


def count(results):
    counts = collections.Counter(result.status for result in results)
    text = f"{counts[PASSED]} passed, {counts[FAILED]} failed"
    if counts[SKIPPED]:
        text += f", {counts[SKIPPED]} skipped"
    return counts, text


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", required=True)
    parser.add_argument("--only", help=f"comma-separated, of {','.join(PARTS)}")
    parser.add_argument("--filter", help="part of the names of the tests to run")
    parser.add_argument("--ci", action="store_true", help="round trips, clang-tidy and fuzzing too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    names = options.only.split(",") if options.only else []
    for name in names:
        if name not in PARTS:
            parser.error(f"part is unknown: got {name}, expected one of {', '.join(PARTS)}")
    options.parts = names or [
        name
        for name, (_, _, default) in PARTS.items()
        if default or (options.ci and name in CI_PARTS)
    ]
    return options


def main():
    options = parse_options()
    with open(os.path.join(options.build_dir, "test", "build.json"), encoding="utf-8") as file:
        build = json.load(file)
    # Caches of the tools stay in the build tree.
    os.environ["XDG_CACHE_HOME"] = os.path.join(os.path.abspath(options.build_dir), "test", "cache")
    # A CUDA toolkit may be missing: tools/install-ptxas.sh puts ptxas here. One
    # that comes first on PATH is used in its place.
    ptxas = os.path.join(os.path.abspath(options.build_dir), "ptxas", "bin")
    os.environ["PATH"] = os.pathsep.join([os.environ["PATH"], ptxas])
    everything = []
    for index, name in enumerate(options.parts, 1):
        function, needs_compiler, _ = PARTS[name]
        if needs_compiler and build["has_compiler"] != "ON":
            continue
        start = time.monotonic()
        results = function(build, options)
        for result in results:
            if result.status == FAILED:
                detail = f" ({result.detail})" if result.detail else ""
                print(f"failed: {result.name}{detail}")
        seconds = time.monotonic() - start
        text = count(results)[1]
        print(f"[{index}/{len(options.parts)}] {name}: {text} ({seconds:.1f} s)", flush=True)
        everything += results
    counts, text = count(everything)
    print(text)
    sys.exit(1 if counts[FAILED] or not counts[PASSED] else 0)


if __name__ == "__main__":
    main()
