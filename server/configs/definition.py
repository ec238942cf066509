"""The definition of one configuration: its type, its default and its checks, and the conversion of
text to a value and back.

It accepts and refuses what Kafka's ConfigDef does, with messages close to its own, because clients
show them. There is one difference: a class name is any text, because no class can be loaded here.
"""

from __future__ import annotations

from enum import IntEnum

from kafkadouble.wire.errors import UsageError

Value = bool | int | float | str | tuple[str, ...] | None
"""The value of a configuration, by its type; None when it has none."""

BLANKS = "".join(map(chr, range(33)))
"""The characters that Java's `trim` removes: all up to the space."""


class ConfigType(IntEnum):
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


BITS = {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}


class ConfigRefused(UsageError):
    """A configuration is refused. `error` names Kafka's error code."""

    error = "INVALID_CONFIG"


class InvalidConfig(ConfigRefused):
    """A value is not valid for its configuration: INVALID_CONFIG."""

    def __init__(self, name: str, value: object, why: str = "", *, text: str = "") -> None:
        self.name, self.value, self.why = name, value, why
        super().__init__(text or f"Invalid value {shown(value)} for configuration {name}" + (why and ": " + why))


class InvalidRequest(ConfigRefused):
    """A request to alter configurations is not valid: INVALID_REQUEST."""

    error = "INVALID_REQUEST"


class ConfigKey:
    """One row of a table: the name of a configuration and all facts about it."""

    __slots__ = ("checks", "default", "doc", "importance", "internal", "mode", "name", "synonyms", "type")

    def __init__(self, name: str, type_: ConfigType, default: str | None, importance: str, doc: str) -> None:
        self.name, self.type, self.importance, self.doc = name, type_, importance, doc
        self.default = default  # as text; None: it has no value until it is set
        self.checks: list[str] = []  # words of `checks.py`
        self.mode = "read-only"  # how a broker's may be altered; the others are `table.MODES`
        # The broker configurations that give the default, in order of precedence, each with the
        # factor that converts its unit.
        self.synonyms: list[tuple[str, int]] = []
        self.internal = False  # DescribeConfigs shows it only where it is set

    @property
    def sensitive(self) -> bool:
        """Whether its value is never shown."""
        return self.type is ConfigType.PASSWORD

    def parse(self, text: str, *, strict: bool = False) -> Value:
        """Parses and checks a text. Duplicates in a list are dropped, or refused if `strict`."""
        from .checks import checked

        return checked(self, parse_type(self.name, text, self.type), strict)

    def default_value(self) -> Value:
        """The default as a value."""
        return None if self.default is None else parse_type(self.name, self.default, self.type)

    def __repr__(self) -> str:
        return f"{self.name} ({self.type.name}, default {self.default!r})"


def parse_type(name: str, text: str, type_: ConfigType) -> Value:
    """Parses a text as a `type_`, or raises InvalidConfig; bounds are not checked."""
    trimmed = text.strip(BLANKS)
    if type_ is ConfigType.BOOLEAN:
        if trimmed.lower() not in ("true", "false"):
            raise InvalidConfig(name, text, "Expected value to be either true or false")
        return trimmed.lower() == "true"
    if type_ is ConfigType.LIST:
        return tuple(part.strip(" \t\n\v\f\r") for part in trimmed.split(",")) if trimmed else ()
    if type_ is ConfigType.DOUBLE:
        return _double(name, text, trimmed)
    if type_ in BITS:
        digits = trimmed[1:] if trimmed[:1] in ("+", "-") else trimmed
        number = int(trimmed) if digits.isdecimal() and len(digits) < 1000 else None
        if number is None or not -(1 << BITS[type_] - 1) <= number < 1 << BITS[type_] - 1:
            raise InvalidConfig(name, text, f"Not a number of type {type_.name}")
        return number
    return trimmed


def _double(name: str, text: str, trimmed: str) -> float:
    number = trimmed[:-1] if trimmed[-1:] in ("d", "D", "f", "F") else trimmed
    try:
        if set(number) <= set("0123456789.eE+-") or number.lstrip("+-") in ("NaN", "Infinity"):
            return float(number)
    except ValueError:
        pass
    raise InvalidConfig(name, text, "Not a number of type DOUBLE")


def format_value(value: Value) -> str | None:
    """Formats a value as DescribeConfigs shows it."""
    return ",".join(value) if isinstance(value, tuple) else None if value is None else shown(value)


def shown(value: object) -> str:
    """Formats a value for an error message, as Java prints it."""
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
