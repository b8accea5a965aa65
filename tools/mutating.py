"""Small changes to Python code, each of which a good test should detect, for `mutants.py`."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARED: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult,
}  # fmt: skip
OPPOSITE = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}
# Text and lists have a `+` without a `-`: a change there raises an error in each test, and is no useful mutant.
UNCOUNTABLE = (ast.JoinedStr, ast.List, ast.ListComp)
# Types, decorators and messages of errors do not affect behaviour.
SKIPPED_FIELDS = {"annotation", "returns", "decorator_list", "type_params", "format_spec"}
SKIPPED_NODES = (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Mutant:
    """A change to one place of a module."""

    module: str
    file: Path
    function: str
    lines: tuple[int, int]  # of the statement that contains the place
    before: str
    after: str
    place: int  # its number among the places of the module
    variant: int  # its number among the changes to that place

    def __str__(self) -> str:
        """Return a name that is unique among mutants, until the code around it changes."""
        return f"{self.module}.{self.function}: {self.before} → {self.after}"

    def tree(self) -> ast.Module:
        """Return the module with the change."""
        tree = ast.parse(self.file.read_text(encoding="utf-8"))
        parent, field, index, node, _, _ = list(_places(tree, (), (1, 1)))[self.place]
        changed = ast.copy_location(list(_variants(node, parent, field))[self.variant], node)
        if index is None:
            setattr(parent, field, changed)
        else:
            getattr(parent, field)[index] = changed
        return ast.fix_missing_locations(tree)


def mutants_of(file: Path, module: str) -> list[Mutant]:
    """Return all mutants of a module, in the order of its code."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return [
        Mutant(
            module,
            file,
            ".".join(function) or "module",
            lines,
            *_words(parent, field, index, node, changed),
            place,
            variant,
        )
        for place, (parent, field, index, node, function, lines) in enumerate(_places(tree, (), (1, 1)))
        for variant, changed in enumerate(_variants(node, parent, field))
    ]


Place = tuple[ast.AST, str, int | None, ast.AST, tuple[str, ...], tuple[int, int]]


def _places(parent: ast.AST, function: tuple[str, ...], lines: tuple[int, int]) -> Iterator[Place]:
    for field, value in ast.iter_fields(parent):
        if field in SKIPPED_FIELDS:
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            is_strict = isinstance(node, ast.keyword) and node.arg == "strict"  # of `zip`: a check of the code itself
            if not isinstance(node, ast.AST) or isinstance(node, SKIPPED_NODES) or is_strict:
                continue
            name = getattr(node, "name", None) if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else None
            # A statement with a body runs line by line; any of the lines of another statement shows that it ran.
            is_own = isinstance(node, ast.stmt) or (isinstance(parent, ast.stmt) and hasattr(parent, "body"))
            own = (
                (node.lineno, node.end_lineno or node.lineno)
                if is_own and isinstance(node, (ast.stmt, ast.expr))
                else lines
            )
            yield parent, field, index, node, function, own
            yield from _places(node, (*function, name) if name else function, own)


def _variants(node: ast.AST, parent: ast.AST, field: str) -> Iterator[ast.AST]:
    """Yield the replacements for a node."""
    yield from _operations(node)
    if isinstance(node, ast.Call):
        attribute = "id" if isinstance(node.func, ast.Name) else "attr"
        name = getattr(node.func, attribute, "")
        if name in OPPOSITE:
            yield _with(node, func=_with(node.func, **{attribute: OPPOSITE[name]}))
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        yield ast.Constant(_other(node.value))
    elif isinstance(node, ast.Return) and node.value and not _is_none(node.value):
        yield ast.Return(ast.Constant(None))
    is_condition = (field == "test" and isinstance(parent, (ast.If, ast.IfExp))) or field == "ifs"
    if is_condition and isinstance(node, ast.expr):
        yield from (ast.Constant(value) for value in (True, False))


def _operations(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for operator in COMPARED[type(node.ops[0])]:
            yield ast.Compare(node.left, [operator()], node.comparators)
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in ARITHMETIC:
        sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
        if not any(isinstance(side, UNCOUNTABLE) or _is_text(side) for side in sides):
            yield _with(node, op=ARITHMETIC[type(node.op)]())
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield node.operand


def _other(value: bool | int | float) -> bool | int | float:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) or value == 0 else value * 1.1


def _words(parent: ast.AST, field: str, index: int | None, node: ast.AST, changed: ast.AST) -> tuple[str, str]:
    """Return the code before and after; for a number with its context, because 2 → 3 alone has no meaning."""
    if not isinstance(node, ast.Constant) or not isinstance(parent, (ast.expr, ast.keyword, ast.Assign, ast.AnnAssign)):
        return _text(node), _text(changed)
    of_parent: object = changed
    if index is not None:
        of_parent = [changed if number == index else item for number, item in enumerate(getattr(parent, field))]
    return _text(parent), _text(_with(parent, **{field: of_parent}))


def _with(node: ast.AST, **changes: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
