#!/usr/bin/env python3
"""Runs the fuzz targets of one build for some seconds each.

Every target starts from its corpus in test/data/fuzz. With a fixed seed, which
short runs have, it tries the same inputs each time; only how far it comes in its
time differs. With a random one it also starts from what earlier runs of this
build kept in BUILD/fuzz/grown, and adds to that. What it finds is a failure: the input
stays in BUILD/fuzz/findings, is printed in hexadecimal, and `BUILD/fuzz/TARGET
FILE` runs it again. Prints PASS and FAIL lines.
"""

import argparse
import concurrent.futures
import functools
import glob
import os
import re
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MAX_HEX_BYTES = 4096

# Target: (longest input in bytes, folders with seeds beside its own).
TARGETS = {
    "cache-file": (16384, ()),
    "command-line": (512, ()),
    "latents": (8192, ()),
    "layer-text": (4096, ()),
    "machine-file": (4096, ()),
    "mask-file": (4096, ("trace-file",)),
    "npz": (16384, ()),
    "plan-text": (8192, ()),
    "program-bytes": (16384, ()),
    "program-run": (16384, ("program-bytes",)),
    "program-text": (8192, ()),
    "report-json": (16384, ()),
    "trace-file": (16384, ()),
}
# What libFuzzer takes as: another one each time.
RANDOM_SEED = 0
FIXED_SEED = 1
# One input may take this long on a busy machine.
TIMEOUT_SECONDS = 25
RSS_LIMIT_MB = 2048
ENVIRONMENT = {
    # LLVM's allocators mark their memory in the instrumented half of the
    # process and not in the half that comes from libLLVM.so.
    "ASAN_OPTIONS": "allow_user_poisoning=0:detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


def seeds(target):
    folders = [os.path.join(ROOT, "test", "data", "fuzz", name)
               for name in (target, *TARGETS[target][1])]
    return [folder for folder in folders if os.path.isdir(folder)]


def seed_list(target, folder):
    """A file that names the seeds in one order: folders are listed in any."""
    names = sorted(os.path.join(folder, name)
                   for folder in seeds(target) for name in os.listdir(folder))
    path = os.path.join(folder, f"{target}.seeds")
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(names))
    return path


def command(binary, target, seconds, seed, build_dir):
    findings = os.path.join(build_dir, "fuzz", "findings")
    grown = os.path.join(build_dir, "fuzz", "grown", target)
    os.makedirs(findings, exist_ok=True)
    os.makedirs(grown, exist_ok=True)
    line = [
        binary,
        f"-max_total_time={seconds}",
        f"-max_len={TARGETS[target][0]}",
        f"-timeout={TIMEOUT_SECONDS}",
        f"-rss_limit_mb={RSS_LIMIT_MB}",
        "-print_final_stats=1",
        f"-seed={seed}",
        f"-artifact_prefix={os.path.join(findings, target)}-",
    ]
    dictionary = os.path.join(HERE, "dict", f"{target}.dict")
    if os.path.exists(dictionary):
        line.append(f"-dict={dictionary}")
    if seed == RANDOM_SEED:
        return line + [grown] + seeds(target)
    line.append(f"-seed_inputs=@{seed_list(target, os.path.join(build_dir, 'fuzz'))}")
    return same_addresses() + line


@functools.cache
def same_addresses():
    """What keeps addresses the same from run to run, where the system allows it:
    libFuzzer also tries what the program compares, addresses among it."""
    wrapper = ["setarch", "-R"]
    try:
        subprocess.run(wrapper + ["true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return wrapper


def run_once(line, seconds):
    """(exit status or None, CPU seconds, output)."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(line, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                   env=dict(os.environ, **ENVIRONMENT))
        # Seeds are read first, however long that takes.
        watch = threading.Timer(seconds + 300, process.kill)
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        watch.cancel()
        log.seek(0)
        text = log.read().decode(errors="replace")
    return process.returncode, usage.ru_utime + usage.ru_stime, text


def fuzz(target, build_dir, seconds, cpu_seconds, seed):
    """(target, None or what went wrong, text about the run)."""
    binary = os.path.join(build_dir, "fuzz", target)
    if not os.path.exists(binary):
        return target, "not built", ""
    inputs, used = 0, 0.0
    while True:
        status, cpu, log = run_once(command(binary, target, seconds, seed, build_dir), seconds)
        used += cpu
        inputs += sum(map(int, re.findall(r"number_of_executed_units: (\d+)", log)))
        if status != 0:
            break
        if used >= cpu_seconds:
            return target, None, f"{inputs} inputs, {used:.0f} s of CPU"
        seed += seed != RANDOM_SEED
    lines = [line for line in log.splitlines() if not re.match(r"#\d+\t|\s*(NEW|REDUCE)", line)]
    text = "\n".join(lines[-60:])
    for path in re.findall(r"Test unit written to (\S+)", log):
        with open(path, "rb") as file:
            data = file.read(MAX_HEX_BYTES)
        text += f"\nreproduce: {binary} {path}\nits first {len(data)} bytes: {data.hex()}"
    return target, f"exit status {status}", text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", required=True)
    parser.add_argument("--seconds", type=int, default=20, help="for each target (default 20)")
    parser.add_argument("--cpu-seconds", type=float, default=0,
                        help="repeat each target until it has used so much CPU time")
    parser.add_argument("--seed", type=int,
                        help="seed of the mutations, 0 for another one each time (default "
                        f"{FIXED_SEED}, with --cpu-seconds {RANDOM_SEED})")
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time (default 2)")
    parser.add_argument("targets", nargs="*", help="default: all")
    options = parser.parse_args()
    for target in options.targets:
        if target not in TARGETS:
            parser.error(f"target is unknown: got {target}, expected one of {', '.join(TARGETS)}")
    if options.seed is None:
        options.seed = RANDOM_SEED if options.cpu_seconds else FIXED_SEED
    if not 0 <= options.seed < 2**31:
        parser.error(f"seed is out of range: got {options.seed}, expected 0 to {2**31 - 1}")
    build_dir = os.path.abspath(options.build_dir)
    failed = False
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(fuzz, target, build_dir, options.seconds, options.cpu_seconds,
                            options.seed)
                for target in options.targets or TARGETS]
        for run in runs:
            target, failure, text = run.result()
            if failure is None:
                print(f"PASS: fuzz/{target}", flush=True)
                print(f"fuzz/{target}: {text}", flush=True)
            else:
                failed = True
                print(f"{text}\nFAIL: fuzz/{target} ({failure})", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
