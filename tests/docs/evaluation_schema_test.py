# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that docs/formats/evaluation.schema.json describes evaluations: evaluation_schema_test.py HONE.

The schema has the fields of src/tuner/core/evaluation/evaluation_fields.h, struct by struct. Three kinds of evaluations fit it: the example of
docs/evaluation-json.md, those on GPUs in benchmarks/results, and those that HONE prints for a right, a wrong and a broken candidate.
Evaluations with a fault do not fit.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((ROOT / "docs/formats/evaluation.schema.json").read_text())
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}


def is_a(value, kind):
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def misfits(schema, value, where="evaluation"):
    """Returns the places where a value does not fit a schema, in the part of JSON Schema 2020-12 that the file uses."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if kinds and not any(is_a(value, kind) for kind in kinds):
        return [f"{where}: {value!r} is no {' or '.join(kinds)}"]
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        return [f"{where}: {value!r} is none of the values"]
    found = []
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{where}: {value!r} does not match {schema['pattern']}")
    if isinstance(value, int) and value < schema.get("minimum", value):
        found.append(f"{where}: {value} is below {schema['minimum']}")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            found.append(f"{where}: {len(value)} items")
        for i, item in enumerate(value):
            found += misfits(schema.get("items", {}), item, f"{where}[{i}]")
    if isinstance(value, dict):
        found += [f"{where} lacks {name}" for name in schema.get("required", []) if name not in value]
        for name, item in value.items():
            if name in schema.get("properties", {}):
                found += misfits(schema["properties"][name], item, f"{where}.{name}")
            elif "additionalProperties" in schema:
                found += misfits(schema["additionalProperties"], item, f"{where}.{name}")
            else:
                found.append(f"{where}.{name} is not described")
    return found


class EvaluationSchema(unittest.TestCase):
    def test_fields_are_those_of_the_source(self):
        source = (ROOT / "src/tuner/core/evaluation/evaluation_fields.h").read_text()
        structs = re.findall(r"MaybeConst<(\w+)> \w+, typename Visitor>\nvoid VisitFields.*?\n}\n", source, re.S)
        bodies = re.findall(r"MaybeConst<\w+> \w+, typename Visitor>\n(void VisitFields.*?\n)}\n", source, re.S)
        self.assertGreater(len(structs), 12)
        for struct, body in zip(structs, bodies):
            fields = re.findall(r'visit\("(\w+)"', body)
            described = SCHEMA if struct == "Evaluation" else SCHEMA["$defs"].get(struct, {})
            names = set(described.get("properties", {})) - ({"schema", "sandbox_warnings"} if struct == "Evaluation" else set())
            self.assertEqual(names, set(fields), struct)

    def test_the_example_of_the_page_fits(self):
        page = (ROOT / "docs/evaluation-json.md").read_text()
        example = json.loads(re.search(r"```json\n(.*?)```", page, re.S).group(1))
        self.assertEqual(misfits(SCHEMA, example), [])
        for fault in ({"verdict": "fine"}, {"seed": 7}, {"cases": [{"dims": {}}]}, {"gates": 0}, {"extra": 1}, {"wall_seconds": "soon"}):
            self.assertNotEqual(misfits(SCHEMA, {**example, **fault}), [], fault)
        self.assertNotEqual(misfits(SCHEMA, {k: v for k, v in example.items() if k != "device"}), [])

    def test_what_was_measured_on_gpus_fits(self):
        def evaluations(value):
            if isinstance(value, dict) and value.get("schema") == "hone-evaluation-1":
                yield value
            else:
                for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
                    yield from evaluations(inner)

        libraries = count = 0
        for path in sorted((ROOT / "benchmarks/results").glob("*.json")):
            for evaluation in evaluations(json.loads(path.read_text())):
                self.assertEqual(misfits(SCHEMA, evaluation), [], path.name)
                count += 1
                libraries += any("libraries" in case for case in evaluation["cases"])
        self.assertGreater(count, 5)
        self.assertGreater(libraries, 3)

    def test_what_hone_prints_fits(self):
        seed = (ROOT / "tasks/relu/seed.cu").read_text()
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "HONE_STATE": folder}
            for text, options, verdict in ((seed, ["--profile", "--case", "1"], "ok"),
                                           (seed.replace("fmaxf(x, 0.0f)", "fmaxf(x, 0.5f)"), ["--no-time"], "wrong_output"),
                                           ("no plan", [], "parse_error")):
                path = pathlib.Path(folder, "candidate.cu")
                path.write_text(text)
                done = subprocess.run([HONE, "eval", "relu", path, "--device", "sim", "--json", *options], cwd=ROOT, env=environment,
                                      capture_output=True, text=True)
                evaluation = json.loads(done.stdout)
                self.assertEqual(evaluation["verdict"], verdict, evaluation["detail"])
                self.assertEqual(misfits(SCHEMA, evaluation), [])
                self.assertEqual("mismatch" in evaluation, verdict == "wrong_output")


if __name__ == "__main__":
    HONE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
