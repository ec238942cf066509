"""docs/reference.md: the parameters of KafkaDouble, what it has besides its verbs, and the fields
of the values that it returns, made from signatures and docstrings; `make generate` writes it."""

from __future__ import annotations

import inspect
import re
import textwrap
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from kafkadouble import Committed, Group, KafkaDouble, Member, Transaction, run_arguments
from kafkadouble.common import literals
from kafkadouble.coordinators import group_values
from kafkadouble.server.security.sasl import oauth_bearer
from kafkadouble.verbs.registry import VERBS
from tests.support import extras

VALUES: Mapping[type, str] = {
    Group: "What `kafka.groups()` and `kafka.wait_for_group` return.",
    Member: "One of `members` of a Group.",
    Committed: "A value of `offsets` of a Group.",
    Transaction: "What `kafka.transactions()` and `kafka.wait_for_transaction` return.",
}

ALIASES: Mapping[str, object] = {
    "PathLike": run_arguments.PathLike,
    "TokenCheck": oauth_bearer.TokenCheck,
    "TopicPartition": group_values.TopicPartition,
}
"""The types that are shown by their parts."""

HEAD = """\
# KafkaDouble and its values

Made by `make generate`; do not edit. This page has the parameters of `KafkaDouble`, what it has
besides its [verbs](verbs.md), and the values of groups and transactions. The last table has the
extras of the package.
"""


def as_markdown() -> str:
    return HEAD + "".join(_sections())


def _sections() -> Iterator[str]:
    yield _table("KafkaDouble(...)", _intro(KafkaDouble), "| parameter | type | default | meaning |", _parameters())
    note = "Every parameter is a keyword. With pytest, most of them are arguments of the marker:"
    yield f"\n{note}\n[pytest.md](pytest.md#one-test).\n"
    yield _table("Besides its verbs", "", "| attribute | meaning |", _attributes())
    for cls, intro in VALUES.items():
        yield _table(cls.__name__, f"{_intro(cls)} {intro}", "| attribute | type | meaning |", _fields(cls))
    yield _table("Extras", extras.INTRO, extras.HEAD, extras.rows())


def items(cls: type) -> dict[str, str]:
    """What the list in the docstring of a class says of each name."""
    parts = re.findall(r"^- `(\w+)`: (.*?)(?=^- |^$|\Z)", inspect.getdoc(cls) or "", re.MULTILINE | re.DOTALL)
    return {name: _sentence(_line(text)) for name, text in parts}


def _intro(cls: type) -> str:
    return _line((inspect.getdoc(cls) or "").partition("\n\n")[0])


def _parameters() -> Iterator[str]:
    meanings = items(KafkaDouble)
    for name, parameter in inspect.signature(KafkaDouble).parameters.items():
        yield f"| `{name}` | {_type(parameter.annotation)} | `{parameter.default!r}` | {_cell(meanings[name])} |"


def _attributes() -> Iterator[str]:
    for name, what in vars(KafkaDouble).items():
        if name.startswith("_") or name in VERBS:
            continue
        call = f"{name}()" if inspect.isfunction(what) else name
        yield f"| `kafka.{call}` | {_cell(_line(inspect.getdoc(what) or ''))} |"


def _fields(cls: Any) -> Iterator[str]:
    meanings = items(cls)
    for name, annotation in inspect.get_annotations(cls).items():
        yield f"| `{name}` | {_type(annotation)} | {_cell(meanings[name])} |"
    for name, what in vars(cls).items():
        if isinstance(what, property):
            result = inspect.get_annotations(what.fget)["return"]  # type: ignore[arg-type]
            yield f"| `{name}` | {_type(result)} | {_cell(_line(inspect.getdoc(what) or ''))} |"


def _type(annotation: Any) -> str:
    """The type as it is written, with the words of a fixed set and the parts of an alias."""
    written = annotation if isinstance(annotation, str) else annotation.__forward_arg__
    text = re.sub(r"\b\w+\b", lambda match: _alias(match[0]), written)
    return f"`{_cell(text)}`"


def _alias(name: str) -> str:
    if words := typing.get_args(getattr(literals, name, None)):
        return " | ".join(f'"{word}"' for word in words)
    return re.sub(r"\b(os|collections\.abc)\.", "", str(ALIASES[name])) if name in ALIASES else name


def _line(text: str) -> str:
    return " ".join(text.split())


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _table(title: str, intro: str, head: str, rows: Iterator[str]) -> str:
    ruler = "|" + "---|" * (head.count("|") - 1)
    return "\n".join(
        ["", f"## {title}", "", *([textwrap.fill(intro, 100), ""] if intro else []), head, ruler, *rows, ""]
    )
