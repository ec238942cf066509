"""The imports of the product, as its modules write them.

A module of `src/kafkadouble` and of the floors that it links to imports another at the top, inside
a function, or for types only (under `if TYPE_CHECKING`). Names of a package that `__init__.py` only
hands on count as imports of the package.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "kafkadouble"
NOT_OURS = frozenset({"__pycache__", "generated"})
"""Folders whose modules are no part of the house: they are made from specs."""


class Import(NamedTuple):
    """One import of a module by another. `inside` a function, `for_types` only."""

    importer: str
    imported: str
    line: int
    inside: bool = False
    for_types: bool = False


class House(NamedTuple):
    """The modules by their dotted names, with the files, and their imports of one another.
    `statements` are the import statements inside functions, of anything, by module."""

    modules: dict[str, Path]
    imports: list[Import]
    statements: dict[str, int]

    def package_of(self, module: str) -> str:
        """The folder that a module lies in; that of a package is itself."""
        is_package = self.modules[module].name == "__init__.py"
        return module if is_package else module.rpartition(".")[0]


def read(source: Path = ROOT / "src") -> House:
    """The house as it stands."""
    modules = dict(modules_of(source / PACKAGE))
    imports: list[Import] = []
    statements: dict[str, int] = {}
    for name, file in modules.items():
        reader = _Reader(name, file.name == "__init__.py", modules)
        reader.visit(ast.parse(file.read_text("utf-8")))
        imports += reader.found
        if reader.statements:
            statements[name] = reader.statements
    return House(modules, imports, statements)


def modules_of(folder: Path) -> Iterator[tuple[str, Path]]:
    """The modules of a package by their dotted names, without generated ones."""
    for root, folders, files in os.walk(folder, followlinks=True):
        folders[:] = sorted(set(folders) - NOT_OURS)
        for name in sorted(files):
            if name.endswith(".py"):
                file = Path(root, name)
                parts = file.relative_to(folder.parent).with_suffix("").parts
                yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


class _Reader(ast.NodeVisitor):
    """Reads the imports of one module."""

    def __init__(self, module: str, is_package: bool, known: Mapping[str, Path]) -> None:
        self._module, self._known = module, known
        self._package = module if is_package else module.rpartition(".")[0]
        self._inside = self._for_types = False
        self.found: list[Import] = []
        self.statements = 0

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        before, self._inside = self._inside, True
        self.generic_visit(node)
        self._inside = before

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_If(self, node: ast.If) -> None:
        if not _is_for_types(node.test):
            self.generic_visit(node)
            return
        before, self._for_types = self._for_types, True
        for each in node.body:
            self.visit(each)
        self._for_types = before
        for each in node.orelse:
            self.visit(each)

    def visit_Import(self, node: ast.Import) -> None:
        self._add(node.lineno, [alias.name for alias in node.names])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = node.module or ""
        if node.level:
            above = self._package.split(".")
            above = above[: len(above) - node.level + 1]
            base = ".".join([*above, *([base] if base else [])])
        self._add(node.lineno, [self._meant(base, alias.name) for alias in node.names])

    def _meant(self, base: str, name: str) -> str:
        """The module `base.name` if there is one, else `base` has the name."""
        return f"{base}.{name}" if f"{base}.{name}" in self._known else base

    def _add(self, line: int, names: list[str]) -> None:
        self.statements += self._inside and not self._for_types
        for name in dict.fromkeys(names):
            if name in self._known and name != self._module:
                self.found.append(Import(self._module, name, line, self._inside, self._for_types))


def _is_for_types(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )
