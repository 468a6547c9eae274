# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""shapes_test.py: tests which expressions are found for extents that follow from sizes. Needs no PyTorch: the extents are Python functions."""
import os
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "tuner", "torch")
room = {"__name__": "room"}
for name in ("problem", "shapes"):
    with open(os.path.join(SCRIPTS, name + ".py"), encoding="utf-8") as source:
        exec(compile(source.read(), name + ".py", "exec"), room)

OUT = ("out", 0, 0)


class Told:
    """The extents of one output's only axis, by sizes. `extent` raises ValueError for sizes with which the module would fail."""

    def __init__(self, sizes, extent):
        self.sizes, self.extent = sizes, extent

    def at(self, changed):
        try:
            return {OUT: self.extent(**{**self.sizes, **changed})}, {("out", 0): (1, "torch.float32")}
        except ValueError as error:
            return str(error)


class ShapesTest(unittest.TestCase):
    def fit(self, extent, **sizes):
        shapes = Told(sizes, extent)
        return room["Fitter"](shapes, shapes.at({}), sizes, {name: 1 for name in sizes}).fit(OUT, list(sizes))

    def test_a_transposed_convolutions_extent_is_a_sum(self):
        # A quotient of products, (length + 2) * (kernel + 65535) / 65538, comes near it at large sizes, and is wrong at small ones.
        self.assertEqual(self.fit(lambda length, kernel: length + kernel - 1, length=65536, kernel=3), "length + kernel - 1")
        self.assertEqual(self.fit(lambda length, kernel: 2 * (length - 1) - 2 + 2 * (kernel - 1) + 1, length=131072, kernel=3), "2 * length + 2 * kernel - 5")

    def test_a_flattened_convolutions_extent_is_a_product(self):
        found = self.fit(lambda height, width: 16 * (height - 2) * (width - 2), height=32, width=24)
        for height, width in ((3, 3), (7, 5), (40, 31)):
            self.assertEqual(room["evaluate_text"](found, {"height": height, "width": width}), 16 * (height - 2) * (width - 2), found)

    def test_products_and_quotients_of_sizes(self):
        self.assertEqual(self.fit(lambda rows, width: 4 * rows * width, rows=8, width=32), "4 * rows * width")
        self.assertEqual(self.fit(lambda length: (length + 2 - 3) // 2 + 1, length=64), "(length - 1) / 2 + 1")

    def test_sizes_at_which_a_tensor_is_empty_do_not_work(self):
        shapes = Told({"height": 8, "kernel": 3}, lambda height, kernel: max(0, height - kernel + 1))
        base = shapes.at({})
        self.assertIsNone(room["works"](shapes, base, {"height": 2}))
        self.assertEqual(room["works"](shapes, base, {"height": 3}), {OUT: 1})


if __name__ == "__main__":
    unittest.main()
