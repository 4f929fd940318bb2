#!/usr/bin/env python3
"""Writes the tables of README.md and docs/*.md from the results that the tools wrote.

A table stands between two markers, each alone on its line:

    <!-- table:NAME FILE [field=value ...] -->
    <!-- /table -->

With `table?:` the results may be yet to be recorded: the table says so if they are not there.
FILE is a JSON of `radiance ... --json`, relative to the repository. field=value keeps the rows whose
field says so (several values: field=a,b). NAME is one of

    bench     a line for each row: time, bandwidth, share of the streaming read and of the roofline
    beside    a line for each shape and M: the product, the whole operation, and the rivals of `bench --rivals`
    slow      the cells of `bench --rivals` that are slower than a rival or than the next larger M
    sanitizer a line for each tool of compute-sanitizer (tools/sanitize_sm90.py)
    grid      times and shares of the roofline, a line for each shape, a column for each M
    compare   AutoRound beside MXFP4
    gate      a line for each suite: passed, failed, the worst errors
    model     a line for each layer of suite `model`
    rivals    a line for each shape and M, a column for each contestant
    census    a line for each kernel: registers, LDS, occupancy and its main loop
    sass      the same of Hopper's kernels
    counters  a line for each configuration: what the emulator counted of a call
    perplexity  a line for each model: perplexity of each text, and what it lost to the source
    divergence  where greedy texts of two models part
    company     answers that differ between a prompt alone and in company
    overhead  a line for each shape and M: the torch operator beside the C call it makes
    tests       a line for each file of Python tests: passed, failed, skipped
    speed       tokens a second of served models
    emulation how fast the emulator runs a kernel, strict and not (tools/emulator_speed.py)

Run without arguments it rewrites the files; with --check it changes nothing and exits with 1 if a
table is not what its results say.
"""

import argparse
import json
import pathlib
import re
import sys

OPEN = re.compile(r"^<!-- table(\??):(\S+) (\S+)((?: [^\s=]+=\S+)*) -->$")
CLOSE = "<!-- /table -->"
NOTHING = "–"


class BadTable(Exception):
    """A marker or a result file that cannot be made into a table."""


# ---- numbers ----


def time_text(us):
    if us is None:
        return NOTHING
    return f"{us:.2f}" if us < 10 else f"{us:.1f}" if us < 100 else f"{us:.0f}"


def percent_text(share):
    return NOTHING if share is None else f"{100 * share:.0f} %"


def rate_text(rate):
    if rate is None:
        return NOTHING
    return f"{rate:.1f}" if rate < 100 else f"{rate:.0f}"


def flops_text(tflops):
    if tflops is None:
        return NOTHING
    return f"{tflops:.0f} T" if tflops >= 10 else f"{1000 * tflops:.0f} G"


def ratio_text(ratio):
    return NOTHING if ratio is None else f"{ratio:.2f}"


def error_text(error):
    return NOTHING if error is None else f"{error:.1e}"


# ---- tables: each takes the report and its kept rows, and returns heading, alignment, cells ----


def markdown(columns, lines):
    """columns: (heading, is_number) pairs."""
    head = "| " + " | ".join(name for name, _ in columns) + " |"
    rule = "|" + "|".join("--:" if number else "---" for _, number in columns) + "|"
    return [head, rule] + ["| " + " | ".join(cells) + " |" for cells in lines]


def varying(rows, fields):
    """The fields in which the rows differ: the others need no column."""
    return [field for field in fields if len({row.get(field) for row in rows}) > 1]


def bench_table(report, rows):
    extra = varying(rows, ["arch", "format", "scope", "config"])
    columns = [("shape", False)] + [(field, False) for field in extra]
    columns += [(name, True) for name in ("M", "us", "spread", "GB/s", "stream GB/s", "of stream",
                                          "FLOP/s", "of roofline")]
    lines = [
        [row["shape"]] + [str(row[field]) for field in extra] +
        [str(row["M"]), time_text(row["us"]), percent_text(row["us_spread"]),
         rate_text(row["gbps"]), rate_text(row["probe_gbps"]), percent_text(row["fraction"]),
         flops_text(row["tflops"]), percent_text(row["roofline_fraction"])]
        for row in rows
    ]
    return markdown(columns, lines) + [""] + [bench_note(report, rows)]


def grid_table(report, rows):
    extra = varying(rows, ["arch", "format", "scope"])
    counts = sorted({row["M"] for row in rows})
    keys = list(dict.fromkeys(tuple([row["shape"]] + [row[field] for field in extra])
                              for row in rows))
    columns = [("us (of roofline)", False)] + [(field, False) for field in extra]
    columns += [(f"M={m}", True) for m in counts]
    lines = []
    for key in keys:
        cells = []
        for m in counts:
            found = [row for row in rows if row["M"] == m and
                     tuple([row["shape"]] + [row[field] for field in extra]) == key]
            cells.append(f"{time_text(found[0]['us'])} ({percent_text(found[0]['roofline_fraction'])})"
                         if found else NOTHING)
        lines.append([str(part) for part in key] + cells)
    return markdown(columns, lines) + [""] + [bench_note(report, rows)]


def beside_table(report, rows):
    extra = varying(rows, ["format"])
    names = list(dict.fromkeys(rival["name"] for row in rows for rival in row.get("rivals", [])))
    columns = [("shape", False)] + [(field, False) for field in extra] + [("config", False)]
    columns += [(name, True) for name in ("M", "product us", "of stream", "FLOP/s", "operation us",
                                          "beyond the product")]
    for name in names:
        columns += [(f"{name} us", True), ("product / it", True), ("operation / it", True)]
    lines = []
    for key in dict.fromkeys((row["shape"], row["format"], row["M"]) for row in rows):
        cell = {row["scope"]: row for row in rows if (row["shape"], row["format"], row["M"]) == key}
        product, whole = cell.get("gemm"), cell.get("op")
        if product is None or whole is None:
            raise BadTable(f"{key[0]} M={key[2]} does not have a row of each scope")
        line = [key[0]] + [str(product[field]) for field in extra]
        line += [product["config"], str(key[2]), time_text(product["us"]), percent_text(product["fraction"]),
                 flops_text(product["tflops"]), time_text(whole["us"]),
                 f"{whole['us'] - product['us']:.2f}"]
        for name in names:
            both = [next((rival for rival in row.get("rivals", []) if rival["name"] == name), None)
                    for row in (product, whole)]
            line.append(time_text(both[0]["us"]) if both[0] else NOTHING)
            line += [ratio_text(rival["ratio"]) if rival else NOTHING for rival in both]
        lines.append(line)
    return markdown(columns, lines) + [""] + [bench_note(report, rows)]


def slow_table(report, cells):
    if not cells:
        return ["None."]
    columns = [("shape", False), ("scope", False), ("config", False), ("against", False)]
    columns += [(name, True) for name in ("M", "us", "other us", "ratio")]
    lines = [[cell["shape"], cell["scope"], cell["config"], cell["against"], str(cell["M"]),
              time_text(cell["us"]), time_text(cell["other_us"]), ratio_text(cell["ratio"])]
             for cell in cells]
    return markdown(columns, lines) + ["", f"{provenance(report)}."]


def sanitizer_table(report, rows):
    columns = [("tool", False), ("suites", False), ("cases passed", True), ("failed", True),
               ("findings", True), ("s", True), ("finished", False)]
    lines = [[row["tool"], row["suites"].replace(",", ", "), str(row["passed"]), str(row["failed"]),
              str(row["found"]), f"{row['seconds']:.0f}", "yes" if row["finished"] else "no"]
             for row in rows]
    return markdown(columns, lines) + ["", f"{provenance(report)}."]


def bench_note(report, rows):
    samples = sorted({row["samples"] for row in rows})
    threads = ", ".join(str(count) for count in sorted({row["threads"] for row in rows}))
    count = str(samples[0]) if len(samples) == 1 else f"{samples[0]} to {samples[-1]}"
    units = "multiprocessors" if report.get("arch") == "sm90" else "threads"
    replayed = " of replayed graphs" if rows[0].get("replayed") else ""
    return (f"{provenance(report)}, {threads} {units}; medians of {count} samples{replayed}; spread: "
            "interquartile range over median; GB/s: packed weight bytes.")


def compare_table(report, rows):
    pairs = {}
    for row in rows:
        pairs.setdefault((row["shape"], row["scope"], row["M"]), {})[row["format"]] = row
    scopes = varying(rows, ["scope"])
    columns = [("shape", False)] + [("scope", False)] * len(scopes)
    columns += [(name, True) for name in ("M", "AutoRound us", "MXFP4 us", "ratio", "spread")]
    lines = []
    for (shape, scope, m), pair in pairs.items():
        if set(pair) != {"autoround", "mxfp4"}:
            raise BadTable(f"{shape} M={m} does not have one row of each format")
        ours, other = pair["autoround"], pair["mxfp4"]
        lines.append([shape] + [scope] * len(scopes) +
                     [str(m), time_text(ours["us"]), time_text(other["us"]),
                      ratio_text(ours.get("ratio")), percent_text(ours.get("ratio_spread"))])
    return markdown(columns, lines) + [""] + [bench_note(report, rows)]


def worst(cases, field):
    return max((case[field] for case in cases if case[field] is not None), default=None)


def gate_table(report, cases):
    columns = [("suite", False)]
    columns += [(name, True) for name in ("passed", "failed", "skipped", "worst rel",
                                          "worst error / bound")]
    lines = []
    for suite in dict.fromkeys(case["suite"] for case in cases):
        members = [case for case in cases if case["suite"] == suite]
        counts = [sum(case["status"] == status for case in members)
                  for status in ("passed", "failed", "skipped")]
        run = [case for case in members if case["status"] != "skipped"]
        peak = worst(run, "max_elem")
        lines.append([suite] + [str(count) for count in counts] +
                     [error_text(worst(run, "rel")), NOTHING if peak is None else f"{peak:.2f}"])
    note = f"{provenance(report)}; seed {report['seed']}"
    if report.get("wall_s"):
        note += f"; {report['wall_s']:.0f} s on {report['threads']} threads"
    return markdown(columns, lines) + [""] + [note + "."]


def model_table(report, cases):
    columns = [("layer", False), ("format", False)]
    columns += [(name, True) for name in ("N", "K", "group", "negative scales", "worst rel",
                                          "worst error / bound")] + [("status", False)]
    lines = []
    for name in dict.fromkeys(case["name"] for case in cases if case["suite"] == "model"):
        layer = [case for case in cases if case["suite"] == "model" and case["name"] == name]
        first = layer[0]
        failed = any(case["status"] == "failed" for case in layer)
        peak = worst(layer, "max_elem")
        lines.append([name, first["format"], str(first["N"]), str(first["K"]), str(first["group"]),
                      percent_text(first.get("negative_scales")), error_text(worst(layer, "rel")),
                      NOTHING if peak is None else f"{peak:.2f}", "failed" if failed else "passed"])
    return markdown(columns, lines) + [""] + [f"{provenance(report)}; seed {report['seed']}."]


def rivals_table(report, rows):
    # A contestant that ran two weight formats is two columns.
    def title(row):
        name = row["contestant"]
        formats = {other["format"] for other in rows if other["contestant"] == name}
        return name if len(formats) == 1 else f"{name} {row['format']}"

    titles = list(dict.fromkeys(title(row) for row in rows))
    extra = varying(rows, ["arch", "scope"])
    columns = [("us (ours / theirs)", False)] + [(field, False) for field in extra]
    columns += [("M", True)] + [(name, True) for name in titles]
    lines = []
    keys = list(dict.fromkeys(tuple([row["shape"]] + [row[field] for field in extra] + [row["M"]])
                              for row in rows))
    for key in keys:
        cells = []
        for name in titles:
            found = [row for row in rows if title(row) == name and
                     tuple([row["shape"]] + [row[field] for field in extra] + [row["M"]]) == key]
            if not found:
                cells.append(NOTHING)
                continue
            ratio = found[0].get("ratio_to_radiance")
            # The file gives theirs over ours.
            share = "" if not ratio or ratio == 1 else f" ({1 / ratio:.2f})"
            cells.append(time_text(found[0]["us"]) + share)
        lines.append([str(part) for part in key] + cells)
    return markdown(columns, lines) + [""] + [bench_note(report, rows)]


def census_table(report, kernels):
    columns = [("kernel", False)]
    columns += [(name, True) for name in ("VGPR", "LDS", "waves a SIMD", "main loop", "WMMA", "VALU",
                                          "VOPD", "clocks", "WMMA share", "LDS B a WMMA", "global B a WMMA",
                                          "round trips")]
    lines = []
    for kernel in kernels:
        loop = kernel["main_loop"]
        # What multiplies: on the matrix unit, or a variant that does without it.
        if not loop or not (loop["wmma"] or kernel["name"].startswith("ablate_")):
            continue

        def for_a_wmma(field):
            return NOTHING if loop[field] is None else f"{loop[field]:.0f}"

        waves = str(kernel["occupancy"])
        if kernel["allocated_occupancy"] != kernel["occupancy"]:
            waves += f" ({kernel['allocated_occupancy']})"
        lines.append([kernel["name"], str(kernel["vgprs"]), str(kernel["lds_bytes"]), waves,
                      str(loop["instructions"]), str(loop["wmma"]), str(loop["valu"]),
                      str(loop["vopd"]), str(loop["pipe_clocks"]), f"{loop['wmma_share']:.1f} %",
                      for_a_wmma("lds_bytes_per_wmma"), for_a_wmma("global_bytes_per_wmma"),
                      str(loop["round_trips"])])
    compiler = report["device_compiler"] or "an unnamed compiler"
    return markdown(columns, lines) + ["", f"{compiler}, commit {report['commit']}."]


def sass_table(report, kernels):
    columns = [("kernel", False)]
    columns += [(name, True) for name in ("registers", "instructions", "main loop", "QGMMA", "integer",
                                          "float", "shared", "waits", "beside QGMMA")]
    lines = []
    for kernel in kernels:
        loop = kernel.get("main_loop")
        if not loop or kernel["name"] == "peak":
            continue
        lines.append([kernel["name"], str(kernel["registers"]), str(kernel["instructions"])] +
                     [str(loop[key]) for key in ("instructions", "qgmma", "integer", "float", "shared",
                                                 "waits", "overlapped")])
    return markdown(columns, lines) + ["", f"{report['compiler']}, commit {report['commit']}."]


def counters_table(report, rows):
    columns = [("configuration", False), ("M", True)]
    columns += [(name, True) for name in ("instructions", "VALU", "VOPD", "WMMA", "LDS", "global",
                                          "lines", "waits for all", "barriers", "bank conflicts")]
    lines = []
    for row in rows:
        call = row["counters"]["call"]
        by_class = call["instructions"]

        def of(*prefixes):
            return str(sum(count for name, count in by_class.items() if name.startswith(prefixes)))

        lines.append([row["config"], str(row["M"]), str(call["wave_instructions"]), of("valu", "trans"),
                      of("vopd"), of("wmma"), of("lds"), of("global"),
                      str(call["global_load"]["lines"]), str(call["full_waits"]),
                      str(call["barriers"]), str(call["lds_bank_conflict_cycles"])])
    shapes = ", ".join(sorted({f"{row['N']} x {row['K']}" for row in rows}))
    return markdown(columns, lines) + ["", f"Sums over all waves of a call, N x K = {shapes}; lines: of "
                                           f"128 bytes, once a load. {provenance(report)}."]


def uncertain_text(value, error, digits=2):
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def serving_note(report):
    packages = ", ".join(f"{name} {version}" for name, version in report["packages"].items() if version)
    return f"{provenance(report)}; {packages}."


def perplexity_table(report, rows):
    texts = list(dict.fromkeys(row["text"] for row in rows))
    columns = [("model", False)] + [(f"perplexity, {text}", True) for text in texts]
    columns += [(f"loss above the source, {texts[-1]}, nats a token", True)]
    lines = []
    for model in dict.fromkeys(row["model"] for row in rows):
        mine = {row["text"]: row for row in rows if row["model"] == model}
        above = mine[texts[-1]]["above_source"]
        lines.append([model] + [uncertain_text(mine[text]["perplexity"], mine[text]["perplexity_error"])
                                for text in texts] + [uncertain_text(above["nll"], above["error"], 4)])
    counts = ", ".join(f"{row['text']} {row['tokens']}" for row in rows if row["model"] == rows[0]["model"])
    return markdown(columns, lines) + ["", f"Tokens scored: {counts}, in windows of {report['window']}. {serving_note(report)}"]


def divergence_table(report, rows):
    columns = [("model", False), ("beside", False)]
    columns += [(name, True) for name in ("prompts", "same to the end", "median token of the first difference", "earliest")]
    lines = []
    for row in rows:
        found = [position for position in row["positions"] if position is not None]
        lines.append([row["model"], row["other"], str(row["prompts"]), str(row["same"]), f"{row['median']:g}",
                      str(min(found)) if found else NOTHING])
    return markdown(columns, lines) + ["", f"Greedy texts of {rows[0]['tokens']} tokens. {serving_note(report)}"]


def company_table(report, rows):
    columns = [("model", False)] + [(name, True) for name in ("prompts", "tokens", "answers that differ")]
    lines = [[row["model"], str(row["prompts"]), str(row["tokens"]), str(row["diverged"])] for row in rows]
    return markdown(columns, lines) + ["", serving_note(report)]


def speed_table(report, rows):
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    columns = [("tokens a second (ours / theirs)", False)] + [(measure, True) for measure in measures]
    lines = []
    for name in dict.fromkeys(row["contestant"] for row in rows):
        mine = {row["measure"]: row for row in rows if row["contestant"] == name}
        lines.append([name] + [f"{rate_text(mine[measure]['tokens_per_second'])} "
                               f"({ratio_text(mine[measure]['ours_over_theirs'])})" for measure in measures])
    how = "torch.compile" if report["compiled"] else "without torch.compile"
    others = [row for row in rows if row["contestant"] != rows[0]["contestant"]]
    widest = max((row["ratio_quartiles"][1] - row["ratio_quartiles"][0]) / row["ours_over_theirs"] for row in others)
    kernels = ", ".join(f"{name}: {kernel}" for name, kernel in report["kernels"].items() if kernel and kernel != "radiance")
    return markdown(columns, lines) + ["", f"Medians of {report['rounds']} rounds, {how}, {report['threads']} threads; "
                                       f"interquartile range of a cell's samples up to {percent_text(max(row['spread'] for row in rows))}, "
                                       f"of its ratios up to {percent_text(widest)}. {kernels}. {serving_note(report)}"]


def overhead_table(report, rows):
    columns = [("shape", False), ("N x K", False), ("M", True), ("operator us", True), ("C call us", True),
               ("beyond it us", True), ("quartiles", False), ("torch.add us", True)]
    lines = [[row["shape"], f"{row['N']} x {row['K']}", str(row["M"]), time_text(row["us"]),
              time_text(row["call_us"] - row["crossing_us"]), time_text(row["overhead_us"]),
              " to ".join(map(time_text, row["overhead_quartiles_us"])), time_text(row["add_us"])] for row in rows]
    samples = ", ".join(str(count) for count in sorted({row["samples"] for row in rows}))
    return markdown(columns, lines) + ["", f"{provenance(report)}, torch {report['packages']['torch']}; medians of "
                                       f"{samples} samples."]


def tests_table(report, rows):
    states = ("passed", "failed", "skipped")
    lines = [[file] + [str(sum(row["file"] == file and row["status"] == state for row in rows)) for state in states]
             for file in dict.fromkeys(row["file"] for row in rows)]
    lines.append(["all"] + [str(sum(row["status"] == state for row in rows)) for state in states])
    packages = ", ".join(f"{name} {version}" for name, version in report["packages"].items() if version)
    return markdown([("tests", False)] + [(state, True) for state in states], lines) + ["", f"{provenance(report)}; {packages}."]


def emulation_table(report, rows):
    columns = [("kernel", False), ("shape", False)]
    columns += [(name, True) for name in ("M", "wave-instructions", "million a second and core",
                                          "strict", "ratio")]
    lines = []
    for plain in rows:
        if plain["strict"]:
            continue
        strict = next(row for row in rows if row["strict"] and
                      (row["config"], row["M"]) == (plain["config"], plain["M"]))
        rates = [row["per_second_core"] for row in (plain, strict)]
        lines.append([plain["config"], plain["shape"], str(plain["M"]),
                      f"{plain['wave_instructions']:,}"] +
                     [f"{rate * 1e-6:.1f}" for rate in rates] + [f"{rates[0] / rates[1]:.2f}"])
    return markdown(columns, lines) + ["", f"{report['processor']}, commit {report['commit']}; "
                                       f"medians of {rows[0]['samples']}, by processor time."]


def provenance(report):
    arch = f" ({report['arch']})" if report.get("arch") else ""
    return f"{report['device']}{arch}, commit {report['commit']}"


# name: (the report's list, its table)
TABLES = {
    "bench": ("rows", bench_table),
    "beside": ("rows", beside_table),
    "slow": ("slow_cells", slow_table),
    "sanitizer": ("rows", sanitizer_table),
    "grid": ("rows", grid_table),
    "compare": ("rows", compare_table),
    "gate": ("cases", gate_table),
    "model": ("cases", model_table),
    "rivals": ("rows", rivals_table),
    "census": ("kernels", census_table),
    "sass": ("kernels", sass_table),
    "counters": ("rows", counters_table),
    "perplexity": ("rows", perplexity_table),
    "divergence": ("divergences", divergence_table),
    "company": ("company", company_table),
    "speed": ("rows", speed_table),
    "overhead": ("rows", overhead_table),
    "tests": ("cases", tests_table),
    "emulation": ("rows", emulation_table),
}


# Lists in which nothing is good news.
MAY_BE_EMPTY = {"slow"}

# ---- documents ----


class NotRecorded(BadTable):
    """Results that are not there."""


def make_table(root, name, file, filters):
    if name not in TABLES:
        raise BadTable(f"there is no table {name}; there are {', '.join(TABLES)}")
    try:
        report = json.loads((root / file).read_text(encoding="utf-8"))
    except OSError as error:
        raise NotRecorded(f"{file}: {error.strerror}") from error
    except ValueError as error:
        raise BadTable(f"{file}: {error}") from error
    member, table = TABLES[name]
    rows = report.get(member)
    if not isinstance(rows, list):
        raise NotRecorded(f"{file} has no {member}")
    for condition in filters:
        field, _, values = condition.partition("=")
        rows = [row for row in rows if str(row.get(field)) in values.split(",")]
    if not rows and name not in MAY_BE_EMPTY:
        raise BadTable(f"{file} has no {member} for {' '.join(filters) or 'this table'}")
    try:
        return [f"`{report['command']}`", ""] + table(report, rows)
    except KeyError as error:
        raise BadTable(f"{file} lacks the field {error}") from error


def updated(root, text):
    """The document with its tables made anew."""
    lines = text.split("\n")
    out = []
    at = 0
    while at < len(lines):
        line = lines[at]
        out.append(line)
        at += 1
        marker = OPEN.match(line)
        if line.startswith("<!-- table") and not marker:
            raise BadTable(f"cannot read the marker {line}")
        if not marker:
            continue
        try:
            end = lines.index(CLOSE, at)
        except ValueError:
            raise BadTable(f"{line} is not closed by {CLOSE}") from None
        optional, name, file, filters = *marker.group(1, 2, 3), marker.group(4).split()
        try:
            table = make_table(root, name, file, filters)
        except NotRecorded:
            if not optional:
                raise
            table = [f"Not recorded yet: `{file}`."]
        # Blank lines keep the table apart from the markers, which are HTML to a renderer.
        out += [""] + table + ["", CLOSE]
        at = end + 1
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if stale")
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent,
                        help="the repository (default: this one)")
    options = parser.parse_args()
    documents = [options.root / "README.md", *sorted((options.root / "docs").glob("*.md"))]
    stale = []
    for path in documents:
        if not path.exists():
            continue
        text = path.read_text(encoding="utf-8")
        try:
            new = updated(options.root, text)
        except BadTable as error:
            print(f"{path.relative_to(options.root)}: {error}", file=sys.stderr)
            return 2
        if new == text:
            continue
        stale.append(str(path.relative_to(options.root)))
        if not options.check:
            path.write_text(new, encoding="utf-8")
    if options.check and stale:
        print(f"stale tables in {', '.join(stale)}: run tools/tables.py", file=sys.stderr)
        return 1
    for name in stale:
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
