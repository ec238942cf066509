"""A module that is imported when something of it is used first: what a start need not wait for."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class OnFirstUse:
    """Stands for the module with this name. Any thread may use it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    def __getattr__(self, attribute: str) -> Any:
        if self._module is None:
            self._module = import_module(self._name)
        return getattr(self._module, attribute)
