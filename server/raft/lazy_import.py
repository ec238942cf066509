"""A function whose module is imported at its first call.

Most nodes are the only voter of their quorum: they handle and send no requests, follow no leader,
and change no voters. Such a node does not import the modules for these tasks.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class LazyImport:
    """The function `name` of `module` in this package."""

    __slots__ = ("_module", "_name", "_path")

    def __init__(self, module: str, name: str) -> None:
        self._path, self._name = f".{module}", name
        self._module: ModuleType | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self._module is None:
            self._module = import_module(self._path, __package__)
        return getattr(self._module, self._name)(*arguments)

    def __repr__(self) -> str:
        return f"{self._path[1:]}.{self._name}"
