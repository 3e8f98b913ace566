"""Damage to kernels: changed trees, changed text, and files that are no kernels at all."""

# ruff: noqa: E501  (kernels and lists of cases, a line each)
from __future__ import annotations

import ast
import random
from typing import Any

ODD_EXPRESSIONS = [
    "lambda q: q", "(y := 3)", "[q for q in range(3)]", "{1: 2}", "{1, 2}", "f'{1}'", "'text'", "b'raw'", "...",
    "None", "True", "1j", "2.5e300", "10**40", "-(2**63)", "2**64 - 1", "1 / 0", "1 // 0", "1 % 0", "0 ** -1",
    "cuda", "cuda.nothing", "cuda.threadIdx", "cuda.threadIdx.w", "cuda.grid(4)", "cuda.grid()", "cuda.grid('x')",
    "cuda.shared.array(0, float32)", "cuda.shared.array((2, -1), float32)", "cuda.shared.array(1 << 40, float32)",
    "cuda.local.array(7, 'nothing')", "cuda.local.array(1 << 30, float32)", "cuda.atomic.add(1, 2, 3)",
    "cuda.atomic.add", "cuda.syncthreads", "cuda.syncthreads(1)", "cuda.shfl_sync(-1, 2, 77)", "cuda.ballot_sync(0, 1)",
    "cuda.syncwarp(1, 2)", "cuda.cg.this_grid().sync()", "cuda.const.array_like([1])", "cuda.fma(1, 2)",
    "min()", "min(1)", "max([])", "len(3)", "len()", "range(3)", "abs('x')", "abs()", "int('7')", "float()", "round(2.5, 1)",
    "math.nothing(1)", "math.sqrt()", "math.pi.real", "print", "kernel", "kernel(1)", "kernel[1, 1](1)", "open('x')",
    "__import__('os')", "eval('1')", "exec", "().__class__", "x.__class__.__mro__", "undefined_name", "self.x",
    "1 if 2 else 'a'", "1 < 'a'", "'a' + 'b'", "[1, 2][0]", "(1, 2)[5]", "(1, 2)[1:]", "*x", "x @ x", "x[...]",
    "x[None]", "x[:]", "x[1:2]", "x[::-1]", "x[1, 2, 3, 4]", "x[1.5]", "x['a']", "x[()]", "x[x]", "x.shape[9]",
    "x.T.T", "x.nothing", "x.shape", "not x", "-x", "x < x", "x is None", "1 in x", "x and 1", "int32(3.7) << 70",
    "float32('nan')", "int64(1e30)", "bool(x)", "complex(1, 2) < 3", "yield", "await x", "super()", "type(x)", "1 >> -1",
    "(1).real", "x.size // 0", "x.size % 0", "cuda.grid(1) // 0", "cuda.grid(1) % 0", "cuda.grid(1) << 63",
]  # fmt: skip
ODD_STATEMENTS = [
    "pass", "return", "return 1", "break", "continue", "raise ValueError", "del x", "global x", "nonlocal q", "assert x",
    "import os", "from os import *", "x = y = z = 1", "x, *y = 1, 2", "a, b = 1", "(a, b), c = (1, 2), 3", "x: int", "x: int = 3",
    "x += 1", "x[0] += 1", "x[0], x[1] = x[1], x[0]", "x[:] = 1", "x.y = 1", "cuda = 1", "float32 = 2", "x = x", "kernel = 3",
    "def inner(): pass", "class C: pass", "try:\n    pass\nexcept E:\n    pass", "with x: pass", "for q in x: pass",
    "for q in (): pass", "for q in (1, 2.5): v = q", "for q, r in ((1, 2),): v = q", "for x[0] in range(3): pass",
    "for q in range(0, 5, 0): pass", "for q in range(10**12): v = q", "for q in range(1.5): pass", "while True: pass",
    "while 1: break", "while x: break", "while x[0] == 0: pass", "for q in range(3):\n    pass\nelse:\n    v = 1",
    "match 1:\n    case 1: pass", "async def f(): pass", "@cuda.jit\ndef f(): pass", "if 1: pass", "if x: pass",
    "cuda.syncthreads()", "if cuda.threadIdx.x: cuda.syncthreads()", "cuda.syncthreads_count(x)", "print('a', 1, sep='')",
    "S = cuda.shared.array(3, float32)", "L = cuda.local.array((2, 2), int32); L[9, 9] = 1", "v = L", "v = 1\nv = 2.5\nv = x",
    "return return", "v =", "((((", "'unclosed", "\tx = 1", "v = 08", "\x00", "é = 1", "v = 'é'", "if x\n  y",
]  # fmt: skip


def odd(source: random.Random) -> str:
    """An expression that a kernel should rather not hold."""
    return source.choice(ODD_EXPRESSIONS)


class _Mutator(ast.NodeTransformer):
    """Changes one node in ``one_in`` on average."""

    def __init__(self, source: random.Random, one_in: int) -> None:
        self.random = source
        self.one_in = one_in
        self.names = ["x", "i", "t", "S", "out", "cuda"]

    def visit(self, node: ast.AST) -> Any:
        node = self.generic_visit(node)
        if self.random.randrange(self.one_in):
            return node
        return self._changed(node)

    def _changed(self, node: ast.AST) -> Any:
        r = self.random
        match node:
            case ast.Constant() if isinstance(node.value, int | float):
                return ast.Constant(r.choice([0, 1, -1, 2, 3, 31, 2**31, -(2**63), 0.5, True, None, "a"]))
            case ast.Name(ctx=ast.Load()):
                return ast.Name(r.choice(self.names), ast.Load())
            case ast.BinOp():
                ops = [
                    ast.Add,
                    ast.Sub,
                    ast.Mult,
                    ast.Div,
                    ast.FloorDiv,
                    ast.Mod,
                    ast.Pow,
                    ast.BitAnd,
                    ast.RShift,
                    ast.MatMult,
                ]
                return ast.BinOp(node.left, r.choice(ops)(), node.right)
            case ast.Compare():
                ops = [ast.Lt, ast.Gt, ast.Eq, ast.NotEq, ast.Is, ast.In]
                return ast.Compare(node.left, [r.choice(ops)() for _ in node.ops], node.comparators)
            case ast.Subscript(ctx=ast.Load()) if r.random() < 0.5:
                return node.value
            case ast.Call() if node.args and r.random() < 0.5:
                return ast.Call(node.func, node.args[:-1], node.keywords)
            case ast.expr() if isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
                return self._parsed(odd(r), node)
            case ast.If() | ast.While() | ast.For():
                return r.choice([node.body, [], [node, node]]) or ast.Pass()
            case ast.stmt():
                return r.choice([[node, node], ast.Pass(), [*self._statement(), node]])
        return node

    def _parsed(self, text: str, node: ast.AST) -> Any:
        try:
            return ast.parse(text, mode="eval").body
        except SyntaxError:
            return node

    def _statement(self) -> list[ast.stmt]:
        try:
            return ast.parse(self.random.choice(ODD_STATEMENTS)).body
        except (SyntaxError, ValueError):
            return []


def mutant(seed: int, text: str) -> str:
    """``text`` with some damage: mostly to its tree, at times to its characters."""
    source = random.Random(seed)
    if source.random() < 0.25:
        return _damaged_text(source, text)
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            _Mutator(source, source.choice([6, 15, 40])).generic_visit(node)
            if source.random() < 0.5:
                _insert(source, node)
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    except Exception:  # noqa: BLE001  a tree that cannot be written: damage the text instead
        return _damaged_text(source, text)


def _insert(source: random.Random, node: ast.FunctionDef) -> None:
    try:
        extra = ast.parse(
            source.choice([*ODD_STATEMENTS, *(f"v = {e}" for e in ODD_EXPRESSIONS), *ODD_EXPRESSIONS])
        ).body
    except (SyntaxError, ValueError):
        return
    place = source.randrange(len(node.body) + 1)
    node.body[place:place] = extra


def _damaged_text(source: random.Random, text: str) -> str:
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(text) + 1)
        size = source.randint(0, 12)
        filler = source.choice(
            ["", " ", "\n", "\t", "(", ")", ":", "=", "é", "\x00", "'", '"""', "#", "\\", text[at : at + 30]]
        )
        text = text[:at] + filler + text[at + size :]
    return text


def rubbish(seed: int) -> str:
    """A file that is hardly a program."""
    source = random.Random(seed)
    words = [
        *ODD_STATEMENTS,
        *ODD_EXPRESSIONS,
        "@cuda.jit",
        "def kernel(x, out):",
        "    x[0] = 1",
        "if",
        "(",
        "\n",
    ]
    return "\n".join(source.choice(words) for _ in range(source.randint(0, 30)))
