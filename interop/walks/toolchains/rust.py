"""The Rust programs: rust-rdkafka and rskafka, pinned by Cargo.lock. Only the programs of the build
are kept, since the rest is almost a gigabyte."""

from __future__ import annotations

import shutil
from pathlib import Path

from .building import SOURCES, Missing, Program, Toolchain, binary, fetch, program, run

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


PROGRAMS = (
    Program("rust-rdkafka", "rdkafka", "0.39.0", TOOLCHAIN, binary("rdkafka")),
    Program(
        "rskafka",
        "rskafka",
        "0.6.0",
        TOOLCHAIN,
        binary("rskafka"),
        OF_RSKAFKA,
        blind_to="fails to decode a header without a value",
        at_fail_over="has no idempotent producer, so a record may be written twice",
    ),
)
