"""`python -m codegen` writes `messages/generated/` and the class of the verbs; `python -m codegen
--check` exits with 1 and names what is stale."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import double_verbs
from .catalogue import modules, read_all
from .model import SpecError

ROOT = Path(__file__).resolve().parents[1]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m codegen", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 when a generated file is stale"
    )
    parser.add_argument("--specs", type=Path, default=ROOT / "messages" / "specs", help="the folder of specifications")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "messages" / "generated", help="the folder of generated modules"
    )
    options = parser.parse_args(arguments)
    try:
        files = modules(read_all(options.specs))
    except SpecError as error:
        print(error, file=sys.stderr)
        return 1
    stale = [name for name, text in files.items() if _content(options.out / name) != text]
    surplus = [path.name for path in sorted(options.out.glob("*.py")) if path.name not in files]
    verbs = double_verbs.as_python()
    is_stale = _content(double_verbs.OUT) != verbs
    if options.check:
        for name in sorted(stale + surplus):
            print(f"stale: {options.out.name}/{name}")
        if is_stale:
            print(f"stale: {double_verbs.OUT.parent.name}/{double_verbs.OUT.name}")
        return 1 if stale or surplus or is_stale else 0
    _write(options.out, files, stale, surplus)
    if is_stale:
        _write(double_verbs.OUT.parent, {double_verbs.OUT.name: verbs}, [double_verbs.OUT.name], [])
    return 0


def _content(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def _write(out: Path, files: dict[str, str], stale: list[str], surplus: list[str]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (out / name).write_text(files[name], encoding="utf-8")
    for name in surplus:
        (out / name).unlink()
    print(f"{len(files)} modules, {len(stale)} written, {len(surplus)} removed")


if __name__ == "__main__":
    sys.exit(main())
