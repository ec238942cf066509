"""Checks that pip finds a wheel of every dependency for every Python and platform that the project
names: `python -m checks.wheels`.

A dependency without a wheel needs a compiler on the machine of a user. pip resolves for the other
platform, and downloads no more than the metadata. Markers of dependencies are evaluated for this
machine, which pip offers no way to change.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]

EXTRAS = ("control", "columns", "security", "scenario")
"""The extras besides the base that are for every platform; Spark is for where Java is."""

PYTHON = "Programming Language :: Python :: "

GLIBC = (17, 24, 26, 27, 28)
"""Minor versions of the oldest glibc for which wheels are made; 2.28 is of 2018."""


def _linux(machine: str) -> tuple[str, ...]:
    return (f"manylinux2014_{machine}", *(f"manylinux_2_{minor}_{machine}" for minor in GLIBC))


PLATFORMS: dict[str, tuple[str, ...]] = {
    "Linux x86_64": _linux("x86_64"),
    "Linux aarch64": _linux("aarch64"),
    "macOS 13": ("macosx_13_0_arm64",),
    "macOS 14": ("macosx_14_0_arm64",),
    "macOS 15": ("macosx_15_0_arm64",),
    "Windows": ("win_amd64",),
}
"""The tags of wheels that each platform takes. pip adds the older ones of macOS itself."""


class Project(NamedTuple):
    """What pyproject.toml promises."""

    pythons: list[str]
    requirements: list[str]


class Missing(NamedTuple):
    """A combination for which pip finds no wheels; `reason` is the last line of pip."""

    python: str
    platform: str
    reason: str


def project(tables: dict[str, Any]) -> Project:
    """The Pythons that the classifiers name, and the requirements of the base and of `EXTRAS`."""
    of = tables["project"]
    versions = [each.removeprefix(PYTHON) for each in of["classifiers"] if each.startswith(PYTHON)]
    extras = [requirement for extra in EXTRAS for requirement in of["optional-dependencies"][extra]]
    return Project(versions, [*of["dependencies"], *extras])


def missing(promised: Project, platforms: dict[str, tuple[str, ...]]) -> Iterator[Missing]:
    """The combinations of Python and platform that lack a wheel."""
    combinations = [(python, platform) for python in promised.pythons for platform in platforms]
    with ThreadPoolExecutor(2) as pool:
        reasons = pool.map(lambda each: _resolve(promised.requirements, each[0], platforms[each[1]]), combinations)
        for (python, platform), reason in zip(combinations, reasons, strict=True):
            if reason:
                yield Missing(python, platform, reason)


def main() -> int:
    promised = project(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    found = list(missing(promised, PLATFORMS))
    for python, platform, reason in found:
        print(f"no wheels for Python {python} on {platform}: {reason}")
    print(f"{len(promised.requirements)} requirements for Python {', '.join(promised.pythons)}")
    print(f"on {', '.join(PLATFORMS)}: {len(found)} combinations lack a wheel")
    return 1 if found else 0


def _resolve(requirements: list[str], python: str, tags: tuple[str, ...]) -> str:
    """Why pip cannot resolve the requirements to wheels; empty if it can."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
    command += ["--only-binary", ":all:", "--python-version", python]
    command += [word for tag in tags for word in ("--platform", tag)]
    with TemporaryDirectory() as target:  # pip asks for one, and writes nothing into it
        done = subprocess.run([*command, "--target", target, *requirements], capture_output=True, text=True)
    lines = done.stderr.strip().splitlines() or [f"pip ended with {done.returncode}"]
    return lines[-1] if done.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
