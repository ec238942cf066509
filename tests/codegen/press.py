"""Specifications made up for tests, and the modules that the press generates from them, imported
like shipped modules."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import Any

from codegen import spec
from codegen.model import MessageSpec
from codegen.module import module_text

PACKAGE = "kafkadouble.messages.generated"


def raw(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A specification of a data message, versions 0 to 3, flexible from 2."""
    return {
        "type": "data",
        "name": "Example",
        "validVersions": "0-3",
        "flexibleVersions": "2+",
        "fields": list(fields),
    } | more


def field(name: str, kind: str, versions: str = "0+", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "versions": versions} | more


def parse(written: dict[str, Any] | str) -> MessageSpec:
    """The checked model of a specification, as a dict or as text."""
    return spec.parse(written if isinstance(written, str) else json.dumps(written), "Example.json")


def press(written: dict[str, Any], module: str) -> ModuleType:
    """The generated module of a specification, imported under the name `module`."""
    name = f"{PACKAGE}.{module}"
    made = ModuleType(name)
    made.__package__ = PACKAGE
    sys.modules[name] = made
    exec(compile(module_text([parse(written)]), f"<{module}>", "exec"), vars(made))
    return made
