# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Scans the engine's sources for sentences that name options, and tests that Python's errors name arguments instead: messages_test.py HONE_GNN
SOURCE. Needs only Python."""
import glob
import os
import re
import subprocess
import sys
import unittest

PROGRAM, SOURCE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, os.path.join(SOURCE, "python"))
from hone.gnn import engine
from hone.judge import judge

OF_OTHER_COMMANDS = {"baseline", "batches", "classes", "features", "graph", "heads", "help", "json", "layers", "libraries", "nodes", "out", "seed", "toml", "verify"}
COMMANDS = ("convert", "train", "infer", "serve")  # which Python runs with the options of its caller


def sentences():
    """Yields each text of the sources that has a blank and names an option; neighboring literals are one text. A {} stands for what is filled in."""
    files = []
    for folder, pattern in (("apps", "*.*"), ("src/gnn", "**/*.*")):
        files += glob.glob(os.path.join(SOURCE, folder, "**" if folder == "apps" else "", pattern), recursive=True)
    for path in sorted(files):
        name = os.path.basename(path)
        if not name.endswith((".cc", ".h", ".cu", ".cuh")) or "_test." in name or os.sep + "emulated" + os.sep in path:
            continue
        if os.sep + "apps" + os.sep in path and os.sep + "hone-gnn" + os.sep not in path:
            continue
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"//[^\n]*", "", file.read())
        for literal in re.finditer(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+', text):
            sentence = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', literal[0]))
            if re.search(r"--[a-z]", sentence) and " " in sentence:
                yield os.path.relpath(path, SOURCE), sentence


def help_of(command):
    return subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True, check=True).stdout


class Messages(unittest.TestCase):
    def test_no_sentence_of_the_sources_names_an_option_in_python(self):
        all_sentences = list(sentences())
        self.assertGreater(len(all_sentences), 100, "the scan finds the sources")
        options = set()
        for command in COMMANDS:
            options |= set(re.findall(r"--([a-z][a-z-]*)", help_of(command)))
        unknown = []
        for path, sentence in all_sentences:
            options_there = re.findall(r"(?<![\w-])--([a-z][a-z-]*)", sentence)
            for filled in ("{}", "3", "cpu", "'a b'"):
                python_message = engine.as_python(re.sub(r"\{[^{}]*\}", filled, sentence))
                outside = "".join(python_message.split("`")[::2])
                self.assertNotRegex(outside, r"(?<![\w-])--[a-z]", f"{path}: {sentence}")
                for option in options_there:
                    if option in engine.FLAGS and "`" not in sentence:
                        self.assertIn(f"{option.replace('-', '_')}=True", python_message, f"{path}: {sentence}")
            unknown += [(path, option) for option in options_there if option not in options]
        # An option that no such command has is another command's, or a mistyped one.
        self.assertLessEqual({option for _, option in unknown}, OF_OTHER_COMMANDS, unknown)

    def test_flags_are_the_options_without_a_value(self):
        option_names = set()
        for command in COMMANDS:
            # "  --full            predict exactly" has no value; "  --lr X  ..." has the name of one.
            option_names |= set(re.findall(r"^ +(?:-\w, )?--([a-z][a-z-]*)(?:  +|$)", help_of(command), re.MULTILINE))
        self.assertEqual(option_names - {"help"}, engine.FLAGS - {"toml", "verify"})

    def test_a_rewritten_message_can_be_typed(self):
        for message, python in (
            ("use --device cpu.", "use device='cpu'."),
            ("--full with --cache-rows: say --features host too", "full=True with cache_rows: say features='host' too"),
            ("--fanout 15,all,5 has 3 hops", "fanout=[15, 'all', 5] has 3 hops"),
            ("try --clip-norm 1; or --lr 0.5.", "try clip_norm=1; or lr=0.5."),
            ("go on by --resume '/a b', or say --overwrite", "go on by resume='/a b', or say overwrite=True"),
            ("--features device or peers", "features='device' or peers"),
            ("give --replace-nan VALUE", "give replace_nan=VALUE"),
            ("what `hone-gnn train --checkpoint` wrote", "what `train(checkpoint=…)` wrote"),
            ("`hone-gnn train --help` tells more", "`hone-gnn train --help` tells more"),
            ("a mis-typed word, a -- b", "a mis-typed word, a -- b"),
        ):
            self.assertEqual(engine.as_python(message), python)
        self.assertEqual(engine.as_python("'/tmp/x/split.npy' and --nodes 3", {"/tmp/x/split.npy": "split", "--nodes": "num_nodes"}),
                         "split and num_nodes 3")

    def test_the_judges_messages_name_arguments_and_leave_code_alone(self):
        for message, python in (
            ("without a GPU use --device sim", "without a GPU use device='sim'"),
            ("arguments.warm: expected a boolean, found a string", "warm: expected a boolean, found a string"),
            ("candidate.cu:3: `while (--n > 0)` and --n or --device", "candidate.cu:3: `while (--n > 0)` and --n or device"),
        ):
            self.assertEqual(judge._in_python(message), python)


if __name__ == "__main__":
    unittest.main(verbosity=2)
