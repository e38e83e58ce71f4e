#!/usr/bin/env python3
"""Shows that run_tests.py counts what passed, failed, died and was skipped.

Stand-ins take the place of the test programs. Prints PASS and FAIL lines.
"""

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile

import run_tests

GTEST = """#!{python}
import json, os, signal, sys
report = sys.argv[1].split("json:", 1)[1]
def test(name, status="RUN", result="COMPLETED", **more):
    return dict(name=name, status=status, result=result, **more)
def write(*tests):
    with open(report, "w") as file:
        json.dump({{"testsuites": [{{"name": "S", "testsuite": list(tests)}}]}}, file)
{body}
"""

# name of the case: (body of the stand-in, expected passed, failed, skipped)
UNIT_CASES = {
    "passes": ("write(test('a'), test('b'))", 2, 0, 0),
    "fails": ("write(test('a'), test('b', failures=[{}])); sys.exit(1)", 1, 1, 0),
    "skips": ("write(test('a', 'NOTRUN'), test('b', result='SKIPPED'))", 0, 0, 2),
    "dies": (
        "print('[ RUN      ] S.a\\n[       OK ] S.a (0 ms)\\n[ RUN      ] S.b', flush=True)\n"
        "os.kill(os.getpid(), signal.SIGSEGV)",
        1,
        1,
        0,
    ),
    "dies-at-exit": ("write(test('a')); sys.exit(3)", 0, 1, 0),
    "is-empty": ("write()", 0, 1, 0),
}
LINE_CASES = {
    "passes": ("print('PASS: a\\nSKIP: b')", 1, 0, 1),
    "fails": ("print('PASS: a\\nFAIL: b'); sys.exit(1)", 1, 1, 0),
    "fails-with-status-0": ("print('FAIL: b')", 0, 1, 0),
    "dies": ("print('PASS: a'); sys.exit(1)", 1, 1, 0),
    "is-silent": ("pass", 0, 1, 0),
    "hangs": ("import time; print('PASS: a', flush=True); time.sleep(60)", 1, 1, 0),
}


def write_script(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


def unit_results(folder, body):
    os.mkdir(os.path.join(folder, "unittests"))
    write_script(
        os.path.join(folder, "unittests", "T"),
        GTEST.format(python=sys.executable, body=body),
    )
    build = {"build_dir": folder, "unittests": ["T"]}
    return run_tests.unit_part(build, argparse.Namespace(filter=None))


def line_results(folder, body):
    script = os.path.join(folder, "script.py")
    write_script(script, f"import sys\n{body}\n")
    return run_tests.line_results("script", [sys.executable, script], timeout=3)


def cases():
    for kind, table, function in (
        ("unit", UNIT_CASES, unit_results),
        ("lines", LINE_CASES, line_results),
    ):
        for name, (body, *expected) in table.items():
            with tempfile.TemporaryDirectory() as folder:
                with contextlib.redirect_stdout(io.StringIO()):
                    results = function(folder, body)
            counts = run_tests.count(results)[0]
            got = [counts[s] for s in ("passed", "failed", "skipped")]
            yield f"{kind}/{name}", got, expected
    build = {"build_dir": os.devnull, "unittests": ["absent"]}
    results = run_tests.unit_part(build, argparse.Namespace(filter=None))
    yield "unit/not-built", [r.detail for r in results], ["not built"]
    some = [run_tests.Result("a", s, "") for s in ("passed", "failed", "passed")]
    yield "text", run_tests.count(some)[1], "2 passed, 1 failed"


def main():
    failed = False
    for name, got, expected in cases():
        bad = got != expected
        failed = failed or bad
        if bad:
            print(f"{name}: got {json.dumps(got)}, expected {expected}", file=sys.stderr)
        print(f"{'FAIL' if bad else 'PASS'}: driver-selftest/{name}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
