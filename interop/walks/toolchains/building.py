"""The shared parts of all toolchains: the row of a program, and a build that is made once and kept
in the cache.

Rules. A build is in the cache of `interop/local/jars.py`, under `programs-LANGUAGE-HASH`, with the
hash of the sources: changed sources are another build. It is made from nothing in its final place,
under a lock, since several test processes may need it at once; the file `complete` marks it as
complete. If something is missing on this machine, `Missing` says what, and the tests are skipped
with that reason; sources that do not compile are an error.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from interop.local.jars import Missing, cache, program

__all__ = [
    "ALL",
    "CLASSIC",
    "CONSUMER",
    "NOTHING",
    "SOURCES",
    "Missing",
    "Program",
    "Toolchain",
    "binary",
    "built",
    "everything",
    "fetch",
    "fingerprint",
    "program",
    "run",
]

SOURCES = Path(__file__).resolve().parents[2] / "programs"
"""The programs, a folder per language."""

ALL = "KAFKADOUBLE_INTEROP_ALL"
"""If this environment variable is 1, builds that take minutes are made, too."""

SYSTEM = ""
"""The version of a client that the system provides, whatever version that is."""

CLASSIC, CONSUMER = "classic", "consumer"
"""The protocols of a group (KIP-848)."""

NOTHING: Mapping[str, str] = MappingProxyType({})
GENERATED = frozenset({"__pycache__", "node_modules", "target"})


class Toolchain(NamedTuple):
    """The build of the programs of one folder. `build` fills an empty folder from `sources`, or
    raises Missing.

    `slow` marks a build of several minutes, which is made only if all builds are requested.
    """

    language: str
    sources: Path
    build: Callable[[Path], None]
    slow: bool = False


class Program(NamedTuple):
    """One client's program.

    `name` is the `client` of its object, unique. `version` is pinned, and is the `version` of its
    object, unless it is SYSTEM. `command` gives the words before VERB BOOTSTRAP TOPIC GROUP for the
    folder of the build. `not_offered` are behaviours that the client lacks, each with the reason.
    `blind_to` is the reason why it cannot read a topic with null header values, or empty.
    `at_fail_over` says what its users must expect when a leader fails: duplicate records, or
    records that it gives up on; empty if neither. `gives_up_with` are words of the error, if it
    gives up on some each time that brokers are killed: a version that does not give up fails until
    its row is changed. `group_protocols` are the values of `group.protocol` that it offers; it
    reads the one of a run in the environment variable GROUP_PROTOCOL.
    """

    name: str
    package: str
    version: str
    toolchain: Toolchain
    command: Callable[[Path], Sequence[str]]
    not_offered: Mapping[str, str] = NOTHING
    verbs: frozenset[str] = frozenset({"walk", "write", "read", "endure"})
    blind_to: str = ""
    at_fail_over: str = ""
    gives_up_with: str = ""
    group_protocols: tuple[str, ...] = (CLASSIC,)

    @property
    def language(self) -> str:
        return self.toolchain.language

    @property
    def writes_null_headers(self) -> bool:
        return "null_header" not in self.not_offered


def binary(name: str, *words: str) -> Callable[[Path], list[str]]:
    """The command of a program that the build has made."""
    return lambda folder: [str(folder / name), *words]


def everything() -> bool:
    """Whether all builds are requested, however long they take."""
    return os.environ.get(ALL) == "1"


def built(toolchain: Toolchain) -> Path:
    """The folder of the build, which is built if it does not exist. Raises Missing."""
    folder = cache() / f"programs-{toolchain.language.lower()}-{fingerprint(toolchain.sources)}"
    if (folder / "complete").exists():
        return folder
    if toolchain.slow and not everything():
        raise Missing(f"{toolchain.language}: compiles for minutes, and so only with {ALL}=1 (make interop-all)")
    with _locked(folder.with_suffix(".lock")):
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            toolchain.build(folder)
            (folder / "complete").touch()
    return folder


def fingerprint(sources: Path) -> str:
    """A short hash of every file in a folder, except for files that tools leave there."""
    found = hashlib.sha256()
    for path in sorted(sources.rglob("*")):
        if path.is_file() and not GENERATED & set(path.relative_to(sources).parts):
            found.update(f"{path.relative_to(sources).as_posix()}\0{path.stat().st_size}\0".encode())
            found.update(path.read_bytes())
    return found.hexdigest()[:12]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    # Not on every system; a machine without it can still read the table.
    import fcntl

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(command: Sequence[str | Path], folder: Path, **environment: str) -> str:
    """The standard output of a tool. Raises RuntimeError with the end of its output if it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(map(str, command))} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}"
        )
    return done.stdout


def fetch(command: Sequence[str | Path], folder: Path, **environment: str) -> str:
    """The standard output of a tool that fetches packages. Raises Missing if they are
    unavailable."""
    try:
        return run(command, folder, **environment)
    except RuntimeError as reason:
        raise Missing(f"packages could not be fetched: {str(reason)[-600:]}") from reason
