#!/usr/bin/env python3
"""The reference in <build>/doc has everything that there is.

usage: check_reference.py BUILD_DIR

Each op, attribute, type and pass of the definitions stands on its page with
summary and description, each pipeline of the sources with summary, options and
passes, each command of the build with its --help; the index links to all of
them, and every link leads somewhere. Prints one PASS or FAIL line for each.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "lint"))

import ods  # noqa: E402  (found through the line above)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def sections(text):
    """heading: the text below it, up to the next heading of its level or above."""
    plain = re.sub(r"^```.*?^```$", lambda m: re.sub(r"^#", " ", m.group(), flags=re.M), text, flags=re.M | re.S)
    found = {}
    for match in re.finditer(r"^(#+) (.*)\n", plain, re.M):
        level = len(match.group(1))
        end = re.search(rf"^#{{1,{level}}} ", plain[match.end():], re.M)
        found[match.group(2)] = plain[match.end():match.end() + end.start()] if end else plain[match.end():]
    return found


def anchors(text):
    """The names of a page's headings: no punctuation, lower case, dashes."""
    return {
        "".join(c for c in heading.lower() if c.isalnum() or c in "-_ ").replace(" ", "-")
        for heading in sections(text)
    }


def described(page, heading, summary, description):
    """None, or what the section of a definition lacks."""
    found = [text for title, text in sections(page).items() if title.startswith(heading)]
    if not found:
        return f"got no heading {heading}, expected one"
    if not summary.strip() or f"_{summary}_".lower() not in found[0].lower():
        return f"got no summary below {heading}, expected '{summary}'"
    line = next((l.strip() for l in description.splitlines() if l.strip()), None)
    if line is None or line not in found[0]:
        return f"got no description below {heading}, expected '{line}'"
    return None


def heading_of(definition):
    return f"`{definition.name}` " if definition.kind == "op" else definition.cpp_class


def pipeline_names():
    """Every pipeline that the sources register."""
    text = "".join(read(p) for p in glob.glob(os.path.join(ROOT, "lib", "**", "*.cpp"), recursive=True))
    return sorted(set(re.findall(r'"(sparseattn-[a-z-]+-pipeline)"', text)))


def pipeline_options():
    header = read(os.path.join(ROOT, "include", "sparseattn", "Pipelines", "Pipelines.h"))
    return re.findall(r'\*this,\s*"([a-z-]+)"', header)


def check_pipeline(page, name):
    text = sections(page).get(f"`{name}`")
    if text is None:
        return f"got no heading {name}, expected one"
    if not re.search(r"^_.+_$", text, re.M):
        return "got no summary, expected one"
    if not re.search(r"^\s*- (\[`|`)[a-z0-9-]+`", text, re.M):
        return "got no passes, expected some"
    if name == "sparseattn-plan-pipeline":
        missing = [o for o in pipeline_options() if not re.search(rf"^\| `{o}\b.*\| .+ \|$", text, re.M)]
        return f"got no option {missing}, expected all" if missing or not pipeline_options() else None
    return None


def check_command(doc, tool, help_text):
    path = os.path.join(doc, "Tools", os.path.basename(tool) + ".md")
    if not os.path.exists(path):
        return "got no page, expected one"
    return None if help_text.strip() and help_text.strip() in read(path) else "got other text than --help prints"


def links_problem(doc, page, reached):
    """None, or the first link of a page that leads nowhere; notes the others."""
    text = re.sub(r"^```.*?^```$", "", read(os.path.join(doc, page)), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), file)) if file else page
        if not os.path.isfile(os.path.join(doc, path)):
            return f"got a link to {target}, expected a page"
        if anchor and anchor not in anchors(read(os.path.join(doc, path))):
            return f"got a link to {target}, expected a heading of that page"
        if page == "README.md":
            reached |= {path, target}
    return None


def problems(doc, helps):
    """name: None or what is wrong, for everything that the reference has to have."""
    found = {}
    for d in ods.definitions(ROOT):
        page = read(os.path.join(doc, "Dialects", d.folder + ".md"))
        found[f"{d.kind}/{d.name}"] = described(page, heading_of(d), d.summary, d.description)
    pages = [os.path.relpath(p, doc) for p in sorted(glob.glob(os.path.join(doc, "**", "*.md"), recursive=True))]
    passes = "".join(read(os.path.join(doc, p)) for p in pages if p.startswith("Passes/"))
    for p in ods.passes(ROOT):
        found[f"pass/{p.argument}"] = described(passes, f"`-{p.argument}`", p.summary, p.description)
    pipelines = read(os.path.join(doc, "Pipelines.md"))
    for name in pipeline_names():
        found[f"pipeline/{name}"] = check_pipeline(pipelines, name)
    for tool, help_text in helps.items():
        found[f"command/{os.path.basename(tool)}"] = check_command(doc, tool, help_text)
    reached = {"README.md"}
    for page in pages:
        found[f"links/{page}"] = links_problem(doc, page, reached)
    unlinked = [page for page in pages if page not in reached]
    for page in pages:
        if page.startswith(("Dialects/", "Passes/")) or page == "Pipelines.md":
            wanted = re.findall(r"^### (?:`.*|\w+(?:Attr|Type)$)|^## `.*", read(os.path.join(doc, page)), re.M)
            unlinked += [f"{page}: {h}" for h in wanted
                         if f"{page}#{anchors(h + chr(10)).pop()}" not in reached]
    found["index"] = f"got no link to {unlinked}, expected one" if unlinked else None
    return found


def replace(page, pattern, by):
    def damage(doc):
        path = os.path.join(doc, page)
        text = read(path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub(pattern, by, text, count=1, flags=re.M | re.S))

    return damage


def remove(page):
    return lambda doc: os.remove(os.path.join(doc, page))


# What is done to a copy of the reference, and the name that has to fail then.
FAULTS = (
    ("op/sa_comm.send", replace("Dialects/Comm.md", r"^### `sa_comm.send` .*?^(?=### )", "")),
    ("op/sparseattn.route", replace("Dialects/SparseAttn.md", r"_Selects kv-blocks .*?_\n", "")),
    ("attr/sparseattn.plan", replace("Dialects/SparseAttn.md", r"^The content of the struct .*?^- ", "- ")),
    ("pass/sparseattn-fold-masks", replace("Passes/SparseAttnMask.md", r"`-sparseattn-fold-masks`", "x")),
    ("pipeline/sparseattn-jit-pipeline", replace("Pipelines.md", r"^## `sparseattn-jit.*?^(?=## )", "")),
    ("pipeline/sparseattn-plan-pipeline", replace("Pipelines.md", r"^\| `ring.*?\n", "")),
    ("command/sparseattn-run", replace("Tools/sparseattn-run.md", r"--seed N", "--sed N")),
    ("links/README.md", remove("Tools/sparseattn-sim.md")),
    ("links/Pipelines.md", replace("Pipelines.md", r"#-sparseattn-fold-masks", "#fold")),
    ("index", replace("README.md", r"^- \[`sa_comm.wait`\].*?\n", "")),
    ("index", replace("README.md", r"^- \[sparseattn-sim\].*?\n", "")),
)


def main():
    build_dir = sys.argv[1]
    doc = os.path.join(build_dir, "doc")
    failed = False

    def expect(name, problem):
        nonlocal failed
        if problem:
            failed = True
            print(f"{name}: {problem}", file=sys.stderr)
        print(f"{'FAIL' if problem else 'PASS'}: docs/reference/{name}", flush=True)

    if not os.path.exists(os.path.join(doc, "README.md")):
        expect("built", "got no build/doc/README.md, expected the target sparseattn-doc to be built")
        sys.exit(1)
    helps = {
        tool: subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
        for tool in sorted(glob.glob(os.path.join(build_dir, "bin", "sparseattn-*")))
    }
    found = problems(doc, helps)
    for name, problem in found.items():
        expect(name, problem)
    for index, (name, damage) in enumerate(FAULTS, 1):
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "doc")
            shutil.copytree(doc, copy)
            damage(copy)
            seen = problems(copy, helps)[name]
        expect(f"fault/{index}", None if seen else f"{name} passes in a damaged reference")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
