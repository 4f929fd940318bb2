"""tools/merge_results.py: what it joins, what it leaves out, what it refuses. Argument 1: the tool."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)


def part(shape, **fields):
    report = {"schema": 1, "commit": "abc", "compiler": "gcc", "driver": "CUDA 13.0", "device": "a card",
              "arch": "sm90", "seed": 7, "command": f"radiance bench --shapes {shape} --m 1",
              "rows": [{"shape": shape}], "slow_cells": [{"shape": shape, "M": 1}]}
    return report | fields


class Merge(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.directory.name)

    def tearDown(self):
        self.directory.cleanup()

    def merge(self, *reports):
        names = []
        for index, report in enumerate(reports):
            names.append(str(self.folder / f"{index}.json"))
            if report is not None:
                pathlib.Path(names[-1]).write_text(json.dumps(report), encoding="utf-8")
        return subprocess.run([sys.executable, TOOL, str(self.folder / "out.json"), *names],
                              capture_output=True, text=True, check=False)

    def merged(self):
        return json.loads((self.folder / "out.json").read_text(encoding="utf-8"))

    def test_joins_in_order(self):
        self.assertEqual(self.merge(part("out"), part("down", seed=8)).returncode, 0)
        merged = self.merged()
        self.assertEqual([row["shape"] for row in merged["rows"]], ["out", "down"])
        self.assertEqual([cell["shape"] for cell in merged["slow_cells"]], ["out", "down"])
        self.assertEqual(merged["command"], "radiance bench --shapes out,down --m 1")
        self.assertEqual(merged["commit"], "abc")

    def test_a_missing_part_is_named(self):
        done = self.merge(part("out"), None, part("down"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("missing 1.json", done.stderr)
        self.assertEqual(self.merged()["command"], "radiance bench --shapes out,down --m 1")

    def test_refuses_what_does_not_belong_together(self):
        self.assertIn("commit is abc and def", self.merge(part("out"), part("down", commit="def")).stderr)
        other = part("down", command="radiance bench --shapes down --m 2")
        done = self.merge(part("out"), other)
        self.assertEqual(done.returncode, 2)
        self.assertIn("commands differ", done.stderr)
        self.assertFalse((self.folder / "out.json").exists())

    def test_nothing_to_join(self):
        self.assertEqual(self.merge(None).returncode, 2)


if __name__ == "__main__":
    unittest.main()
