"""Makes `dist/kafkadouble` (on Windows `kafkadouble.exe`) with PyInstaller: Python, the program and
the libraries of its extras for `serve` in one file, for the platform on which this runs.

Rules. Most modules are imported by names, when they are needed, so all of the package are taken,
and every module of the libraries that `pyproject.toml` names.
"""

from __future__ import annotations

import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from re import match

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("control", "security", "scenario", "telemetry")
"""The extras that `kafkadouble serve` uses."""


def libraries() -> set[str]:
    """The names of the distributions that the program needs with these extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = [*project["dependencies"], *(each for extra in EXTRAS for each in project["optional-dependencies"][extra])]
    return {_canonical(found[0]) for each in needed if (found := match(r"[\w.-]+", each))}


def modules() -> list[str]:
    """The modules that those are imported by; names that begin with `_` are for their own use."""
    needed, known = libraries(), packages_distributions().items()
    own = (name for name, of in known if needed & {_canonical(each) for each in of})
    return sorted(name for name in own if name.isidentifier() and not name.startswith("_"))


def _canonical(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def main() -> None:
    import PyInstaller.__main__

    words = ["--noconfirm", "--onefile", "--name", "kafkadouble", "--copy-metadata", "kafkadouble"]
    words += ["--collect-submodules", "kafkadouble", "--collect-data", "kafkadouble"]
    for name in modules():
        words += ["--collect-all", name]
    words += ["--distpath", str(ROOT / "dist"), "--workpath", str(ROOT / "build"), "--specpath", str(ROOT / "build")]
    PyInstaller.__main__.run([*words, str(ROOT / "binary" / "launch.py")])


if __name__ == "__main__":
    main()
