"""tools/tables.py: what it writes, what --check finds, what it refuses. Argument 1: the tool."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)

HEADER = {"schema": 1, "commit": "abc", "command": "radiance bench --m 1", "device": "a chip",
          "arch": "avx512", "seed": 7}


def bench_row(**fields):
    row = {"format": "autoround", "config": "decode/avx512", "shape": "out", "M": 1, "N": 5120,
           "K": 5120, "scope": "op", "threads": 2, "samples": 15, "us": 812.345, "us_spread": 0.0312,
           "gbps": 16.78, "probe_gbps": 20.04, "fraction": 0.8373, "tflops": 0.06455,
           "roofline_fraction": 0.8373}
    row.update(fields)
    return row


def emulation_row(**fields):
    row = {"config": "decode/r1/s1", "shape": "gate_up", "M": 1, "strict": False, "samples": 5,
           "wave_instructions": 5000000, "cpu_s": 0.1, "spread": 0.02, "per_second_core": 5e7}
    row.update(fields)
    return row


def case(**fields):
    row = {"suite": "decode", "name": "128x512 M=1", "format": "autoround", "config": "decode",
           "M": 1, "N": 128, "K": 512, "group": 128, "out_dtype": "bf16", "bias": False,
           "rel": 0.0018, "max_elem": 0.93, "status": "passed"}
    row.update(fields)
    return row


class Tables(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.directory.name)
        (self.root / "docs" / "results").mkdir(parents=True)

    def tearDown(self):
        self.directory.cleanup()

    def write(self, text, **report):
        (self.root / "README.md").write_text(text, encoding="utf-8")
        (self.root / "docs/results/r.json").write_text(json.dumps(HEADER | report))

    def run_tool(self, *arguments):
        return subprocess.run([sys.executable, TOOL, "--root", str(self.root), *arguments],
                              capture_output=True, text=True, check=False)

    def read(self):
        return (self.root / "README.md").read_text(encoding="utf-8")

    def table(self, marker, **report):
        self.write(f"before\n<!-- table:{marker} -->\nold\n<!-- /table -->\nafter\n", **report)
        result = self.run_tool()
        self.assertEqual(result.returncode, 0, result.stderr)
        text = self.read()
        self.assertTrue(text.startswith("before\n"))
        self.assertTrue(text.endswith("\nafter\n"))
        self.assertNotIn("old", text)
        return text

    def test_bench(self):
        text = self.table("bench docs/results/r.json", rows=[bench_row(), bench_row(M=8, us=None)])
        self.assertIn("| out | 1 | 812 | 3 % | 16.8 | 20.0 | 84 % | 65 G | 84 % |", text)
        self.assertIn("| out | 8 | – |", text)
        self.assertIn("`radiance bench --m 1`", text)
        self.assertIn("a chip (avx512), commit abc, 2 threads; medians of 15 samples", text)

    def test_columns_only_where_rows_differ(self):
        rows = [bench_row(), bench_row(format="mxfp4")]
        self.assertIn("| out | mxfp4 | 1 |", self.table("bench docs/results/r.json", rows=rows))
        kept = self.table("bench docs/results/r.json format=autoround", rows=rows)
        self.assertNotIn("mxfp4", kept)

    def test_beside(self):
        def rival(name, us, ratio):
            return {"name": name, "us": us, "us_spread": 0.01, "ratio": ratio}

        rows = [bench_row(scope="gemm", us=11.0, replayed=True, rivals=[rival("other fp8", 22, 0.5)]),
                bench_row(scope="op", us=12.5, replayed=True, rivals=[rival("other fp8", 22, 0.568)])]
        text = self.table("beside docs/results/r.json", rows=rows, arch="sm90")
        self.assertIn("| other fp8 us | product / it | operation / it |", text)
        self.assertIn("| out | decode/avx512 | 1 | 11.0 | 84 % | 65 G | 12.5 | 1.50 | 22.0 | 0.50 | 0.57 |",
                      text)
        self.assertIn("2 multiprocessors; medians of 15 samples of replayed graphs", text)
        for row in rows:
            del row["rivals"]
        self.assertIn("| 12.5 | 1.50 |\n", self.table("beside docs/results/r.json", rows=rows))
        self.write("<!-- table:beside docs/results/r.json -->\n<!-- /table -->\n", rows=rows[:1])
        self.assertIn("out M=1 does not have a row of each scope", self.run_tool().stderr)

    def test_slow(self):
        cell = {"shape": "out", "scope": "op", "config": "decode/t8", "against": "M=96", "M": 64,
                "us": 20.0, "other_us": 16.0, "ratio": 1.25}
        text = self.table("slow docs/results/r.json", slow_cells=[cell])
        self.assertIn("| out | op | decode/t8 | M=96 | 64 | 20.0 | 16.0 | 1.25 |", text)
        self.assertIn("\nNone.\n", self.table("slow docs/results/r.json", slow_cells=[]))

    def test_what_is_yet_to_be_recorded(self):
        marker = "<!-- table{}:slow docs/results/{} -->\nold\n<!-- /table -->\n"
        for file in ("none.json", "r.json"):
            self.write(marker.format("?", file))
            self.assertEqual(self.run_tool().returncode, 0)
            self.assertIn(f"\nNot recorded yet: `docs/results/{file}`.\n", self.read())
            self.write(marker.format("", file))
            self.assertEqual(self.run_tool().returncode, 2)

    def test_sanitizer(self):
        row = {"tool": "racecheck", "suites": "onehot,order", "passed": 8, "failed": 0, "found": 3,
               "seconds": 12.3, "finished": True}
        text = self.table("sanitizer docs/results/r.json", rows=[row])
        self.assertIn("| racecheck | onehot, order | 8 | 0 | 3 | 12 | yes |", text)

    def test_grid(self):
        text = self.table("grid docs/results/r.json",
                          rows=[bench_row(), bench_row(M=16, us=9.876), bench_row(shape="down")])
        self.assertIn("| us (of roofline) | M=1 | M=16 |", text)
        self.assertIn("| out | 812 (84 %) | 9.88 (84 %) |", text)
        self.assertIn("| down | 812 (84 %) | – |", text)

    def test_compare(self):
        text = self.table("compare docs/results/r.json",
                          rows=[bench_row(ratio=0.913, ratio_spread=0.02),
                                bench_row(format="mxfp4", us=889.7)])
        self.assertIn("| out | 1 | 812 | 890 | 0.91 | 2 % |", text)

    def test_gate_and_model(self):
        cases = [case(), case(rel=0.0021, status="failed"), case(suite="perm", status="skipped"),
                 case(suite="model", name="q_proj", negative_scales=0.4987)]
        text = self.table("gate docs/results/r.json", cases=cases)
        self.assertIn("| decode | 1 | 1 | 0 | 2.1e-03 | 0.93 |", text)
        self.assertIn("| perm | 0 | 0 | 1 | – | – |", text)
        text = self.table("model docs/results/r.json", cases=cases)
        self.assertIn("| q_proj | autoround | 128 | 512 | 128 | 50 % | 1.8e-03 | 0.93 | passed |",
                      text)

    def test_gate_says_how_long_it_took(self):
        text = self.table("gate docs/results/r.json", cases=[case()], wall_s=61.7, threads=2)
        self.assertIn("seed 7; 62 s on 2 threads.", text)

    def test_emulation(self):
        rows = [emulation_row(), emulation_row(strict=True, per_second_core=2.5e7)]
        text = self.table("emulation docs/results/r.json", rows=rows, processor="a processor")
        self.assertIn("| decode/r1/s1 | gate_up | 1 | 5,000,000 | 50.0 | 25.0 | 2.00 |", text)
        self.assertIn("a processor, commit abc; medians of 5", text)

    def test_rivals(self):
        rows = [bench_row(contestant="radiance", ratio_to_radiance=1.0),
                bench_row(contestant="ggml", format="q4_0", us=1624.7, ratio_to_radiance=2.0)]
        text = self.table("rivals docs/results/r.json", rows=rows)
        self.assertIn("| out | 1 | 812 | 1625 (0.50) |", text)

    def test_census(self):
        loop = {"instructions": 179, "wmma": 64, "valu": 38, "vopd": 0, "pipe_clocks": 550,
                "wmma_share": 93.09, "lds_bytes_per_wmma": 280.0, "global_bytes_per_wmma": 73.0,
                "round_trips": 1}
        no_wmma = loop | {"wmma": 0, "wmma_share": 0.0, "lds_bytes_per_wmma": None,
                          "global_bytes_per_wmma": None}
        kernel = {"name": "mxfp4_prefill_n2", "vgprs": 177, "lds_bytes": 41080, "occupancy": 6,
                  "allocated_occupancy": 6, "main_loop": loop}
        kernels = [kernel, kernel | {"name": "perm_probe", "main_loop": None},
                   kernel | {"name": "general", "main_loop": no_wmma},
                   kernel | {"name": "ablate_dot", "main_loop": no_wmma},
                   kernel | {"name": "tight", "allocated_occupancy": 4}]
        text = self.table("census docs/results/r.json", kernels=kernels, device_compiler="clang 22")
        self.assertIn("| mxfp4_prefill_n2 | 177 | 41080 | 6 | 179 | 64 | 38 | 0 | 550 | 93.1 % | 280 "
                      "| 73 | 1 |", text)
        self.assertIn("| ablate_dot | 177 | 41080 | 6 | 179 | 0 | 38 | 0 | 550 | 0.0 % | – | – | 1 |",
                      text)
        self.assertNotIn("general", text)
        self.assertIn("| tight | 177 | 41080 | 6 (4) |", text)
        self.assertNotIn("perm_probe", text)
        self.assertIn("clang 22, commit abc", text)

    def test_counters(self):
        call = {"wave_instructions": 100, "full_waits": 5, "barriers": 6, "lds_bank_conflict_cycles": 7,
                "instructions": {"valu": 30, "trans": 1, "vopd": 4, "wmma": 8, "lds_load": 9,
                                 "lds_store": 2, "global_load": 10, "salu": 36},
                "global_load": {"lines": 64}}
        rows = [bench_row(us=None, counters={"call": call})]
        text = self.table("counters docs/results/r.json", rows=rows)
        self.assertIn("| decode/avx512 | 1 | 100 | 31 | 4 | 8 | 11 | 10 | 64 | 5 | 6 | 7 |", text)
        self.assertIn("N x K = 5120 x 5120", text)

    def test_check_finds_what_is_stale(self):
        self.table("bench docs/results/r.json", rows=[bench_row()])
        self.assertEqual(self.run_tool("--check").returncode, 0)
        text = self.read()
        self.write(text, rows=[bench_row(us=900)])
        result = self.run_tool("--check")
        self.assertEqual(result.returncode, 1)
        self.assertIn("README.md", result.stderr)
        self.assertEqual(self.read(), text)

    def test_refusals_name_what_is_wrong(self):
        for marker, expected in (("bench docs/results/no.json", "no.json"),
                                 ("nothing docs/results/r.json", "there is no table nothing"),
                                 ("gate docs/results/r.json", "no cases"),
                                 ("bench docs/results/r.json M=3", "M=3"),
                                 ("bench", "cannot read the marker")):
            self.write(f"<!-- table:{marker} -->\n<!-- /table -->\n", rows=[bench_row()])
            result = self.run_tool("--check")
            self.assertEqual(result.returncode, 2, marker)
            self.assertIn(expected, result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)
        self.write("<!-- table:bench docs/results/r.json -->\n", rows=[bench_row()])
        self.assertIn("is not closed", self.run_tool().stderr)


if __name__ == "__main__":
    unittest.main()
