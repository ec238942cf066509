"""A table of configurations: rows of text, each parsed when its name is first looked up.

    num.partitions  int  1  medium  >=1
        Partitions of a topic when its creator does not say.

The first line has the name, the type, the default (`null`, `required`, or `""` for the empty text)
and the importance. These words follow, in any order:

- words of `checks.py`;
- how the configuration may be altered: a word of `MODES`, otherwise it is read-only;
- `internal`: DescribeConfigs shows it only where it is set;
- `<NAME`: the broker configuration that gives the default, with `:hours` or `:minutes` for its
  unit.

The second line is the documentation.

A node needs a dozen of 450 rows before its first request. So a lookup searches the text, and only
DescribeConfigs parses all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .definition import ConfigKey, ConfigType

MODES = frozenset({"per-broker", "per-listener", "cluster-wide", "dynamic-only"})
"""How a broker's configuration may be altered at run time: for one broker; for one of its
listeners; for one broker or for all; for one broker or for all, but not in the properties file.
"""

UNITS = {"": 1, "minutes": 60_000, "hours": 3_600_000}


class ConfigDef:
    """Configurations by name. `load` gives the texts of the rows one by one; a text is loaded when
    a lookup has not found the name in the texts before it.
    """

    def __init__(self, load: Callable[[], Iterator[str]]) -> None:
        self._load = load
        self._texts: list[str] = []
        self._more: Iterator[str] | None = None
        self._read: dict[str, ConfigKey] = {}
        self._complete = False

    def get(self, name: str) -> ConfigKey | None:
        """The configuration of this name, or None."""
        if name in self._read or self._complete or not name:
            return self._read.get(name)
        for text in self.texts():
            start = text.find(f"\n{name}  ") + 1
            if start:
                self._read[name] = config = read_row(text[start : text.find("\n", text.find("\n    ", start) + 1)])
                return config
        return None

    def __getitem__(self, name: str) -> ConfigKey:
        config = self.get(name)
        if config is None:
            raise KeyError(name)
        return config

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __iter__(self) -> Iterator[ConfigKey]:
        """All rows, in the order of the text."""
        if not self._complete:
            lines = [line for text in self.texts() for line in text.strip("\n").split("\n")]
            rows = [read_row(first + "\n" + second) for first, second in zip(lines[::2], lines[1::2], strict=True)]
            self._read = {row.name: self._read.get(row.name, row) for row in rows}
            self._complete = True
        return iter(self._read.values())

    def texts(self) -> Iterator[str]:
        """The texts of the rows, loaded one by one."""
        yield from self._texts
        self._more = self._more or self._load()
        for text in self._more:
            self._texts.append(text)
            yield text


def read_row(row: str) -> ConfigKey:
    """Parses one row of text."""
    first, _, doc = row.partition("\n    ")
    name, type_, default, importance, *words = first.split()
    held = {"null": None, "required": None, '""': ""}.get(default, default)
    config = ConfigKey(name, ConfigType[type_.upper()], held, importance, doc.strip())
    for word in words:
        if word.startswith("<"):
            synonym, _, unit = word[1:].partition(":")
            config.synonyms.append((synonym, UNITS[unit]))
        elif word in MODES:
            config.mode = word
        elif word == "internal":
            config.internal = True
        else:
            config.checks.append(word)
    return config
