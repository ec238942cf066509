"""Compares two sets of message specifications fact by fact, and finds copied prose.

A fact is a normalised text, so that two spellings of one fact are equal: `"tag": "0"` and `0`,
`0x7f` and `127`, an absent default and the default of the type. The versions of a field are
compared as declared, which covers every version at once. The order of a struct's fields is a fact
too: it is the order on the wire. This file never reads or writes a file.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from .versions import Versions

Spec = Mapping[str, Any]
Facts = dict[str, str]
Places = dict[str, Facts]
"""Place (`Message.Field.Field`, `Message[CommonStruct].Field`) -> its facts."""


class Specs(NamedTuple):
    """The specs of one side. `label` is its name in a difference; `by_name`: message -> (family,
    spec)."""

    label: str
    by_name: Mapping[str, tuple[str, Spec]]


def differences(left: Specs, right: Specs) -> Iterator[str]:
    """A line for every fact that differs, and for every message and field that is on one side
    only."""
    for name in sorted(left.by_name.keys() | right.by_name.keys()):
        if name not in right.by_name:
            yield f"{name}: only in {left.label} ({left.by_name[name][0]})"
        elif name not in left.by_name:
            yield f"{name}: only in {right.label} ({right.by_name[name][0]})"
        else:
            yield from _between(left, places(*left.by_name[name]), right, places(*right.by_name[name]))


def places(family: str, spec: Spec) -> Places:
    """Every place of one message with its facts, in the order of the text. Raises ValueError when a
    place appears twice."""
    name = spec["name"]
    found: Places = {name: _facts(spec, MESSAGE_FACTS) | {"family": family, "field order": _names(spec)}}
    for struct in spec.get("commonStructs", ()):
        place = f"{name}[{struct['name']}]"
        _put(found, place, {"versions": _versions(struct["versions"]), "field order": _names(struct)})
        _put_fields(found, place, struct)
    _put_fields(found, name, spec)
    return found


def abouts(spec: Spec) -> dict[str, str]:
    """Place -> its prose, for the fields that have any."""
    found: dict[str, str] = {}

    def walk(place: str, owner: Spec) -> None:
        for field in owner.get("fields", ()):
            if "about" in field:
                found[f"{place}.{field['name']}"] = field["about"]
            walk(f"{place}.{field['name']}", field)

    walk(spec["name"], spec)
    for struct in spec.get("commonStructs", ()):
        walk(f"{spec['name']}[{struct['name']}]", struct)
    return found


COPY_LENGTH = 30
"""Texts up to this number of characters may agree: there are few ways to write `Topic id`."""
COPY_RATIO = 0.9


def copies(ours: Mapping[str, str], theirs: Mapping[str, str]) -> Iterator[str]:
    """A line for each of our texts that is nearly equal to their text for the same field, or equal
    to their text for any field. Case and punctuation are ignored."""
    anywhere = {plain(text) for text in theirs.values()}
    for place, text in ours.items():
        words = plain(text)
        if len(words) <= COPY_LENGTH:
            continue
        if words in anywhere:
            yield f"{place}: about is a copy of theirs: {text!r}"
        elif (
            likeness := difflib.SequenceMatcher(None, words, plain(theirs.get(place, "")), False).ratio()
        ) > COPY_RATIO:
            yield f"{place}: about is a near copy of theirs ({likeness:.2f}): {text!r}"


def plain(text: str) -> str:
    """The words of a text in lower case, one space between them."""
    return " ".join(re.findall(r"\w+", text.lower()))


def _between(left: Specs, ours: Places, right: Specs, theirs: Places) -> Iterator[str]:
    for place in [*ours, *(their for their in theirs if their not in ours)]:
        if place in ours and place in theirs:
            yield from _unlike(place, left.label, ours[place], right.label, theirs[place])
        # else the line of the owner reports it
        elif (owner := _owner(place)) in ours and owner in theirs:
            side, facts = (left, ours[place]) if place in ours else (right, theirs[place])
            kind = f"{facts['type']}, " if "type" in facts else ""
            yield f"{place}: only in {side.label} ({kind}versions {facts['versions']})"


def _unlike(place: str, left: str, ours: Facts, right: str, theirs: Facts) -> Iterator[str]:
    for fact, mine in ours.items():
        yours = theirs[fact]
        if fact == "field order":
            mine, yours = _first_apart(mine.split(), yours.split())
        if mine != yours:
            yield f"{place}: {fact} {left} {mine}, {right} {yours}"


def _first_apart(names: list[str], others: list[str]) -> tuple[str, str]:
    """The first names at which both orders differ, without the names that only one of them has."""
    both = set(names) & set(others)
    pairs = zip([n for n in names if n in both], [n for n in others if n in both], strict=True)
    return next(((f"{mine} first", f"{yours} first") for mine, yours in pairs if mine != yours), ("", ""))


def _owner(place: str) -> str:
    return re.sub(r"(\.[^.\[\]]+|\[[^\]]+\])$", "", place)


def _put_fields(places: Places, place: str, owner: Spec) -> None:
    for field in owner.get("fields", ()):
        inner = f"{place}.{field['name']}"
        _put(places, inner, _facts(field, FIELD_FACTS) | {"field order": _names(field)})
        _put_fields(places, inner, field)


def _put(places: Places, place: str, facts: Facts) -> None:
    if place in places:
        raise ValueError(f"{place}: occurs twice in its spec")
    places[place] = facts


def _names(owner: Spec) -> str:
    return " ".join(field["name"] for field in owner.get("fields", ()))


def _facts(of: Spec, table: Mapping[str, Callable[[Spec], str]]) -> Facts:
    return {fact: read(of) for fact, read in table.items()}


def _versions(text: str) -> str:
    return str(Versions.parse(text))


def _range(key: str, absent: str = "none") -> Callable[[Spec], str]:
    return lambda of: _versions(of[key]) if key in of else absent


def _word(key: str, absent: str) -> Callable[[Spec], str]:
    return lambda of: str(of.get(key, absent))


def _flag(key: str) -> Callable[[Spec], str]:
    return lambda of: "yes" if of.get(key, False) else "no"


def _listeners(of: Spec) -> str:
    named = of.get("listeners", [])
    return " ".join(sorted([named] if isinstance(named, str) else named)) or "none"


def _default(field: Spec) -> str:
    """The default as a value. A JSON null counts as no default, as in Kafka's own reader."""
    given, kind = field.get("default"), field["type"]
    text = "" if given is None else json.dumps(given) if isinstance(given, bool) else str(given)
    if text == "null":
        return "null"
    if re.fullmatch(r"u?int\d+", kind):
        return str(int(text or "0", 0))
    if kind == "float64":
        return str(float(text or "0"))
    if kind == "bool":
        return text.lower() or "false"
    if kind == "uuid":
        return text or "zero"
    return json.dumps(text) if kind == "string" else text or "empty"


MESSAGE_FACTS: dict[str, Callable[[Spec], str]] = {
    "api key": _word("apiKey", "none"),
    "type": _word("type", "none"),
    "valid versions": _range("validVersions"),
    "deprecated versions": _range("deprecatedVersions"),
    "flexible versions": _range("flexibleVersions"),
    "latest version unstable": _flag("latestVersionUnstable"),
    "listeners": _listeners,
}
FIELD_FACTS: dict[str, Callable[[Spec], str]] = {
    "type": _word("type", "none"),
    "versions": lambda field: _versions(field.get("versions", field.get("taggedVersions", "none"))),
    "nullable versions": _range("nullableVersions"),
    "tagged versions": _range("taggedVersions"),
    "tag": lambda field: str(int(field["tag"])) if "tag" in field else "none",
    "flexible versions": _range("flexibleVersions", "as the message"),
    "default": _default,
    "map key": _flag("mapKey"),
    "ignorable": _flag("ignorable"),
    "zero copy": _flag("zeroCopy"),
    "entity type": _word("entityType", "unknown"),
}
