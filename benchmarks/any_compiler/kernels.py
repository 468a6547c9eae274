# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Triton kernels for tasks of Hone, as one would first write them, and four that cheat. `CANDIDATES` says how each is exported."""
import triton
import triton.language as tl

LOWEST = tl.constexpr(-3.402823466e38)  # stands for minus infinity, but the difference of two of them is 0 and not NaN


@triton.jit
def relu(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(x + i, mask=i < n), 0.0), mask=i < n)


@triton.jit
def softmax(x, out, d, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * d
    most = tl.full([BLOCK], LOWEST, tl.float32)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, d, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.load(x + row + i, mask=i < d, other=float("-inf"))
        now = tl.maximum(most, v)
        total = total * tl.exp(most - now) + tl.exp(v - now)
        most = now
    largest = tl.max(most, 0)
    scale = 1.0 / tl.sum(total * tl.exp(most - largest), 0)
    for start in range(0, d, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.load(x + row + i, mask=i < d, other=float("-inf"))
        tl.store(out + row + i, tl.exp(v - largest) * scale, mask=i < d)


@triton.jit
def rmsnorm_rows(x, out, features, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * features
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, features, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.load(x + row + i, mask=i < features, other=0.0)
        squares += v * v
    scale = 1.0 / tl.sqrt(tl.sum(squares, 0) / features + eps)
    for start in range(0, features, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.load(x + row + i, mask=i < features, other=0.0)
        tl.store(out + row + i, v * scale, mask=i < features)


@triton.jit
def rmsnorm_positions(x, out, features, inner, eps, BLOCK: tl.constexpr):
    blocks = tl.cdiv(inner, BLOCK)
    batch = (tl.program_id(0) // blocks).to(tl.int64)
    i = (tl.program_id(0) % blocks) * BLOCK + tl.arange(0, BLOCK)
    at = batch * features * inner + i
    squares = tl.zeros([BLOCK], tl.float32)
    for f in range(0, features):
        v = tl.load(x + at + f.to(tl.int64) * inner, mask=i < inner, other=0.0)
        squares += v * v
    scale = 1.0 / tl.sqrt(squares / features + eps)
    for f in range(0, features):
        v = tl.load(x + at + f.to(tl.int64) * inner, mask=i < inner, other=0.0)
        tl.store(out + at + f.to(tl.int64) * inner, v * scale, mask=i < inner)


@triton.autotune([triton.Config({"M": 128, "N": 256, "K": 64, "GROUP": 8}, num_warps=8, num_stages=4),
                  triton.Config({"M": 128, "N": 128, "K": 64, "GROUP": 8}, num_warps=8, num_stages=4),
                  triton.Config({"M": 64, "N": 256, "K": 64, "GROUP": 8}, num_warps=4, num_stages=4)], key=["m", "n", "k"])
@triton.jit
def product(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr):
    rows, columns = tl.cdiv(m, M), tl.cdiv(n, N)
    group = tl.program_id(0) // (GROUP * columns)
    first = group * GROUP
    height = min(rows - first, GROUP)
    row = first + (tl.program_id(0) % (GROUP * columns)) % height
    column = (tl.program_id(0) % (GROUP * columns)) // height
    i = row * M + tl.arange(0, M)
    j = column * N + tl.arange(0, N)
    inner = tl.arange(0, K)
    total = tl.zeros([M, N], tl.float32)
    for start in range(0, k, K):
        at = start + inner
        left = tl.load(a + i[:, None] * k + at[None, :], mask=(i[:, None] < m) & (at[None, :] < k), other=0.0)
        right = tl.load(b + at[:, None] * n + j[None, :], mask=(at[:, None] < k) & (j[None, :] < n), other=0.0)
        total = tl.dot(left, right, total)
    tl.store(c + i[:, None] * n + j[None, :], total.to(tl.bfloat16), mask=(i[:, None] < m) & (j[None, :] < n))


# ---- cheats and mistakes ----


@triton.jit
def relu_skips_a_block(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # One block in 512 writes nothing. Small shapes have fewer blocks, so their results are right.
    tl.store(out + i, tl.maximum(tl.load(x + i, mask=i < n), 0.0), mask=(i < n) & (tl.program_id(0) % 512 != 511))


@triton.jit
def relu_reads_past_the_end(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(x + i), 0.0), mask=i < n)


@triton.jit
def relu_writes_its_input(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.maximum(tl.load(x + i, mask=i < n), 0.0)
    tl.store(out + i, v, mask=i < n)
    tl.store(x + i, v, mask=i < n)


@triton.jit
def softmax_in_half_precision(x, out, d, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * d
    most = tl.full([BLOCK], LOWEST, tl.float32)
    for start in range(0, d, BLOCK):
        i = start + tl.arange(0, BLOCK)
        most = tl.maximum(most, tl.load(x + row + i, mask=i < d, other=float("-inf")))
    largest = tl.max(most, 0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, d, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.exp(tl.load(x + row + i, mask=i < d, other=float("-inf")) - largest)
    scale = (1.0 / tl.sum(total, 0)).to(tl.float16)
    for start in range(0, d, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.exp(tl.load(x + row + i, mask=i < d, other=float("-inf")) - largest)
        tl.store(out + row + i, (v.to(tl.float16) * scale).to(tl.float32), mask=i < d)


ELEMENTWISE = {"x": "x:*fp32", "out": "out:*fp32", "n": "rows * d:i32", "BLOCK": 1024}
ROWS = {"x": "x:*fp32", "out": "out:*fp32", "d": "d:i32", "BLOCK": 2048}
NORM = {"x": "x:*fp32", "out": "out:*fp32", "features": "features:i32", "eps": "eps:fp32"}
PRODUCT = {"a": "a:*bf16", "b": "b:*bf16", "c": "c:*bf16", "m": "m:i32", "n": "n:i32", "k": "k:i32"}
BLOCKS = ["ceil_div(rows * d, BLOCK)"]

# By the name of the file: the task, and the calls of hone.kernels.triton.launches_of whose launches the file has, in order.
CANDIDATES = {
    "relu": ("relu", [(relu, ELEMENTWISE, BLOCKS, {})]),
    "softmax": ("softmax", [(softmax, ROWS, ["d > 0 ? rows : 0"], {"num_warps": 8})]),
    "rmsnorm": ("rmsnorm", [
        (rmsnorm_rows, {**NORM, "BLOCK": 2048}, ["features > 0 ? batch : 0"], {"num_warps": 8, "shape": {"inner": 1}}),
        (rmsnorm_positions, {**NORM, "inner": "inner:i32", "BLOCK": 256}, ["features > 0 ? batch * ceil_div(inner, BLOCK) : 0"], {}),
    ]),
    "matmul_bf16": ("matmul_bf16", [(product, PRODUCT, ["ceil_div(m, M) * ceil_div(n, N)"], {})]),
    "relu_skips_a_block": ("relu", [(relu_skips_a_block, ELEMENTWISE, BLOCKS, {})]),
    "relu_reads_past_the_end": ("relu", [(relu_reads_past_the_end, ELEMENTWISE, BLOCKS, {})]),
    "relu_writes_its_input": ("relu", [(relu_writes_its_input, ELEMENTWISE, BLOCKS, {})]),
    "softmax_in_half_precision": ("softmax", [(softmax_in_half_precision, ROWS, ["d > 0 ? rows : 0"], {"num_warps": 8})]),
}
HONEST = ["relu", "softmax", "rmsnorm", "matmul_bf16"]
