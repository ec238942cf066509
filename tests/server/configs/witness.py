"""Runs Apache Kafka's own classes as a witness: `KafkaWitness.java` beside this file, or another
Java program, queried over pipes.

Needs java and the jars of Kafka 4.4.0, in `server-4.4.0` under KAFKADOUBLE_CACHE (default:
~/.cache/kafkadouble).
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

JARS = Path(os.environ.get("KAFKADOUBLE_CACHE") or Path.home() / ".cache" / "kafkadouble") / "server-4.4.0"
KAFKA_WITNESS = Path(__file__).with_name("KafkaWitness.java")
BASE = Path(__file__).with_name("JsonWitness.java")
"""The common base class of all witnesses."""

QUICK = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


def missing() -> str:
    """What the witness lacks on this machine; empty if nothing."""
    if shutil.which("java") is None:
        return "there is no java"
    return "" if any(JARS.glob("kafka_2.13-*.jar")) else f"{JARS} holds no jars of Kafka"


@cache
def _compiled_base() -> tempfile.TemporaryDirectory[str]:
    """The folder with the class of BASE, compiled once; it is deleted when the process ends."""
    folder = tempfile.TemporaryDirectory()
    compiler = ["java", *QUICK, "-m", "jdk.compiler/com.sun.tools.javac.Main"]
    jars = ":".join(map(str, JARS.glob("jackson-*.jar")))
    subprocess.run([*compiler, "-cp", jars, "-d", folder.name, str(BASE)], check=True, capture_output=True)
    return folder


class Witness:
    """One running witness, the Java program in `source`. The caller closes it."""

    def __init__(self, source: Path = KAFKA_WITNESS) -> None:
        command = ["java", *QUICK, "-cp", f"{_compiled_base().name}:{JARS}/*", str(source)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
        )

    def ask(self, **question: Any) -> Any:
        """One answer: what Kafka says, or {"error": its message, "class": its exception}."""
        return self.ask_all([question])[0]

    def ask_all(self, questions: Iterable[dict[str, Any]], *, in_flight: int = 40) -> list[Any]:
        """The answers to many questions, of which a few are in flight at a time: so few that they
        and their answers fit into a pipe, or one."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        waiting, answers = list(questions), []
        while waiting:
            some, waiting = waiting[:in_flight], waiting[in_flight:]
            self._process.stdin.writelines(json.dumps(question) + "\n" for question in some)
            self._process.stdin.flush()
            answers += [json.loads(self._process.stdout.readline()) for _ in some]
        return answers

    def close(self) -> None:
        """Ends the witness process."""
        self._process.communicate(timeout=30)


def running(source: Path) -> Iterator[Witness]:
    """The body of a fixture: the witness, or a loud skip."""
    lack = missing()
    if lack:
        pytest.skip(f"NOT COMPARED WITH KAFKA: {lack}. What is committed was last compared with Kafka 4.4.0.")
    witness = Witness(source)
    yield witness
    witness.close()
