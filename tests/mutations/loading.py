"""A pytest plugin that breaks one rule while the product is imported: `-p tests.mutations.loading`,
with the name of a mutation in KAFKADOUBLE_MUTATION. It changes no file, and reads and writes no
compiled file of the module."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from .mutation import Mutation
from .table import MUTATIONS

NAME = "KAFKADOUBLE_MUTATION"


class MutatedLoader(SourceFileLoader):
    """Loads one module with its mutation."""

    def __init__(self, mutation: Mutation, path: str) -> None:
        super().__init__(mutation.module, path)
        self._mutation = mutation

    def get_code(self, fullname: str) -> CodeType:
        source = self._mutation.apply(self.get_data(self.path).decode())
        return compile(source, self.path, "exec", dont_inherit=True)


class MutatedFinder(MetaPathFinder):
    """Finds the module of a mutation, and no other."""

    def __init__(self, mutation: Mutation) -> None:
        self._mutation = mutation

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._mutation.module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        assert spec is not None
        assert spec.origin is not None
        spec.loader = MutatedLoader(self._mutation, spec.origin)
        return spec


if name := os.environ.get(NAME):
    assert MUTATIONS[name].module not in sys.modules, "it was imported before it could be changed"
    sys.meta_path.insert(0, MutatedFinder(MUTATIONS[name]))
