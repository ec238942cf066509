"""librdkafka in C, in the system's version: often the oldest of the clients, since distributions
are years behind."""

from __future__ import annotations

from pathlib import Path

from .building import SOURCES, SYSTEM, Missing, Program, Toolchain, binary, program, run

FOLDER = SOURCES / "c"
STRICT = ("-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror")


def build(folder: Path) -> None:
    compiler, about = program("cc"), program("pkg-config")
    try:
        flags = run([about, "--cflags", "--libs", "rdkafka >= 2.0"], folder).split()
    except RuntimeError as reason:
        raise Missing("librdkafka 2.0 or newer and its headers are not installed (Debian: librdkafka-dev)") from reason
    for name, sources in (("walk", FOLDER), ("secure", FOLDER / "secure")):
        run([compiler, *STRICT, *sorted(sources.glob("*.c")), "-o", folder / name, *flags], folder)


TOOLCHAIN = Toolchain("C", FOLDER, build)
PROGRAMS = (Program("librdkafka", "librdkafka", SYSTEM, TOOLCHAIN, binary("walk")),)
