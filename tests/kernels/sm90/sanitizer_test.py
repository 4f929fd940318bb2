"""tools/sanitize_sm90.py on what compute-sanitizer printed once, and on stand-ins for it that end well,
find something, or do not end. Argument 1: the tool."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)
spec = importlib.util.spec_from_file_location("sanitize_sm90", TOOL)
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)


def hazard(address, reader):
    return f"""\
========= Error: Potential WAR hazard detected at __shared__ 0x{address:x} in block (0,0,0) :
=========     Read Thread ({reader},0,0) at void radiance::sm90::load_fragments<(radiance::sm90::ScaleKind)0>(const unsigned char *, int, unsigned int (&)[4][4])+0xb20 in weights.cuh:47
=========     Write Thread (256,0,0) at radiance::sm90::copy_bulk(void *, const void *, unsigned int, unsigned long *, unsigned long)+0xf950 in ptx.cuh:61
=========     Current Value : 0, Incoming Value : ?
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: cuLaunchKernelEx [0x39fc2f] in libcuda.so.1
=========         Host Frame: main+0x10 in radiance
========= 
"""


RACES = "========= COMPUTE-SANITIZER\n" + "".join(hazard(0x4410 + i, 1 + i) for i in range(40)) + \
    "27 passed, 0 failed\n========= RACECHECK SUMMARY: 40 hazards displayed (40 errors, 0 warnings)\n"
CLEAN = "========= COMPUTE-SANITIZER\n8 passed, 0 failed\n========= ERROR SUMMARY: 0 errors\n"
MISALIGNED = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at decode_slab_8+0x1230 in decode.cu:120
=========     by thread (35,0,0) in block (2,0,0)
=========     Access to 0x7f0000000003 is misaligned
========= 
========= ERROR SUMMARY: 1 error
"""


class Findings(unittest.TestCase):
    def test_hazards_of_the_same_lines_are_one(self):
        found = tool.findings_of(RACES)
        self.assertEqual(len(found), 1)
        self.assertEqual(found[0]["count"], 40)
        self.assertEqual(found[0]["places"],
                         ["read load_fragments<0> weights.cuh:47", "write copy_bulk ptx.cuh:61"])
        # Threads 1 to 40: lane 0 as thread 32.
        self.assertEqual(found[0]["lanes"], {"read": list(range(32)), "write": [0]})

    def test_an_access(self):
        found = tool.findings_of(MISALIGNED)
        self.assertEqual([one["what"] for one in found], ["Invalid __global__ read of size 4 bytes"])
        self.assertEqual(found[0]["places"], ["decode_slab_8 decode.cu:120"])

    def test_nothing(self):
        self.assertEqual(tool.findings_of(CLEAN), [])


class Runs(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.directory.name)

    def tearDown(self):
        self.directory.cleanup()

    def run_tool(self, prints, *arguments, sleep=0):
        (self.folder / "log").write_text(prints, encoding="utf-8")
        sanitizer = self.folder / "compute-sanitizer"
        sanitizer.write_text(f"#!/bin/sh\ncat '{self.folder}/log'\nexec sleep {sleep}\n", encoding="utf-8")
        os.chmod(sanitizer, 0o755)
        return subprocess.run(
            [sys.executable, TOOL, "--sanitizer", str(sanitizer), "--json", str(self.folder / "r.json"),
             *arguments], capture_output=True, text=True, check=False)

    def report(self):
        return json.loads((self.folder / "r.json").read_text(encoding="utf-8"))

    def test_clean(self):
        done = self.run_tool(CLEAN)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rows = self.report()["rows"]
        self.assertEqual([row["tool"] for row in rows],
                         ["memcheck", "initcheck", "synccheck", "racecheck"])
        self.assertTrue(all(row["found"] == 0 and row["passed"] == 8 for row in rows))

    def test_findings_fail(self):
        done = self.run_tool(RACES, "--tools", "racecheck")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.report()["rows"][0]["found"], 40)
        self.assertIn("40 times", done.stdout)

    def test_not_finished_is_not_clean(self):
        done = self.run_tool(CLEAN, "--tools", "racecheck", "--seconds", "0.5", sleep=30)
        self.assertEqual(done.returncode, 1)
        self.assertFalse(self.report()["rows"][0]["finished"])

    def test_a_refusal_is_quoted(self):
        done = self.run_tool("========= Device not supported\n", "--tools", "memcheck")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Device not supported", self.report()["rows"][0]["said"])

    def test_absent(self):
        done = subprocess.run([sys.executable, TOOL, "--sanitizer", "/nonexistent"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no compute-sanitizer here", done.stderr)


if __name__ == "__main__":
    unittest.main()
