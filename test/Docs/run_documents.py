#!/usr/bin/env python3
"""Runs the commands of the tutorial, of the text on machine files and of the
README's "Five minutes".

usage: run_documents.py BUILD_DIR [--print]

Works in a new folder that holds `build` and `examples` as a checkout does.
All ```sh blocks of a document run in one shell. But for the README a ```text block
with the output (standard output and errors together) follows each of them:
  - a line `...` stands for any number of lines,
  - `<n>` stands for a number that differs between runs, such as a time,
  - a command may fail only where the block shows `error:`, and has to there.
The README's blocks show no output; each of their commands has to succeed. Names
in capitals and capture.npz stand for the reader's files there.

Links between documents have to lead to files.
Prints one PASS or FAIL line for each block and document; --print shows what was printed.
"""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMEOUT_SECONDS = 600
# Whose commands are followed by their output.
DOCUMENTS = (
    ("tutorial", "examples/tutorial/README.md"),
    ("machines", "runtime/machines/README.md"),
)
MARK = "==== end of block"
NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"


class DocumentError(Exception):
    """The document breaks a rule of its own; the text says which."""


def fences(text):
    """(language, content, line) of every fenced block."""
    pattern = r"^```(\w*)\n(.*?)^```$"
    for match in re.finditer(pattern, text, re.M | re.S):
        yield match.group(1), match.group(2), text.count("\n", 0, match.start()) + 1


def steps(text):
    """(commands, output, line) of every ```sh block; its ```text block follows."""
    blocks = list(fences(text))
    if not any(language == "sh" for language, _, _ in blocks):
        raise DocumentError("commands: got none, expected an sh block")
    found = []
    for (language, commands, line), following in zip(blocks, blocks[1:] + [None]):
        if language != "sh":
            continue
        if following is None or following[0] != "text":
            raise DocumentError(f"line {line}: commands have no output: got none, expected a text block")
        found.append((commands, following[1], line))
    return found


def matches(expected, got):
    """Whether the shown output stands for what was printed."""
    pattern = ""
    for line in expected.rstrip("\n").splitlines():
        if line == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += NUMBER.join(map(re.escape, line.split("<n>"))) + r"\n"
    return re.fullmatch(pattern, got.rstrip("\n") + "\n") is not None


def shell(commands, folder):
    """(output, whether every command succeeded) of each block, in one bash."""
    script = "exec 2>&1\nset -o pipefail\ntrap 'failed=1' ERR\n"
    for block in commands:
        script += f"failed=0\n{block}\necho '{MARK}' $failed\n"
    environment = dict(os.environ, TMPDIR=folder, LC_ALL="C.UTF-8")
    environment["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
    run = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    parts = re.split(rf"^{MARK} ([01])\n", run.stdout, flags=re.M)
    results = [(out, flag == "0") for out, flag in zip(parts[::2], parts[1::2])]
    # A block that ends the shell leaves the later ones without a result.
    return results + [(parts[-1] if len(results) == i else "", False)
                      for i in range(len(results), len(commands))]


def problem(step, result):
    """None, or what differs between the document and the run."""
    _, expected, line = step
    got, succeeded = result
    if not matches(expected, got):
        return f"line {line}: got\n{got}expected\n{expected}"
    if succeeded == ("error:" in expected):
        return f"line {line}: got status {'0' if succeeded else 'not 0'}, expected the other"
    return None


def checkout(folder, build_dir):
    """Makes `folder` look like a checkout that was just built."""
    os.symlink(build_dir, os.path.join(folder, "build"))
    os.symlink(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))


class Cases:
    def __init__(self):
        self.failed = False

    def expect(self, name, text):
        """`text` is None or says what is wrong."""
        if text is not None:
            self.failed = True
            print(f"{name}: {text}", file=sys.stderr)
        print(f"{'PASS' if text is None else 'FAIL'}: docs/{name}", flush=True)


def check_document(cases, build_dir, name, path, show):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        document = steps(file.read())
    with tempfile.TemporaryDirectory() as folder:
        checkout(folder, build_dir)
        results = shell([commands for commands, _, _ in document], folder)
    for index, (step, result) in enumerate(zip(document, results), 1):
        if show:
            print(f"{step[0]}---- {'succeeds' if result[1] else 'fails'}\n{result[0]}")
        cases.expect(f"{name}/{index}", problem(step, result))
        # One line of the output more, and another one, are seen.
        lines = step[1].splitlines(keepends=True)
        at = next(i for i, line in enumerate(lines) if line != "...\n")
        more = lines[:at] + ["no command says this\n"] + lines[at:]
        other = lines[:at] + ["x" + lines[at]] + lines[at + 1:]
        passing = [text for text in (more, other) if not problem((step[0], "".join(text), step[2]), result)]
        if passing:
            cases.expect(f"{name}/{index}/doctored", "passes:\n" + "".join(passing[0]))


def check_readme(cases, build_dir):
    # Only here: the arrays that stand for the reader's own.
    import numpy

    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        text = file.read()
    section = re.search(r"^## Five minutes\n(.*?)^## ", text, re.M | re.S)
    blocks = [content for language, content, _ in fences(section.group(1)) if language == "sh"]
    layers = [content for language, content, _ in fences(section.group(1)) if language == "mlir"]
    cases.expect("readme/has-commands", None if blocks and layers else "no commands or no layer")
    small = os.path.join(ROOT, "examples", "layers", "small.mlir")
    with open(small, encoding="utf-8") as file:
        source = re.sub(r"^//.*\n", "", file.read(), flags=re.M)
    same = source.strip() == layers[0].strip()
    cases.expect("readme/layer", None if same else "the layer differs from examples/layers/small.mlir")
    with tempfile.TemporaryDirectory() as folder:
        checkout(folder, build_dir)
        shutil.copy(small, os.path.join(folder, "LAYER.mlir"))
        generator = numpy.random.default_rng(0)
        arrays = {name: generator.normal(size=(4, 1000, 64)).astype("float32") for name in "qkv"}
        numpy.savez(os.path.join(folder, "capture.npz"), **arrays)
        for index, (got, succeeded) in enumerate(shell(blocks, folder), 1):
            cases.expect(f"readme/{index}", None if succeeded else got)


def dead_links(path, text):
    """Relative links of a document to files that do not exist."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    targets = re.findall(r"\]\((?![a-z]+:|#)([^)#\s]+)[^)\s]*\)", text)
    return [t for t in targets if not os.path.exists(os.path.join(os.path.dirname(path), t))]


def check_links(cases):
    for top in ("examples", "include", "lib", "runtime", "test", "tools", "."):
        pattern = "*.md" if top == "." else os.path.join(top, "**", "*.md")
        for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
            with open(path, encoding="utf-8") as file:
                dead = dead_links(path, file.read())
            cases.expect(f"links/{os.path.relpath(path, ROOT)}", f"no such file: {dead}" if dead else None)


def check_itself(cases):
    """Every rule of a document can be broken."""

    def outcome(text):
        try:
            document = steps(text)
        except DocumentError as error:
            return str(error)
        with tempfile.TemporaryDirectory() as folder:
            results = shell([commands for commands, _, _ in document], folder)
        found = [problem(step, result) for step, result in zip(document, results)]
        return next((text for text in found if text is not None), None)

    def block(commands, output):
        return f"```sh\n{commands}\n```\n\n```text\n{output}\n```\n"

    good = block("cd /; seq 9", "1\n...\n8\n9") + block("pwd; echo 1.5e-3 ms", "/\n<n> ms")
    good += block("echo error: no >&2; false", "error: no")
    cases.expect("selftest/good", outcome(good))
    for name, text in (
        ("no-commands", "Some text.\n\n```text\nout\n```\n"),
        ("no-output", "```sh\necho\n```\n\n```sh\necho\n```\n"),
        ("no-output-at-the-end", "```sh\necho\n```\n"),
        ("other-output", block("echo one", "two")),
        ("less-output", block("seq 3", "1\n3")),
        ("order", block("seq 9", "5\n...\n4\n...")),
        ("not-a-number", block("echo fast", "<n>")),
        ("fails", block("false; echo one", "one")),
        ("fails-in-a-pipe", block("false | echo one", "one")),
        ("does-not-fail", block("echo error: no", "error: no")),
        ("ends-the-shell", block("exit 0", "...") + block("echo one", "one")),
    ):
        cases.expect(f"selftest/{name}", None if outcome(text) else "a wrong document passes")

    here = os.path.join(ROOT, "README.md")
    text = "[a](LICENSE) [b](examples/none.md) [c](https://example.org/x) [d](#e)\n```sh\n[f](g)\n```\n"
    cases.expect("selftest/dead-link", None if dead_links(here, text) == ["examples/none.md"] else "not seen")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build_dir")
    parser.add_argument("--print", action="store_true", help="print each block and its output")
    arguments = parser.parse_args()
    build_dir = os.path.abspath(arguments.build_dir)
    cases = Cases()
    check_itself(cases)
    check_links(cases)
    check_readme(cases, build_dir)
    for name, path in DOCUMENTS:
        check_document(cases, build_dir, name, path, arguments.print)
    sys.exit(1 if cases.failed else 0)


if __name__ == "__main__":
    main()
