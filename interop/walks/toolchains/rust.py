"""The Rust programs: rust-rdkafka and rskafka, pinned by Cargo.lock. Only the programs of the build
are kept, since the rest is almost a gigabyte."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from .building import NOTHING, SOURCES, Missing, Program, Toolchain, fetch, program, run

FOLDER = SOURCES / "rust"
BINARIES = ("rdkafka", "rskafka", "secure")


def build(folder: Path) -> None:
    cargo = program("cargo")
    for needed in ("cc", "c++", "make", "pkg-config"):
        program(needed)  # for the librdkafka in its crate, linked with the system's OpenSSL
    try:
        run(["pkg-config", "--exists", "openssl"], folder)
    except RuntimeError as reason:
        raise Missing("the headers of OpenSSL are not installed (Debian: libssl-dev)") from reason
    target = folder / "target"
    fetch([cargo, "fetch", "--locked"], FOLDER)
    run([cargo, "build", "--release", "--locked", "--offline", "--target-dir", target], FOLDER)
    for name in BINARIES:
        shutil.copy(target / "release" / name, folder)
    shutil.rmtree(target)


TOOLCHAIN = Toolchain("Rust", FOLDER, build, slow=True)

NO_GROUPS = "has no consumer groups, by design"
OF_RSKAFKA = {
    "null_header": "its headers are a map of names to bytes",
    **dict.fromkeys(("group", "second_member", "commit", "resume"), NO_GROUPS),
    "transactions": "has no transactions",
}


def _row(
    name: str,
    package: str,
    version: str,
    not_offered: Mapping[str, str] = NOTHING,
    blind_to: str = "",
    at_fail_over: str = "",
) -> Program:
    def command(folder: Path) -> list[str]:
        return [str(folder / package)]

    return Program(
        name, "Rust", package, version, TOOLCHAIN, command, not_offered, blind_to=blind_to, at_fail_over=at_fail_over
    )


PROGRAMS = (
    _row("rust-rdkafka", "rdkafka", "0.39.0"),
    _row(
        "rskafka",
        "rskafka",
        "0.6.0",
        OF_RSKAFKA,
        "fails to decode a header without a value",
        "has no idempotent producer, so a record may be written twice",
    ),
)
