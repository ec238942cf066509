"""The signatures of what `kafkadouble` gives programs, as text: what may not change by chance."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import kafkadouble

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "import-paths.md"
WITH_EXTRAS = ("kafkadouble.pipeline.spark", "kafkadouble.testcontainers")
"""They import libraries that the tests need not have."""

ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def paths() -> list[str]:
    return re.findall(r"^\| `(kafkadouble[\w.]*)`", PAGE.read_text("utf-8"), re.MULTILINE)


def as_text() -> str:
    """One line for each public name."""
    lines = [
        f"kafkadouble.{line}" for name in sorted(kafkadouble.__all__) for line in _of(name, getattr(kafkadouble, name))
    ]
    for path in paths():
        if path in WITH_EXTRAS:
            continue
        module = import_module(path)
        lines += [f"{path}.{line}" for name in _own(module) for line in _of(name, getattr(module, name))]
    return "".join(f"{line}\n" for line in dict.fromkeys(lines))


def _own(module: ModuleType) -> list[str]:
    """The names that a module defines, or hands on by `__all__`."""
    if module is kafkadouble:
        return []
    if (listed := getattr(module, "__all__", None)) is not None:
        return sorted(listed)
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    )


def _of(name: str, value: Any) -> Iterator[str]:
    if not inspect.isclass(value):
        yield f"{name}{_signature(value)}"
        return
    yield f"{name}{_signature(value)}"
    for member in sorted(dir(value)):
        found = inspect.getattr_static(value, member)
        if not member.startswith("_") and getattr(found, "__module__", "kafkadouble").startswith("kafkadouble"):
            yield f"{name}.{member}{_signature(found)}"


def _signature(value: Any) -> str:
    if isinstance(value, property):
        return f" -> {inspect.signature(value.fget).return_annotation}" if value.fget else ""
    try:
        return ADDRESS.sub("", str(inspect.signature(value))) if callable(value) else ""
    except ValueError:
        return ""
