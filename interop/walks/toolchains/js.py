"""The JavaScript programs, pinned by npm's lock files. kafkajs and @platformatic/kafka run on a
Node that npm fetches with them.

Rules. Confluent's client is a separate build, which holds only its packages. Its native part takes
minutes to compile, against the Node of this machine, and so runs on that Node only. Its program
stays in the sources, and finds the packages by NODE_MODULES.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from .building import CLASSIC, CONSUMER, SOURCES, Missing, Program, Toolchain, fetch, program, run

FOLDER = SOURCES / "js"
CONFLUENT = FOLDER / "confluent"

PACKAGES = ("package.json", "package-lock.json")
INSTALL = ("ci", "--no-audit", "--no-fund")
HEADERS = ("curl/curl.h", "openssl/ssl.h", "zlib.h", "zstd.h", "sasl/sasl.h", "lz4.h")
"""Headers that the system must have to compile librdkafka as Confluent's package links it."""


def build(folder: Path) -> None:
    npm = program("npm")
    for source in (*(FOLDER / name for name in PACKAGES), *FOLDER.glob("*.mjs")):
        shutil.copy(source, folder)
    fetch([npm, *INSTALL], folder)
    run([_node(folder), "--version"], folder)


def build_confluent(folder: Path) -> None:
    """The package's own prebuilt binary is not fetched; it is compiled and linked with the
    libraries of the system."""
    npm, compiler = program("npm"), program("cc")
    program("node")
    if lacking := [name for name in HEADERS if not _has(compiler, name)]:
        raise Missing(f"headers to compile Confluent's client with are not here: {', '.join(lacking)}")
    for name in PACKAGES:
        shutil.copy(CONFLUENT / name, folder)
    fetch([npm, *INSTALL], folder, CKJS_LINKING="dynamic")


def _has(compiler: str, header: str) -> bool:
    command = [compiler, "-E", "-x", "c", "-", "-o", "/dev/null"]
    done = subprocess.run(command, input=f"#include <{header}>\n", capture_output=True, text=True, check=False)
    return done.returncode == 0


def _node(folder: Path) -> str:
    return str(folder / "node_modules" / ".bin" / "node")


def confluent_command(file: str) -> Callable[[Path], list[str]]:
    """The command line of a program that uses Confluent's client."""
    return lambda folder: [
        program("env"),
        f"NODE_MODULES={folder / 'node_modules'}",
        program("node"),
        str(FOLDER / file),
    ]


TOOLCHAIN = Toolchain("JavaScript", FOLDER, build)
SLOW = Toolchain("JavaScript", CONFLUENT, build_confluent, slow=True)


def own_command(file: str, *words: str) -> Callable[[Path], list[str]]:
    """The command line of a program that runs on the Node of the build."""
    return lambda folder: [_node(folder), str(folder / file), *words]


NO_NULLS = {"null_header": "cannot encode a header without a value"}

OF_KAFKAJS = (
    "silently loses some of the records that are sent together, and other records with its idempotent producer; sent "
    "one by one and not idempotent, as here, a record may be written twice"
)

OF_PLATFORMATIC = (
    "sends records again together, and to one broker, if they were sent together to a broker that died: "
    "`#performSingleDestinationSend` of its Producer looks up the leader of the first record only. If the partitions "
    "now have two leaders, every attempt is refused with NOT_LEADER_OR_FOLLOWER, without end if the producer is "
    "idempotent, unless its `retries` are bounded. With a bound, as here, it reports an error for the records that were "
    "sent together; records that are sent one by one all arrive"
)
PARTED = "this error indicates that the broker is not the current leader"
"""Its error message then."""

PROGRAMS = (
    Program("kafkajs", "kafkajs", "2.2.4", TOOLCHAIN, own_command("kafkajs.mjs"), NO_NULLS, at_fail_over=OF_KAFKAJS),
    Program(
        "platformatic-kafka",
        "@platformatic/kafka",
        "2.12.1",
        TOOLCHAIN,
        own_command("platformatic.mjs"),
        at_fail_over=OF_PLATFORMATIC,
        gives_up_with=PARTED,
        group_protocols=(CLASSIC, CONSUMER),
    ),
    Program(
        "confluent-kafka-javascript",
        "@confluentinc/kafka-javascript",
        "1.10.1",
        SLOW,
        confluent_command("confluent.mjs"),
        NO_NULLS,
        group_protocols=(CLASSIC, CONSUMER),
    ),
)
