"""What one configuration is: its type, its default, what it may hold, and how text becomes a value and back.

Kafka's ConfigDef is the measure: what it takes is taken, what it refuses is refused, in words close to its own, because clients show
them. One difference: a class name is any text, since no class can be loaded here.
"""

from __future__ import annotations

from enum import IntEnum

from kafkadouble.wire.errors import UsageError

Value = bool | int | float | str | tuple[str, ...] | None
"""What a configuration holds, by its type; None when it holds nothing."""

BLANKS = "".join(map(chr, range(33)))
"""What Java's trim takes off: everything up to the space."""


class Type(IntEnum):
    """The types of ConfigDef; the numbers are those of DescribeConfigs."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


BITS = {Type.SHORT: 16, Type.INT: 32, Type.LONG: 64}


class ConfigRefused(UsageError):
    """A configuration that cannot be so. `error` names Kafka's error code for it."""

    error = "INVALID_CONFIG"


class InvalidConfig(ConfigRefused):
    """A value that its configuration cannot hold: INVALID_CONFIG."""

    def __init__(self, name: str, value: object, why: str = "", *, text: str = "") -> None:
        self.name, self.value, self.why = name, value, why
        super().__init__(text or f"Invalid value {shown(value)} for configuration {name}" + (why and ": " + why))


class InvalidRequest(ConfigRefused):
    """A change that may not be asked for in this way: INVALID_REQUEST."""

    error = "INVALID_REQUEST"


class Config:
    """One row of a table: a configuration and everything that is known of it."""

    __slots__ = ("checks", "default", "doc", "effective", "importance", "internal", "mode", "name", "synonyms", "type")

    def __init__(self, name: str, type_: Type, default: str | None, importance: str, doc: str) -> None:
        self.name, self.type, self.importance, self.doc = name, type_, importance, doc
        self.default = default  # as text; None: it holds nothing until it is set
        self.checks: list[str] = []  # words of `checks.py`
        self.mode = "read-only"  # how a broker's may be altered; the others are `table.MODES`
        # Broker configurations that give the default, the one that counts first, each with the factor that makes its unit this one's.
        self.synonyms: list[tuple[str, int]] = []
        self.internal = False  # not described until it is set
        self.effective = False  # it changes what this double does; others are taken and kept, no more

    @property
    def sensitive(self) -> bool:
        """Whether its value is shown to nobody."""
        return self.type is Type.PASSWORD

    def parse(self, text: str, *, strict: bool = False) -> Value:
        """The value that `text` means, checked; a list loses its duplicates, unless `strict`, which refuses them."""
        from .checks import checked

        return checked(self, parse_type(self.name, text, self.type), strict)

    def default_value(self) -> Value:
        """The value of the default."""
        return None if self.default is None else parse_type(self.name, self.default, self.type)

    def __repr__(self) -> str:
        return f"{self.name} ({self.type.name}, default {self.default!r})"


def parse_type(name: str, text: str, type_: Type) -> Value:
    """The value that `text` means as a `type_`, or InvalidConfig; bounds are not looked at."""
    trimmed = text.strip(BLANKS)
    if type_ is Type.BOOLEAN:
        if trimmed.lower() not in ("true", "false"):
            raise InvalidConfig(name, text, "Expected value to be either true or false")
        return trimmed.lower() == "true"
    if type_ is Type.LIST:
        return tuple(part.strip(" \t\n\v\f\r") for part in trimmed.split(",")) if trimmed else ()
    if type_ is Type.DOUBLE:
        return _double(name, text, trimmed)
    if type_ in BITS:
        return _whole(name, text, trimmed, type_)
    return trimmed


def _whole(name: str, text: str, trimmed: str, type_: Type) -> int:
    digits = trimmed[1:] if trimmed[:1] in ("+", "-") else trimmed
    number = int(trimmed) if digits.isdecimal() and len(digits) < 1000 else None
    if number is None or not -(1 << BITS[type_] - 1) <= number < 1 << BITS[type_] - 1:
        raise InvalidConfig(name, text, f"Not a number of type {type_.name}")
    return number


def _double(name: str, text: str, trimmed: str) -> float:
    number = trimmed[:-1] if trimmed[-1:] in ("d", "D", "f", "F") else trimmed
    try:
        if set(number) <= set("0123456789.eE+-") or number.lstrip("+-") in ("NaN", "Infinity"):
            return float(number)
    except ValueError:
        pass
    raise InvalidConfig(name, text, "Not a number of type DOUBLE")


def format_value(value: Value) -> str | None:
    """The text that DescribeConfigs shows for a value."""
    return ",".join(value) if isinstance(value, tuple) else None if value is None else shown(value)


def shown(value: object) -> str:
    """A value in the text of an error: as Java would print it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(str, value)) + "]"
    return _java_double(value) if isinstance(value, float) else "null" if value is None else str(value)


def _java_double(value: float) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    from decimal import Decimal

    number = Decimal(repr(value)).normalize()
    first, *rest = map(str, number.as_tuple().digits)
    return ("-" if value < 0 else "") + f"{first}.{''.join(rest) or '0'}E{number.adjusted()}"
