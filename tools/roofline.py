#!/usr/bin/env python3
"""Draws the roofline of a `radiance bench --json` file as SVG: every shape and M, rate over intensity.

  roofline.py RESULTS.json OUT.svg [--check]

Across: multiply-adds a byte of packed weight. Up: TFLOP/s. The roofs are what the same run measured:
the streaming read (median of its rows) and the multiplying instruction's peak. Full circles are the
multiplication, rings the whole operation. --check writes nothing and exits with 1 if OUT is stale.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys

WIDTH, HEIGHT = 880, 540
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 50, 60
COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44", "#7b4b94", "#b8860b", "#00798c", "#555555", "#d1495b",
           "#2e4057"]


class Axis:
    """A logarithmic axis from `low` to `high`, drawn from `start` to `end`."""

    def __init__(self, low, high, start, end):
        self.low, self.high = math.floor(math.log10(low)), math.ceil(math.log10(high))
        self.start, self.end = start, end

    def at(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def decades(self):
        return [10.0 ** e for e in range(self.low, self.high + 1)]


def plain(value):
    return f"{value:g}"


def draw(report):
    rows = [r for r in report["rows"] if r["us"] and r["scope"] in ("gemm", "op")]
    shapes = list(dict.fromkeys(r["shape"] for r in rows))
    colour = {shape: COLOURS[i % len(COLOURS)] for i, shape in enumerate(shapes)}

    def intensity(r):
        return r["M"] * r["N"] * r["K"] / r["packed_bytes"]

    def rate(r):
        return 2e-6 * r["M"] * r["N"] * r["K"] / r["us"]

    stream = statistics.median(r["probe_gbps"] for r in rows)
    peak = 2e-3 * statistics.median(r["peak"] for r in rows)
    x = Axis(min(map(intensity, rows)) / 1.5, max(map(intensity, rows)) * 1.5, LEFT, WIDTH - RIGHT)
    y = Axis(min(map(rate, rows)) / 1.5, peak * 1.2, HEIGHT - BOTTOM, TOP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="24" font-size="15">{report["device"]}: rate over intensity '
           f'({report["command"].split(" --shapes")[0]}, commit {report["commit"]})</text>']
    for value in x.decades():
        at = x.at(value)
        out.append(f'<line x1="{at:.1f}" y1="{TOP}" x2="{at:.1f}" y2="{HEIGHT - BOTTOM}" '
                   f'stroke="#dddddd"/><text x="{at:.1f}" y="{HEIGHT - BOTTOM + 18}" '
                   f'text-anchor="middle">{plain(value)}</text>')
    for value in y.decades():
        at = y.at(value)
        out.append(f'<line x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - RIGHT}" y2="{at:.1f}" '
                   f'stroke="#dddddd"/><text x="{LEFT - 8}" y="{at + 4:.1f}" '
                   f'text-anchor="end">{plain(value)}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 16}" text-anchor="middle">'
               'multiply-adds a byte of packed weight</text>')
    out.append(f'<text transform="translate(20,{(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" '
               'text-anchor="middle">TFLOP/s</text>')
    # The roof: 2 operations a multiply-add at the stream's rate, then the peak.
    knee = peak / (2e-3 * stream)
    first, last = 10.0 ** x.low, 10.0 ** x.high
    # The slope enters where the drawing begins: at its left or at its bottom.
    first = max(first, 10.0 ** y.low / (2e-3 * stream))
    points = [(first, 2e-3 * stream * first), (knee, peak), (last, peak)]
    path = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in points)
    out.append(f'<polyline points="{path}" fill="none" stroke="black" stroke-width="1.5"/>')
    out.append(f'<text x="{x.at(knee):.1f}" y="{y.at(peak) - 8:.1f}" text-anchor="start">'
               f'{peak:.0f} TFLOP/s; stream {stream:.0f} GB/s</text>')
    for shape in shapes:
        for scope in ("gemm", "op"):
            mine = sorted((intensity(r), rate(r), r["M"]) for r in rows
                          if r["shape"] == shape and r["scope"] == scope)
            if not mine:
                continue
            path = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b, _ in mine)
            dash = "" if scope == "gemm" else ' stroke-dasharray="4 3"'
            fill = colour[shape] if scope == "gemm" else "white"
            out.append(f'<polyline points="{path}" fill="none" stroke="{colour[shape]}"{dash}/>')
            for a, b, m in mine:
                out.append(f'<circle cx="{x.at(a):.1f}" cy="{y.at(b):.1f}" r="3.5" fill="{fill}" '
                           f'stroke="{colour[shape]}"><title>{shape}, M = {m}, {scope}: {b:.1f} '
                           'TFLOP/s</title></circle>')
    for i, shape in enumerate(shapes):
        at = TOP + 20 * i + 10
        out.append(f'<circle cx="{WIDTH - RIGHT + 20}" cy="{at}" r="4" fill="{colour[shape]}"/>'
                   f'<text x="{WIDTH - RIGHT + 32}" y="{at + 4}">{shape}</text>')
    at = TOP + 20 * len(shapes) + 20
    for text in ("full: multiplication", "ring: whole operation"):
        out.append(f'<text x="{WIDTH - RIGHT + 14}" y="{at}">{text}</text>')
        at += 18
    return "\n".join(out + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("svg", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    drawing = draw(json.loads(options.results.read_text(encoding="utf-8")))
    if options.check:
        if options.svg.read_text(encoding="utf-8") != drawing:
            print(f"{options.svg} is not what {options.results} says: run tools/roofline.py")
            return 1
        return 0
    options.svg.write_text(drawing, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
