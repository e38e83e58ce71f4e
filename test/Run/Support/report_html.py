"""The report as a page: it says what the JSON says, shows the mask that ran, in
block order and on the frames, and needs nothing beside itself."""

import base64
import html.parser
import json
import os
import struct
import sys
import xml.etree.ElementTree
import zlib

import numpy as np
from harness import *


class Page(html.parser.HTMLParser):
    """Elements, ids and pictures; refuses tags that do not match."""

    VOID = {"meta", "img", "input", "link", "br"}

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.images, self.elements = [], [], [], {}
        self.feed(text)
        self.close()
        check(not self.open, f"page: {self.open} not closed")
        check(len(set(self.ids)) == len(self.ids), "page: an id twice")

    def handle_starttag(self, tag, attributes):
        self.elements[tag] = self.elements.get(tag, 0) + 1
        given = dict(attributes)
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "img":
            check(given.get("alt"), "page: a picture without alt text")
            self.images.append((given["alt"], picture(given["src"])))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        check(self.open and self.open[-1] == tag, f"page: </{tag}> in {self.open}")
        self.open.pop()


def picture(uri):
    """Palette indices [height, width] of a PNG."""
    prefix = "data:image/png;base64,"
    check(uri.startswith(prefix), f"picture: got {uri[:40]}")
    data = base64.b64decode(uri[len(prefix) :], validate=True)
    check(data[:8] == b"\x89PNG\r\n\x1a\n", "picture: start of a PNG")
    chunks, at = {}, 8
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        body = data[at + 4 : at + 8 + size]
        (sum,) = struct.unpack(">I", data[at + 8 + size : at + 12 + size])
        check(zlib.crc32(body) == sum, "picture: checksum")
        chunks[body[:4]] = body[4:]
        at += 12 + size
    width, height, bits = struct.unpack(">IIB", chunks[b"IHDR"][:9])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    check((rows[:, 0] == 0).all(), "picture: no filter")
    points = np.unpackbits(rows[:, 1:], axis=1).reshape(height, -1, bits)
    return (points @ (1 << np.arange(bits)[::-1]))[:, :width]


def load(path="report.html"):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    # Well-formed as XML too, so that no browser has to guess.
    xml.etree.ElementTree.fromstring(text.split("\n", 1)[1])
    for part in ("http:", "https:", "<script", "<link", "url(", "@import", "//"):
        check(part not in text.split("src=")[0], f"page: {part}")
    check("<script" not in text and "http" not in text, "page: script or address")
    body = text[text.index("</style>") :]
    for part in (">nan", ">inf", "undefined", ">null"):
        check(part not in body, f"page: {part}")
    check(len(text) < 5e6, f"page: {len(text)} bytes")
    return text, Page(text)


start(sys.argv)

# A given mask over a grid in an order, on four ranks.
T, H, W, BLOCK, HEADS = 3, 4, 8, 16, 4
TOKENS = T * H * W
blocks = TOKENS // BLOCK
rng = np.random.default_rng(3)
mask = rng.random((HEADS, blocks, blocks)) < 0.4
mask[1] = False
arrays = tensors(HEADS, TOKENS, 32)
np.savez("in.npz", **arrays, mask=mask)
text = routed_layer(HEADS, TOKENS, 32, "#sparseattn.top_p<p = 0.7>", (BLOCK, BLOCK))
grid = f"tokens = {TOKENS}x{TOKENS}, order = <stripes, grid = [{T}, {H}, {W}]>"
name = "<script>alert('x')</script> & \"layer\".mlir".replace("/", "")
write(name, text.replace(f"tokens = {TOKENS}x{TOKENS}", grid))
run_ok(f"./{name}", "--inputs", "in.npz", "--mesh", "ulysses=2,ring=2", "--check=full",
       "--report", "report.json", "--report-html", "report.html", "--trace", "trace.json")
whole = json.load(open("report.json"))
stats = report()
source, page = load()

# Escaped, wherever it stands.
check(whole["title"] == name, f"title: got {whole['title']}")
check("&lt;script&gt;alert(&#39;x&#39;)&lt;script&gt; &amp; &quot;layer&quot;.mlir</h1>" in source, "escaped")
for section in ("loads", "masks", "links", "timeline", "runs", "facts"):
    check(section in page.ids, f"page: no section {section}")
check("steps" not in page.ids, "one run has no curves")

# The JSON's numbers.
for shown in (f"{stats['density']:.3f}", f"{stats['rho_before']:.3f} \u2192 {stats['rho_after']:.3f}",
              f"{stats['kept_mass']:.4f}", f"{stats['max_abs_error']:.1e}", f"{stats['tiles']:,}",
              f"{HEADS * TOKENS} rows compared", "in stripes order", "4 ranks (ulysses 2 \u00d7 ring 2)"):
    check(shown in source, f"page: no {shown}")
check(stats["check_passed"] and stats["rows_checked"] == HEADS * TOKENS, "check in the JSON")
links = np.array(stats["link_bytes"])
check(links.shape == (4, 4) and (np.diag(links) == 0).all(), "links")
crossed = stats["bytes_ulysses"] + stats["bytes_moved"] + stats["bytes_routed"]
check(links.sum() == crossed, f"links: got {links.sum()}, expected {crossed}")
for rank, load_after in enumerate(stats["loads_after"]):
    check(f"rank {rank} after balancing: {load_after:,} tile" in source, f"load of rank {rank}")
events = [e for e in json.load(open("trace.json")) if e["ph"] == "X" and e["cat"] != "run"]
timeline = stats["timeline"]
check(len(timeline["events"]) == len(events) > 0, "events of the timeline")
busy = sum(e[4] for e in timeline["events"])
check(abs(busy - 1e3 * sum(e["dur"] for e in events)) < 1e-3 * busy + 1e3, "times of the timeline")
check(whole["order"] == {"kind": "stripes", "grid": [T, H, W], "cube": [4, 4, 4], "tiles": [1, 1],
                          "prefix": 0, "suffix": 0}, "order")

# The mask itself, in block order.
matrices = [points for alt, points in page.images if alt.startswith("Mask of head")]
check(np.array_equal(np.array(matrices), mask), "mask in block order")
check(stats["mask"]["tiles"] == mask.sum((1, 2)).tolist(), "tiles per head")
# On the frames: stripes go along w, then h, then t.
t, y, x = np.meshgrid(np.arange(T), np.arange(H), np.arange(W), indexing="ij")
block_of = ((y * W + x) * T + t) // BLOCK
frames = [(alt, points) for alt, points in page.images if alt.startswith("Frames")]
rows = [row["q_block"] for row in stats["mask"]["rows"]]
check(len(frames) == HEADS * len(rows) == HEADS * 3, f"frames: got {len(frames)}")
for number, (alt, points) in enumerate(frames):
    head, row = divmod(number, len(rows))
    chosen = mask[head, rows[row]]
    expected = np.where(chosen[block_of], 2, 1)
    expected[block_of == rows[row]] = 3
    check(f"q-block {rows[row]} of head {head} attends to, {chosen.sum()} of {blocks}" in alt, alt)
    side = (points.shape[1] + 1) // (W + 1)
    for frame in range(T):
        top, left = (frame // side) * (H + 1), (frame % side) * (W + 1)
        got = points[top : top + H, left : left + W]
        check(np.array_equal(got, expected[frame]), f"{alt}: frame {frame}")
    check((points == 0).any() and (points > 0).sum() == TOKENS, f"{alt}: gaps")

# One rank, no check, no order: parts are left out, or say why.
plain = write("plain.mlir", routed_layer(2, 100, 32, "#sparseattn.top_p<p = 0.7>", (32, 32)))
run_ok(plain, "--report-html", "plain.html", "--save-program", "program.mlir")
source, page = load("plain.html")
for section in ("loads", "links", "steps"):
    check(section not in page.ids, f"one rank: section {section}")
for said in ("one rank", "not checked", "gives its mask no order over a grid", "top-p 0.7"):
    check(said in source, f"one rank: no '{said}'")
check(len(page.images) == 2, "one rank: pictures")
run_ok("--program", "program.mlir", "--report-html", "program.html")
check(len(load("program.html")[1].images) == 2, "program: pictures")

# No tokens, and more ranks than heads.
empty = write("empty.mlir", routed_layer(2, 0, 32, "#sparseattn.top_p<p = 0.7>", (32, 32)))
run_ok(empty, "--ranks", 3, "--report-html", "empty.html", "--report", "empty.json", "--check")
source, page = load("empty.html")
check("none that could be drawn" in source and not page.images, "no tokens: pictures")

# Whole or not there; never over another file.
run_ok(plain, "--report-html", "plain.html", "--report", "plain.json")
before = open("plain.html").read()
expect_error("missing", plain, "--inputs", "missing.npz", "--report-html", "plain.html")
check(open("plain.html").read() == before, "a failing run leaves the page alone")
expect_error("--report-html: got 'r.json', the file of --report, expected another one$",
             plain, "--report", "r.json", "--report-html", "r.json", leaves=["r.json"])
expect_error("--report-html: got it with --compile-only, expected one of them$",
             plain, "--compile-only", "--report-html", "c.html", leaves=["c.html"])
expect_error("--report-html: got 'no/r.html' \\(no folder 'no'\\), expected a path in an existing folder$",
             plain, "--report-html", "no/r.html")
print("ok")
