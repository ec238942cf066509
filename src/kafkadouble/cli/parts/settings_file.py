"""The settings of a server.properties, as `serve` and `format` read them.

As in Kafka, a setting that is not known changes nothing, and is a warning. With `--strict` it is an
error.
"""

from __future__ import annotations

from kafkadouble.server.configs.settings import Given, properties, split_unknown, unknown_setting


def settings_of_file(path: str, strict: bool) -> tuple[list[Given], list[Given]]:
    """The settings of a file, and those that are not known, which are no settings if `strict`."""
    with open(path, encoding="utf-8") as file:
        given = properties(file.read(), path)
    return (given, []) if strict else split_unknown(given)


def warning(setting: Given) -> str:
    """The sentence about a setting that is ignored."""
    place, name, _ = setting
    return f"{unknown_setting(place, name)}; it is ignored, and --strict refuses it"
