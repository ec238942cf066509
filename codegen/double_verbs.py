"""Makes the class of the verbs: `src/kafkadouble/verbs/generated/double_verbs.py`.

A member of KafkaDouble is a function of a module of `verbs/`, marked with `@verb`, `@attribute` or
`@method` (`common/marking.py`). The class has a method for each, with its signature and its
docstring; a module is imported when one of its members is used first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
VERBS = ROOT / "src" / "kafkadouble" / "verbs"
OUT = VERBS / "generated" / "double_verbs.py"
PACKAGE = "kafkadouble.verbs"
LAZY = "from kafkadouble.common.on_first_use import OnFirstUse"
MARKS = frozenset({"verb", "attribute", "method"})

HEAD = '''"""Every verb of a double, and its other members. Made by `python -m codegen`; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

{import_of_lazy}

if TYPE_CHECKING:
'''
CLASS = '''

class DoubleVerbs:
    """The members of a double that are functions of its host."""

    _double_host: Host
'''


class Room(NamedTuple):
    """A module of verbs: its dotted name, what it is called in the class, and its members."""

    name: str
    called: str
    tree: ast.Module
    members: Sequence[ast.FunctionDef]


def as_python() -> str:
    """The generated module."""
    rooms = list(read())
    lines = "".join(f"    {line}\n" for line in sorted(_imports(rooms), key=_as_ruff_sorts))
    lazily = "".join(f'    {each.called} = OnFirstUse("{each.name}")\n' for each in rooms)
    names = "".join(f'    "{each.name}",\n' for each in rooms)
    methods = "".join(_method(each, member) for each in rooms for member in each.members)
    rooms_text = f'\nROOMS = (\n{names})\n"""The modules with the members."""\n'
    return f"{HEAD.format(import_of_lazy=LAZY)}{lines}else:\n{lazily}{rooms_text}{CLASS}{methods}"


def read() -> Iterator[Room]:
    """The modules of verbs, in the order of the alphabet."""
    for file in sorted(VERBS.glob("*/*.py")):
        tree = ast.parse(file.read_text("utf-8"))
        members = [each for each in tree.body if isinstance(each, ast.FunctionDef) and marks_of(each)]
        if members and file.parent != OUT.parent:
            yield Room(f"{PACKAGE}.{file.parent.name}.{file.stem}", f"_{file.stem}", tree, members)


def marks_of(function: ast.FunctionDef) -> frozenset[str]:
    """How a function is marked."""
    return MARKS & {each.id for each in function.decorator_list if isinstance(each, ast.Name)}


def _method(room: Room, function: ast.FunctionDef) -> str:
    """The method that calls a function with the host."""
    args = function.args
    taken = ["self._double_host", *(arg.arg for arg in args.args[1:])]
    taken += [f"*{args.vararg.arg}"] if args.vararg else []
    taken += [f"{kwonlyarg.arg}={kwonlyarg.arg}" for kwonlyarg in args.kwonlyargs]
    taken += [f"**{args.kwarg.arg}"] if args.kwarg else []
    shown = ast.unparse(args).partition(",")[2].strip()
    result = "None" if function.returns is None else ast.unparse(function.returns)
    head = "    @property\n" if "attribute" in marks_of(function) else ""
    doc = (ast.get_docstring(function) or "").replace("\n", "\n        ").replace("\n        \n", "\n\n")
    end = "\n        " if len(doc.rpartition("\n")[2]) > 100 or "\n\n" in doc else ""
    return (
        f"\n{head}    def {function.name}(self{', ' if shown else ''}{shown}) -> {result}:\n"
        f'        """{doc}{end}"""\n'
        f"        {'' if result == 'None' else 'return '}{room.called}.{function.name}({', '.join(taken)})\n"
    )


def _imports(rooms: Sequence[Room]) -> Iterator[str]:
    """The names in the annotations, for types, and their modules."""
    yield "from kafkadouble.host.host import Host"
    found = set()
    for room in rooms:
        package, _, stem = room.name.rpartition(".")
        yield f"from {package} import {stem} as {room.called}"
        used = {name for member in room.members for name in _names(member)}
        imported = {alias.asname or alias.name: node.module for node, alias in _imported(room.tree)}
        defined = {name for name in _defined(room.tree) if name in used}
        found |= {f"from {imported[name]} import {name}" for name in used & imported.keys()}
        found |= {f"from {room.name} import {name}" for name in defined - imported.keys()}
    yield from found - {"from kafkadouble.host.host import Host", "from typing import Any"}


def _names(function: ast.FunctionDef) -> set[str]:
    """The names in the signature."""
    nodes = [function.args, *([function.returns] if function.returns else [])]
    return {each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name)}


def _imported(tree: ast.Module) -> Iterator[tuple[ast.ImportFrom, ast.alias]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((node, alias) for alias in node.names)


def _defined(tree: ast.Module) -> Iterator[str]:
    """The names that a module gives values itself, for types too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def _as_ruff_sorts(line: str) -> tuple[bool, str]:
    return "kafkadouble" in line, line
