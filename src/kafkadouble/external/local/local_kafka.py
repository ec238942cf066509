"""A node of Apache Kafka on this machine, from an unpacked release or from a folder of jars."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from kafkadouble.common.errors import UsageError
from kafkadouble.messages.uuid import Uuid

from .local_settings import LocalSettings, as_properties

READY = b"Kafka Server started"
"""The log line of a node that serves."""

READY_S, END_S, LOOK_S = 180, 60, 0.02
SHOWN = 3000
"""So many characters of its log an error shows."""

JAVA_FLAGS = ("-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
LOGGING = """\
status=error
rootLogger.level=info
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%p %m (%c)%n%ex
"""


class LocalKafka:
    """A node with its data in `folder`. `home` is the folder of an unpacked release, or one with
    its jars."""

    def __init__(self, folder: Path, home: str, settings: LocalSettings) -> None:
        self._folder, self._java = folder, [*_java(), *_class_path(home)]
        self.settings = settings
        self._log = folder / "kafka.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._is_paused = False
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "log4j2.properties").write_text(LOGGING)
        (folder / "server.properties").write_text(as_properties(settings.properties))
        self._format()

    def _command(self, main: str, *words: str) -> list[str]:
        java, *path = self._java
        return [
            java,
            *JAVA_FLAGS,
            f"-Dlog4j2.configurationFile={self._folder / 'log4j2.properties'}",
            *path,
            main,
            *words,
        ]

    @property
    def _config(self) -> str:
        return str(self._folder / "server.properties")

    def _format(self) -> None:
        id = str(Uuid.random(os.urandom))
        command = self._command("kafka.tools.StorageTool", "format", "-t", id, "-c", self._config)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise UsageError(f"the format of the log directory failed:\n{done.stdout}{done.stderr}")

    @property
    def running(self) -> bool:
        """Whether the process runs; a paused one does, too."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Starts the node on its data, and waits until it serves. Does nothing if it runs."""
        if self.running:
            return
        with self._log.open("ab") as log:
            begin = log.tell()
            self._process = subprocess.Popen(
                self._command("kafka.Kafka", self._config), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        end = time.monotonic() + READY_S
        while READY not in self._log.read_bytes()[begin:]:
            if self._process.poll() is not None or time.monotonic() > end:
                raise UsageError(f"Kafka ended at its start:\n{self._log.read_text(errors='replace')[-SHOWN:]}")
            time.sleep(LOOK_S)

    def stop(self) -> None:
        """Shuts the node down in order."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the node without notice."""
        self._end(signal.SIGKILL)

    def _end(self, number: int) -> None:
        if self._process is None:
            return
        self.resume()
        with suppress(ProcessLookupError):
            self._process.send_signal(number)
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def pause(self) -> None:
        """Pauses the process. Raises UsageError if it does not run."""
        if not self.running or self._process is None:
            raise UsageError("broker 1 does not run: there is nothing to pause")
        self._process.send_signal(signal.SIGSTOP)
        self._is_paused = True

    def resume(self) -> None:
        """Ends the pause."""
        if self._is_paused and self.running and self._process is not None:
            self._process.send_signal(signal.SIGCONT)
        self._is_paused = False

    def __repr__(self) -> str:
        return f"Kafka in {self._folder}"


def _java() -> Sequence[str]:
    java = shutil.which("java")
    if java is None:
        raise UsageError("java is not on the PATH: install Java 17 or newer")
    return [java]


def _class_path(home: str) -> Sequence[str]:
    folder = Path(home, "libs") if Path(home, "libs").is_dir() else Path(home)
    if not home or not any(folder.glob("kafka_2*.jar")):
        raise UsageError(
            f"there is no Kafka in {home!r}: give --kafka-home or KAFKA_HOME the folder of an unpacked release "
            "(https://kafka.apache.org/downloads), or a folder with the jars that Maven copies, as in docs/pytest.md"
        )
    return ["-cp", f"{folder}/*"]
