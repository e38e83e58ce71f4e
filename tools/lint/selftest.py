#!/usr/bin/env python3
"""Shows that every lint check fails on a bad input and passes on a good one.

Prints one PASS or FAIL line for each case.
"""

import contextlib
import importlib
import io
import json
import os
import shutil
import sys
import tempfile

import clang_tidy
import common
import run

# One small dialect for the checks that read TableGen.
DIALECT = """
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
def Toy_Dialect : Dialect {
  let name = "toy";
  let cppNamespace = "::toy";
}
def Toy_AddOp : Op<Toy_Dialect, "add"> {
  let summary = "@SUMMARY@";
  let description = [{
    Adds.

    @FENCE@mlir
    "toy.add"() : () -> ()
    ```

    **Constraints:**
    - (C1) first.
    - (C@SECOND@) second.
  }];
  let hasVerifier = 1;
}
def Toy_ShapeAttr : AttrDef<Toy_Dialect, "Shape"> {
  let mnemonic = "shape";
  let summary = "a shape";
  let description = "@ATTR@";
}
// What the file includes from elsewhere is not its own.
def Other_Dialect : Dialect {
  let name = "other";
  let cppNamespace = "::other";
}
def Other_ThingAttr : AttrDef<Other_Dialect, "Thing"> {
  let mnemonic = "thing";
}
"""
PASSES = """
include "mlir/Pass/PassBase.td"
def FooPass : Pass<"@ARGUMENT@"> {
  let summary = "does";
  let description = "Does.";
  let options = [Option<"n", "@OPTION@", "int64_t", "1", "count">];
}
"""
INVALID = """// (add C1)
// expected-error @+1 {{no}}
"toy.add"() : () -> ()

// -----

// (toy.add C2)
// expected-error @+1 {{no}}
"toy.add"() : () -> ()
"""


def toy_tree(invalid=INVALID, **changes):
    values = {
        "SUMMARY": "adds",
        "FENCE": "```",
        "SECOND": "2",
        "ATTR": "A shape.",
        "ARGUMENT": "sparseattn-foo",
        "OPTION": "max-count",
    }
    values.update(changes)
    dialect, passes = DIALECT, PASSES
    for key, value in values.items():
        dialect = dialect.replace(f"@{key}@", value)
        passes = passes.replace(f"@{key}@", value)
    return {
        "include/sparseattn/Dialect/Toy/IR/CMakeLists.txt": "add_sparseattn_dialect(Toy toy)\n",
        "include/sparseattn/Dialect/Toy/IR/ToyOps.td": dialect,
        "include/sparseattn/Transforms/CMakeLists.txt": "add_sparseattn_passes(Toy)\n",
        "include/sparseattn/Transforms/Passes.td": passes,
        "test/Dialect/Toy/invalid.mlir": invalid,
    }


STYLE = {".clang-format": "BasedOnStyle: LLVM\n"}
MARK = "TO" + "DO"
# (check, name of the case, files, a part of the expected finding or None)
CASES = (
    ("file_length", "long", {"lib/a.cpp": "int a;\n" * 801}, "got 801 lines"),
    ("file_length", "limit", {"lib/a.cpp": "int a;\n" * 800}, None),
    ("file_length", "data", {"test/data/a.mlir": "\n" * 900}, None),
    ("path_length", "long", {"lib/" + "a" * 92 + ".cpp": ""}, "got 100 characters"),
    ("path_length", "limit", {"lib/" + "a" * 91 + ".cpp": ""}, None),
    ("forbidden_words", "marker", {"lib/a.cpp": f"// {MARK}: later\n"}, "a.cpp:1: "),
    ("forbidden_words", "machine", {"tools/a.sh": "cd /ro" + "ot/x\n"}, "path of one"),
    ("forbidden_words", "script", {"tools/a": f"#!/bin/sh\n# {MARK}\n"}, "a:2: "),
    ("forbidden_words", "part", {"lib/a.cpp": f"int {MARK}x; // a/ro" + "ot/b\n"}, None),
    ("whitespace", "tab", {"lib/a.cpp": "\tint a;\n"}, "a.cpp:1: tab"),
    ("whitespace", "space", {"lib/a.cpp": "int a; \n"}, "a.cpp:1: space"),
    ("whitespace", "return", {"lib/a.cpp": "int a;\r\n"}, "carriage return"),
    ("whitespace", "newline", {"lib/a.cpp": "int a;"}, "no newline"),
    ("whitespace", "good", {"lib/a.cpp": "int a;\n"}, None),
    ("clang_format", "bad", {**STYLE, "lib/a.cpp": "int  a;\n"}, "lib/a.cpp:1: not"),
    ("clang_format", "good", {**STYLE, "lib/a.cpp": "int a;\n"}, None),
    (
        "runtime_includes",
        "mlir",
        {"runtime/core/a.h": '#pragma once\n# include "mlir/IR/Value.h"\n'},
        "a.h:2: runtime header: got mlir/IR/Value.h",
    ),
    ("runtime_includes", "good", {"runtime/a.h": "#include <vector>\n"}, None),
    ("runtime_includes", "other", {"lib/a.h": '#include "mlir/IR/Value.h"\n'}, None),
    ("ods_docs", "good", toy_tree(), None),
    ("ods_docs", "syntax", toy_tree(SUMMARY='"'), "ToyOps.td"),
    ("ods_docs", "stop", toy_tree(SUMMARY="adds."), "full stop"),
    ("ods_docs", "example", toy_tree(FENCE="'''"), "no ```mlir example"),
    ("ods_docs", "labels", toy_tree(SECOND="3"), "got [1, 3]"),
    ("ods_docs", "attribute", toy_tree(ATTR=""), "attr toy.shape: no description"),
    ("ods_docs", "argument", toy_tree(ARGUMENT="foo"), "argument prefix: got foo"),
    ("ods_docs", "option", toy_tree(OPTION="maxCount"), "kebab-case: got maxCount"),
    ("constraint_tests", "good", toy_tree(), None),
    (
        "constraint_tests",
        "gap",
        toy_tree(INVALID.replace("C2", "C1")),
        "constraint without a test: got none, expected a comment // (add C2)",
    ),
    ("constraint_tests", "number", toy_tree(INVALID + "// (add C3)\n"), "got C3"),
    ("constraint_tests", "name", toy_tree(INVALID + "// (sub C1)\n"), "got none, expected one"),
    (
        "constraint_tests",
        "positive",
        toy_tree(INVALID.rpartition("// expected")[0] + '"toy.add"() : () -> ()\n'),
        "no error is expected",
    ),
)


def run_case(check, files, expected):
    """None when the case behaves as expected, else what went wrong."""
    root = tempfile.mkdtemp()
    try:
        for path, content in files.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8", newline="") as file:
                file.write(content)
        with contextlib.redirect_stderr(io.StringIO()):
            findings = importlib.import_module(check).check(root)
    finally:
        shutil.rmtree(root)
    if expected is None:
        return f"findings: got {findings}, expected none" if findings else None
    if not any(expected in finding for finding in findings):
        return f"findings: got {findings}, expected one with '{expected}'"
    return None


def tidy_cases():
    """clang_tidy.py on one good and one bad file, with the project's own settings."""
    settings = os.path.join(common.default_root(), ".clang-tidy")
    for name, text, expected in (
        ("good", "int addOne(int value) { return value + 1; }\n", None),
        ("naming", "int Add_One(int value) { return value + 1; }\n", "Add_One"),
        ("null", "int *addOne() { return 0; }\n", "modernize-use-nullptr"),
    ):
        with tempfile.TemporaryDirectory() as root:
            shutil.copy(settings, root)
            os.mkdir(os.path.join(root, "runtime"))
            source = os.path.join(root, "runtime", "a.cpp")
            with open(source, "w", encoding="utf-8") as file:
                file.write(text)
            entry = {"directory": root, "file": source, "command": f"clang++-22 -c {source}"}
            with open(os.path.join(root, "compile_commands.json"), "w", encoding="utf-8") as file:
                json.dump([entry], file)
            paths = list(clang_tidy.sources(root, root, ["runtime/"]))
            _, bad, findings = clang_tidy.tidy(root, root, "runtime/a.cpp")
            good = paths == ["runtime/a.cpp"] and bad == bool(expected)
            if expected:
                good = good and any(expected in finding for finding in findings)
            yield f"clang_tidy/{name}", None if good else f"findings: got {findings}"


def main():
    failed = False
    for name, problem in tidy_cases():
        failed = failed or problem is not None
        if problem:
            print(f"{name}: {problem}", file=sys.stderr)
        print(f"{'FAIL' if problem else 'PASS'}: lint-selftest/{name}")
    for check, name, files, expected in CASES:
        problem = run_case(check, files, expected)
        failed = failed or problem is not None
        if problem:
            print(f"{check}/{name}: {problem}", file=sys.stderr)
        print(f"{'FAIL' if problem else 'PASS'}: lint-selftest/{check}/{name}")
    uncovered = [
        check
        for check in run.CHECKS
        if {bool(case[3]) for case in CASES if case[0] == check} != {True, False}
    ]
    for check in uncovered:
        print(f"{check}: needs a good and a bad case", file=sys.stderr)
    print(f"{'FAIL' if uncovered else 'PASS'}: lint-selftest/complete")
    sys.exit(1 if failed or uncovered else 0)


if __name__ == "__main__":
    main()
