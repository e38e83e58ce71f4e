#!/usr/bin/env python3
"""Completes the reference in <build>/doc, whose pages of dialects and passes
mlir-tblgen has written: adds Pipelines.md (from what sparseattn-opt has
registered), Tools/NAME.md (what --help prints) and README.md, the index.
"""

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys

TIMEOUT_SECONDS = 60
Entry = collections.namedtuple("Entry", "argument summary options")
Heading = collections.namedtuple("Heading", "level text summary link")


class WriteError(Exception):
    """A page cannot be made; the text says why."""


def output(command, text=""):
    """Standard output and errors of a command that has to succeed."""
    run = subprocess.run(
        command,
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    if run.returncode:
        what = " ".join([os.path.basename(command[0])] + command[1:])
        raise WriteError(f"{what}: got exit status {run.returncode}, expected 0\n{run.stdout}")
    return run.stdout


def anchor(text):
    """The name that Markdown viewers give to a heading."""
    return re.sub(r"[^\w -]", "", text.lower()).strip().replace(" ", "-")


def headings(folder, page):
    """The headings of a page, each with the _summary_ below it."""
    with open(os.path.join(folder, page), encoding="utf-8") as file:
        lines = file.read().splitlines()
    found, fenced = [], False
    for index, line in enumerate(lines):
        fenced ^= line.startswith("```")
        match = None if fenced else re.match(r"(#+) (.*)", line)
        if match:
            below = next((l for l in lines[index + 1:] if l.strip()), "")
            summary = re.fullmatch(r"_(.*)_", below)
            found.append(Heading(len(match.group(1)), match.group(2),
                                 summary.group(1) if summary else "",
                                 f"{page}#{anchor(match.group(2))}"))
    return found


def pipelines(help_text):
    """This project's entries of the list of pipelines in sparseattn-opt's help."""
    entries = []
    listing = help_text.partition("\n    Pass Pipelines:\n")[2]
    for line in re.match(r"(?: {6}.*\n)*", listing).group().splitlines():
        name = re.match(r" {6}--(\S+)\s+-\s+(.*)", line)
        option = re.match(r" {8}--(\S+)\s+-\s+(.*)", line)
        if name:
            entries.append(Entry(name.group(1), name.group(2), []))
        elif option and entries:
            entries[-1].options.append(option.groups())
    entries = [e for e in entries if e.argument.startswith("sparseattn-")]
    if not entries:
        raise WriteError("pipelines: got none, expected some in sparseattn-opt --help")
    return entries


def passes_list(dump, links):
    """What --dump-pass-pipeline prints, as a list with links to the passes."""
    lines = []
    for line in dump.splitlines()[2:]:
        depth = (len(line) - len(line.lstrip())) - 2
        nested = re.fullmatch(r"\s+(\S+)\(", line)
        run = re.fullmatch(r"\s+([\w-]+)(?:\{\s*(.*)\})?,?", line)
        if nested:
            lines.append(f"{' ' * depth}- in every nested `{nested.group(1)}`:")
        elif run:
            name, options = run.groups()
            text = f"[`{name}`]({links[name]})" if name in links else f"`{name}`"
            lines.append(f"{' ' * depth}- {text}" + (f" `{options}`" if options else ""))
    return "\n".join(lines)


def pipelines_page(opt, links):
    text = (
        "# Pipelines\n\nNamed sequences of passes, as `sparseattn-opt` runs them. "
        "`sparseattn-opt --compile-to` runs all phases up to one: see "
        "[its options](Tools/sparseattn-opt.md). Options stand behind the passes with "
        "their defaults; passes without a link are MLIR's own.\n"
    )
    for entry in pipelines(output([opt, "--help"])):
        text += f"\n## `{entry.argument}`\n\n_{entry.summary}_\n"
        if entry.options:
            text += "\n| option | meaning |\n|---|---|\n"
            text += "".join(f"| `{name}` | {meaning} |\n" for name, meaning in entry.options)
        dump = output([opt, f"--{entry.argument}", "--dump-pass-pipeline", "-"], "module {}")
        text += f"\n{passes_list(dump.partition('module {')[0], links)}\n"
    return text


def tool_page(path):
    """(what it does, page) of a command; help that its help points to comes too."""
    name = os.path.basename(path)
    help_text = output([path, "--help"])
    # The first paragraph that is not the usage, up to its first full stop.
    paragraphs = [p for p in re.split(r"\n\n|\nUSAGE:.*", help_text) if not p.startswith("usage:")]
    summary = " ".join(paragraphs[0].replace("OVERVIEW: ", "").split())
    summary = re.split(r"(?<=\.) ", summary)[0]
    page = f"# {name}\n\n_{summary}_\n\n```text\n{help_text.rstrip()}\n```\n"
    for more in re.findall(rf"`{name} (\w+) --help`", help_text):
        page += f"\n## {name} {more}\n\n```text\n{output([path, more, '--help']).rstrip()}\n```\n"
    return summary, page


def write(folder, page, text):
    path = os.path.join(folder, page)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def links_to(found, level=3):
    return "".join(
        f"- [{h.text.partition(' (')[0]}]({h.link})" + (f": {h.summary}" if h.summary else "") + "\n"
        for h in found
        if h.level == level
    )


def pages(folder, kind):
    return [f"{kind}/{name}" for name in sorted(os.listdir(os.path.join(folder, kind)))]


def write_reference(folder, tools):
    passes = {page: headings(folder, page) for page in pages(folder, "Passes")}
    links = {h.text.strip("`-"): h.link for found in passes.values() for h in found if h.level == 3}
    opt = next(tool for tool in tools if os.path.basename(tool) == "sparseattn-opt")
    write(folder, "Pipelines.md", pipelines_page(opt, links))

    index = "# Reference\n\nGenerated from the definitions of this build.\n"
    for page in pages(folder, "Dialects"):
        found = headings(folder, page)
        index += f"\n## [{found[0].text}]({page})\n\n{found[0].summary}.\n"
        for position, heading in enumerate(found):
            if heading.level == 2:
                following = found[position + 1:]
                end = next((i for i, h in enumerate(following) if h.level == 2), len(following))
                index += f"\n### {heading.text}\n\n{links_to(following[:end])}"
    index += "\n## Passes\n"
    for page, found in passes.items():
        index += f"\n[{os.path.basename(page)[:-3]}]({page})\n\n{links_to(found)}"
    index += f"\n## [Pipelines](Pipelines.md)\n\n{links_to(headings(folder, 'Pipelines.md'), 2)}"
    index += "\n## Commands\n\n"
    # A command that is gone leaves no page.
    shutil.rmtree(os.path.join(folder, "Tools"), ignore_errors=True)
    for tool in sorted(tools):
        name = os.path.basename(tool)
        summary, text = tool_page(tool)
        write(folder, f"Tools/{name}.md", text)
        index += f"- [{name}](Tools/{name}.md): {summary}\n"
    write(folder, "README.md", index)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--doc", required=True, help="the folder of the reference")
    parser.add_argument("tools", nargs="+", help="paths of the commands")
    arguments = parser.parse_args()
    try:
        write_reference(arguments.doc, arguments.tools)
    except WriteError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
