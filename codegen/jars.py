"""Compares our specs with the specs in Apache Kafka's jars: `python -m codegen.jars --check |
--diff OLD NEW | --extract DIR`.

    --check [--kafka VERSION]        whether all facts are equal, and our prose has no copy of
    Kafka's --diff OLD NEW what Kafka changed between two of its versions --extract DIR [--kafka
    VERSION] writes Kafka's specs in canonical style, with our `about` texts

Exit codes: 0 no findings, 1 findings of `--check` (a line each), 2 wrong arguments, 3 the jars are
not available (the reason is on stderr). Kafka's own prose is never printed or written.
"""

from __future__ import annotations

import argparse
import re
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from . import compare, style
from .compare import Specs
from .maven import NoJars, family_jars

KAFKA = "4.4.0"
OURS = Path(__file__).parent.parent / "messages" / "specs"

_RESOURCE = re.compile(r"(?:.*/)?(?:message|metadata)/[^/]+\.json")


def committed(folder: Path = OURS) -> Specs:
    """The specs of one of our folders: `FAMILY/*.json`."""
    found = {}
    for path in sorted(folder.glob("*/*.json")):
        spec = _load(path.read_text(encoding="utf-8"), str(path))
        found[spec["name"]] = (path.parent.name, spec)
    return Specs("ours", found)


def released(version: str, label: str = "theirs") -> Specs:
    """The specs in the jars of a Kafka version, with their prose. Raises NoJars when the jars are
    not available."""
    found = {spec["name"]: (family, spec) for family, _, spec in _resources(version)}
    return Specs(label, found)


def check(ours: Specs, theirs: Specs) -> list[str]:
    """A line for every fact that differs, and for every text of ours that is a copy."""
    return [*compare.differences(ours, theirs), *compare.copies(_prose(ours), _prose(theirs))]


def extract(version: str, folder: Path, ours: Specs) -> int:
    """Writes Kafka's specs as `folder/FAMILY/*.json`, with our prose in place of Kafka's. Returns
    the number of files."""
    prose = _prose(ours)
    count = 0
    for family, file, spec in _resources(version):
        _reword(spec["name"], spec, prose)
        for struct in spec.get("commonStructs", ()):
            _reword(f"{spec['name']}[{struct['name']}]", struct, prose)
        path = folder / family / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(style.dumps(spec), encoding="utf-8")
        count += 1
    return count


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    options = _arguments(arguments)
    try:
        return _run(options)
    except NoJars as why:
        print(f"NOT CHECKED against Apache Kafka's jars: {why}", file=sys.stderr)
        return 3
    except ValueError as broken:
        print(f"broken spec: {broken}", file=sys.stderr)
        return 1


def _run(options: argparse.Namespace) -> int:
    if options.diff:
        old, new = (released(version, version) for version in options.diff)
        lines = list(compare.differences(old, new))
        print("\n".join([*lines, f"{len(lines)} differences between {old.label} and {new.label}"]))
        return 0
    ours = committed(options.specs)
    if options.extract:
        print(f"{extract(options.kafka, options.extract, ours)} specs of Kafka {options.kafka} in {options.extract}")
        return 0
    lines = check(ours, released(options.kafka))
    print("\n".join([*lines, f"{_size(ours)}, against Kafka {options.kafka}: {len(lines)} findings"]))
    return 1 if lines else 0


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m codegen.jars", description="Our specs against Apache Kafka's jars."
    )
    verb = parser.add_mutually_exclusive_group(required=True)
    verb.add_argument("--check", action="store_true", help="compare ours with the jars, fact by fact")
    verb.add_argument("--diff", nargs=2, metavar=("OLD", "NEW"), help="what changed between two Kafka versions")
    verb.add_argument("--extract", type=Path, metavar="DIR", help="write the jars' specs, in our style and words")
    parser.add_argument("--kafka", default=KAFKA, metavar="VERSION", help=f"the version to compare with ({KAFKA})")
    parser.add_argument("--specs", type=Path, default=OURS, metavar="DIR", help="our specs (messages/specs)")
    return parser.parse_args(arguments)


def _resources(version: str) -> Iterator[tuple[str, str, style.Spec]]:
    """(family, file name, spec) of every specification in the jars of a version."""
    for family, jar in family_jars(version).items():
        for entry, text in _texts(jar):
            yield family, entry.rpartition("/")[2], _load(text, f"{jar.name}:{entry}")


def _texts(jar: Path) -> list[tuple[str, str]]:
    try:
        with zipfile.ZipFile(jar) as archive:
            entries = sorted(filter(_RESOURCE.fullmatch, archive.namelist()))
            return [(entry, archive.read(entry).decode("utf-8")) for entry in entries]
    except (OSError, zipfile.BadZipFile) as error:
        raise NoJars(f"{jar} cannot be read: {error}") from error


def _load(text: str, source: str) -> style.Spec:
    try:
        return style.loads(text)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error


def _prose(specs: Specs) -> dict[str, str]:
    return {place: text for _, spec in specs.by_name.values() for place, text in compare.abouts(spec).items()}


def _reword(place: str, owner: dict[str, Any], prose: dict[str, str]) -> None:
    for field in owner.get("fields", ()):
        inner = f"{place}.{field['name']}"
        field.pop("about", None)
        if inner in prose:
            field["about"] = prose[inner]
        _reword(inner, field, prose)


def _size(specs: Specs) -> str:
    messages = [compare.places(family, spec) for family, spec in specs.by_name.values()]
    fields = sum("default" in facts for places in messages for facts in places.values())
    return f"{len(messages)} messages, {fields} fields"


if __name__ == "__main__":
    sys.exit(main())
