"""Which ``(name := value)`` numba-cuda (0.30) cannot compile.

The value of an assignment expression stays on Python's stack beside the store. numba's reading of the
bytecode joins the store with what made the value, and the copy on the stack is left without a definition,
so that whatever uses it has no type. It is the same on Python 3.11 and 3.13. Spared are
a variable's value, which needs no temporary; a value that several paths give, which a join keeps; and a
copy that nothing but another plain assignment takes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

#: A pair or a triple is assigned without a tuple being built.
_SWAPPED = (2, 3)


def loses_its_value(function: ast.AST, node: ast.NamedExpr, variables: frozenset[str]) -> bool:
    """Whether ``node``, somewhere inside ``function``, leaves its value undefined for what uses it.

    ``variables`` are the function's own, those that it takes from a function around it left out.
    """
    made = node.value
    while isinstance(made, ast.NamedExpr):
        made = made.value
    if isinstance(made, ast.IfExp | ast.BoolOp) or (isinstance(made, ast.Compare) and len(made.ops) > 1):
        return False
    if isinstance(made, ast.Name) and made.id in variables:
        return False
    chain = [node, *_parents(function, node)]
    at = next(place for place, one in enumerate(chain) if not isinstance(one, ast.NamedExpr))
    return not _only_assigns(chain[at], chain[at - 1], chain[at + 1] if at + 1 < len(chain) else None)


def _only_assigns(user: ast.AST, value: ast.AST, above: ast.AST | None) -> bool:
    """Whether ``user``, right above ``value`` and below ``above``, only stores the value."""
    if isinstance(user, ast.Expr):
        return True
    if isinstance(user, ast.Assign | ast.AnnAssign):
        return user.value is value
    # ``b, c = (a := x), y`` stores from the stack.
    return (
        isinstance(user, ast.Tuple)
        and isinstance(above, ast.Assign)
        and above.value is user
        and len(above.targets) == 1
        and isinstance(above.targets[0], ast.Tuple | ast.List)
        and len(user.elts) in _SWAPPED
    )


def _parents(function: ast.AST, node: ast.AST) -> Iterator[ast.AST]:
    """The ancestors of a node, innermost first."""
    above = {child: one for one in ast.walk(function) for child in ast.iter_child_nodes(one)}
    while node in above:
        node = above[node]
        yield node
