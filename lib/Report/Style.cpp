//===- Style.cpp - Style sheet of the report's page -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Sections.h"

// Colours after Okabe and Ito, which stay apart in common colour blindness;
// what they say is said by shape, place or number too.
const char *const mlir::sparseattn::report::styleSheet = R"css(
:root{color-scheme:light dark;--bg:#f6f7f8;--card:#fff;--ink:#1a1d21;
--soft:#59626c;--line:#dde1e5;--c0:#0072b2;--c1:#c85200;--c2:#00805d;
--c3:#a4467f;--c4:#b27b00;--c5:#3b93c4;--c6:#878f98;--good:#00704f;
--bad:#b3261e;--heat:0,114,178}
@media (prefers-color-scheme:dark){:root{--bg:#121518;--card:#1a1e23;
--ink:#e7eaed;--soft:#9da7b1;--line:#323941;--c0:#4ba7de;--c1:#f0843f;
--c2:#2fc398;--c3:#dc8fbe;--c4:#ecb23a;--c5:#93d1f3;--c6:#7b848e;
--good:#41cf9e;--bad:#ff8a80;--heat:75,167,222}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);
font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;
font-variant-numeric:tabular-nums}
.page{max-width:1200px;margin:0 auto;padding:20px 20px 48px}
header p{margin:2px 0;color:var(--soft);overflow-wrap:anywhere}
h1{font-size:24px;line-height:1.2;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:18px;margin:0 0 8px}
section{margin-top:28px}
section>p{margin:-6px 0 12px;color:var(--soft);max-width:86ch}
.eyebrow{font-size:12px;letter-spacing:.04em}
.soft{color:var(--soft)}
nav{display:flex;flex-wrap:wrap;gap:4px 16px;margin-top:14px;font-size:14px}
a{color:var(--c0)}
a:focus-visible,summary:focus-visible,input:focus-visible,
.scroll:focus-visible{outline:2px solid var(--c1);outline-offset:2px}
.tiles{display:grid;gap:10px;margin-top:16px;
grid-template-columns:repeat(auto-fit,minmax(205px,1fr))}
.tile{background:var(--card);border:1px solid var(--line);border-radius:8px;
padding:10px 14px}
.tile h3{margin:0;font-size:13px;font-weight:600;color:var(--soft)}
.tile .big{font-size:23px;line-height:1.25;font-weight:600;white-space:nowrap}
.tile p{margin:0;font-size:13px;color:var(--soft)}
.good{color:var(--good)}.bad{color:var(--bad)}
.cards{display:grid;gap:10px;
grid-template-columns:repeat(auto-fill,minmax(min(100%,270px),1fr))}
.charts{grid-template-columns:repeat(auto-fit,minmax(min(100%,330px),1fr))}
figure{margin:0;background:var(--card);border:1px solid var(--line);
border-radius:8px;padding:10px 12px;min-width:0}
.chart svg{max-width:520px;margin:0 auto}
figcaption{font-size:13px;margin-bottom:6px}
figcaption .soft{font-size:13px}
.legend{display:flex;flex-wrap:wrap;gap:2px 14px;color:var(--soft)}
svg{display:block;width:100%;height:auto}
.legend svg{display:inline-block;width:26px;vertical-align:middle}
svg text{font-size:11px;fill:var(--soft)}
.grid{stroke:var(--line)}
.line{fill:none;stroke-width:2;stroke-linejoin:round}
.dash{stroke-dasharray:5 4}
.band{opacity:.18}
.mean{stroke:var(--ink);stroke-dasharray:3 3}
.before{fill:none;stroke:var(--c6);stroke-width:1.2}
.s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}
.s3{stroke:var(--c3)}.s4{stroke:var(--c4)}.s5{stroke:var(--c5)}
.f0{fill:var(--c0)}.f1{fill:var(--c1)}.f2{fill:var(--c2)}.f3{fill:var(--c3)}
.f4{fill:var(--c4)}.f5{fill:var(--c5)}.f6{fill:var(--c6)}
.swatch{display:inline-block;width:11px;height:11px;border-radius:2px;
margin-right:5px;vertical-align:-1px}
.b0{background:var(--c0)}.b1{background:var(--c1)}.b2{background:var(--c2)}
.b3{background:var(--c3)}.b4{background:var(--c4)}.b5{background:var(--c5)}
.b6{background:var(--c6)}.hollow{border:1.5px solid var(--c6)}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);
border-radius:8px}
table{border-collapse:collapse;font-size:13px;width:100%}
caption{text-align:left;padding:8px 10px;color:var(--soft)}
th,td{padding:5px 10px;text-align:right;white-space:nowrap;
border-top:1px solid var(--line)}
th{font-weight:600;color:var(--soft)}
tbody tr:hover td{background:rgba(128,128,128,.08)}
#runs th,#runs td{padding:5px 7px}
.links{width:auto}.links td{border:1px solid var(--bg);min-width:74px}
.links tbody tr:hover td{background-clip:border-box}
details{background:var(--card);border:1px solid var(--line);border-radius:8px;
margin-top:8px}
summary{padding:8px 14px;cursor:pointer;font-weight:600;font-size:14px}
summary .soft{font-weight:400}
.inside{padding:2px 14px 14px}
.pick{display:block}
.choice{display:inline-block;margin:0 14px 8px 0;font-size:13px}
.r{accent-color:var(--c1);margin:0 5px 0 0;vertical-align:-1px}
.heads{display:grid;gap:10px;
grid-template-columns:repeat(auto-fill,minmax(min(100%,172px),1fr))}
.heads figure{padding:8px 10px;background:var(--bg)}
.r0:checked~.heads .k:not(.k0),.r1:checked~.heads .k:not(.k1),
.r2:checked~.heads .k:not(.k2){display:none}
.matrix{display:grid;grid-template-columns:14px 1fr;font-size:11px;
color:var(--soft)}
.matrix img,.k img{display:block;width:100%;image-rendering:pixelated;
border:1px solid var(--line)}
.matrix .y{writing-mode:vertical-rl;transform:rotate(180deg);text-align:center}
.matrix .x{grid-column:2;text-align:center}
.k{font-size:11px;color:var(--soft);margin-top:6px}
.k img{border:0}
.laneset{min-width:880px;padding:8px 10px}
.key{display:flex;flex-wrap:wrap;gap:2px 16px;font-size:13px;
color:var(--soft);margin-bottom:8px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:3px 18px;margin:0;
font-size:14px}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.facts{background:var(--card);border:1px solid var(--line);border-radius:8px;
padding:12px 16px}
.notes{color:var(--soft);font-size:13px;padding-left:20px;margin:12px 0 0}
footer{margin-top:32px;color:var(--soft);font-size:13px}
@media (max-width:600px){.page{padding:14px 12px 32px}
.tiles{grid-template-columns:repeat(2,minmax(0,1fr))}
.tile{padding:8px 10px}.tile .big{font-size:20px}
.heads{grid-template-columns:repeat(2,minmax(0,1fr))}
dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:5px}}
@media print{*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
body{background:#fff}.page{max-width:none;padding:0}nav{display:none}
figure,.tile{break-inside:avoid}.scroll{overflow:visible}}
)css";
