"""Which of Kafka's settings nothing reads: what `make generate` writes into
`server/configs/without_effect.py`.

Every reader names its setting as a text constant. Modules of `server/configs/` that list or check
all settings are no readers, and what gives the default of a configuration of topics or groups is
read with it. `tests/conftest.py` looks at every read in every test: a name that is put together
from pieces is found there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import kafkadouble
from kafkadouble.server.configs.broker import BROKER
from kafkadouble.server.configs.group import GROUP
from kafkadouble.server.configs.own import TOPIC_HERE

READERS = (
    "group_rules.py",
    "listener_settings.py",
    "listener_specs.py",
    "listeners.py",
    "settings.py",
    "topic_rules.py",
)
"""The modules in `server/configs/` that read single settings."""

NO_READERS = ("clients", "external", "messages", "pipeline", "replay", "wire")
"""Rooms and floors without a reader. Settings of clients have some of the same names."""

HEAD = '''"""The settings of Kafka that nothing in this double reads.

Made by `make generate` from the code; do not edit. A value is still checked, and shown.
"""

WITHOUT_EFFECT = frozenset(
    {
'''


def as_python() -> str:
    """The generated module."""
    lines = "".join(f'        "{name}",\n' for name in sorted({config.name for config in BROKER} - read()))
    return f"{HEAD}{lines}    }}\n)\n"


def read() -> set[str]:
    """Every name of a configuration that some code reads."""
    found = {text for file in _sources() for text in _constants(file)}
    inherited = (config.synonyms for table in (TOPIC_HERE, GROUP) for config in table if config.name in found)
    return found | {name for synonyms in inherited for name, _ in synonyms}


def _sources() -> Iterator[Path]:
    package = Path(next(iter(kafkadouble.__path__)))
    for room in sorted(package.iterdir()):
        # A link is followed only if it is the place to begin.
        for file in () if room.name in NO_READERS else (room, *room.rglob("*.py")):
            if file.suffix == ".py" and (file.parent.name != "configs" or file.name in READERS):
                yield file


def _constants(file: Path) -> Iterable[str]:
    nodes = ast.walk(ast.parse(file.read_text("utf-8")))
    return (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
