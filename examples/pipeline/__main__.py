"""Runs the whole pipeline: `python -m examples.pipeline [--orders N] [--out DIRECTORY] [--master
MASTER]`.

It needs pyspark, Java 17 and confluent-kafka.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from kafkadouble import KafkaDouble

from . import cluster, orders, page, transactions

HERE = Path(__file__).resolve().parent
PATIENCE = 600
"""The limit for a Spark program, in seconds."""
CLOSING = 10_000_000
"""The number of the last order, which moves event time on, so that the last minute is over."""
CONF = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


class Story:
    """The events of the run, each with its time."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.out, self._master, self._begun = Path(options.out).absolute(), options.master, time.monotonic()
        self.events: list[tuple[float, str]] = []
        self.logs = self.out / "kafka"
        self.results = self.out / "results"

    def note(self, what: str) -> None:
        self.events.append((time.monotonic() - self._begun, what))
        print(f"{self.events[-1][0]:6.1f} s  {what}", flush=True)

    def submit(self, program: str, *arguments: object) -> subprocess.Popen[str]:
        """Starts a Spark program in a process group of its own."""
        given = [word for name, value in CONF.items() for word in ("--conf", f"{name}={value}")]
        command = [Path(sys.executable).with_name("spark-submit"), "--master", self._master, *given, HERE / program]
        environment = {"SPARK_LOCAL_IP": "127.0.0.1", **os.environ, "PYSPARK_PYTHON": sys.executable}
        return subprocess.Popen(
            list(map(str, (*command, *arguments))), env=environment, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def run(self, program: str, *arguments: object) -> tuple[int, str]:
        """Runs a Spark program to its end. Returns its exit code and its output."""
        process = self.submit(program, *arguments)
        try:
            output = process.communicate(timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            kill(process)
            raise
        return process.returncode, output


def kill(process: subprocess.Popen[str]) -> None:
    """Kills a program and all of its child processes with SIGKILL."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def stream_until_killed(story: Story, kafka: KafkaDouble, pace: int) -> None:
    """Runs the streaming program at this pace, and kills it when two batches are done."""
    done = story.results / "checkpoints" / "totals" / "commits" / "1"
    process = story.submit("stream.py", "--bootstrap", kafka.bootstrap_servers, "--out", story.results, "--pace", pace)
    end = time.monotonic() + PATIENCE
    while not done.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.1)
    kill(process)
    if not done.exists():
        raise SystemExit("the streaming program did nothing")


def stream(story: Story, kafka: KafkaDouble) -> list[str]:
    """Runs the streaming program on all orders. Returns the truncations that it found."""
    code, output = story.run("stream.py", "--bootstrap", kafka.bootstrap_servers, "--out", story.results)
    if code:
        raise SystemExit(f"the streaming program ended with {code}:\n{output}")
    return list(dict.fromkeys(line.partition(" ")[2] for line in output.splitlines() if line.startswith("TRUNCATED ")))


def audit(story: Story) -> int:
    code, output = story.run("audit.py", "--logs", story.logs, "--out", story.results, "--closing", CLOSING)
    if not (story.results / "audit.json").exists():
        raise SystemExit(f"the audit ended with {code}:\n{output}")
    return code


def transact(story: Story, kafka: KafkaDouble, kept: int, cancelled: int, share: int) -> None:
    """Writes `share` orders from each of these numbers on in transactions, and as many by a
    producer that takes over from a zombie."""
    each = transactions.write(kafka.bootstrap_servers, range(kept, kept + share), range(cancelled, cancelled + share))
    story.note(f"{each} transactions were committed, and {each} were aborted")
    transactions.take_over(kafka.bootstrap_servers, range(kept + share, kept + 2 * share))
    story.note("a producer took over from a zombie, which was fenced")


def play(story: Story, kafka: KafkaDouble, count: int) -> None:
    """The sequence of events. Orders are written, and the streaming program is killed. Leaders
    change. Some orders are in transactions. The last orders are lost after they were read, and
    written again. At the end a transaction is open. Orders from `count` on are in transactions that
    are not committed."""
    half, lost, share = count // 2, max(count // 20, 10), max(count // 40, 10)
    written = orders.write(kafka.bootstrap_servers, range(half // 2))
    cluster.change_leaders(kafka)
    story.note("every partition has another leader")
    written += orders.write(kafka.bootstrap_servers, range(half // 2, half))
    story.note(f"{written.total():,} records written: {dict(written)}")
    slow = transactions.begin(kafka.bootstrap_servers, "slow", range(half, half + share))
    stream_until_killed(story, kafka, max(half // 6, 1))
    story.note("the streaming program was killed in the middle of its third batch; a transaction was open all the time")
    transactions.commit(slow)
    half += share
    transact(story, kafka, half, count, share)
    orders.write(kafka.bootstrap_servers, range(half + 2 * share, count - lost))
    cluster.cut_off(kafka)
    story.note("brokers 2 and 3 are cut off: broker 1 alone is in sync")
    orders.write(kafka.bootstrap_servers, range(count - lost, count))
    stream(story, kafka)
    story.note("the streaming program went on from its checkpoint, and read all there was")
    cluster.lose(kafka)
    story.note(
        f"broker 1 was killed, broker 2 leads: the last {lost:,} orders, which it lacks, are lost; the results wait for broker 1"
    )
    orders.write(kafka.bootstrap_servers, [*reversed(range(count - lost, count)), CLOSING])
    cluster.heal(kafka)
    story.note("the shop sent them again; broker 1 is back, and follows")
    transactions.begin(kafka.bootstrap_servers, "undecided", range(count + share, count + 2 * share))
    story.note(f"a transaction of {share:,} orders is open, and stays so")
    for truncated in stream(story, kafka):
        story.note(f"the streaming program found out: {truncated}")
    story.note("and has read all there is now")


def main() -> int:
    parser = argparse.ArgumentParser(
        "python -m examples.pipeline", description="Orders, from a shop to an audited report."
    )
    parser.add_argument("--orders", type=int, default=12_000, help="how many (12,000)")
    parser.add_argument(
        "--out", default="pipeline-run", help="directory of all that is written; it is emptied first (pipeline-run)"
    )
    parser.add_argument("--master", default="local[2]", help="where Spark runs (local[2])")
    options = parser.parse_args()
    story = Story(options)
    shutil.rmtree(story.out, ignore_errors=True)
    story.results.mkdir(parents=True)
    kafka = cluster.started(story.logs)
    story.note(f"three brokers at {kafka.bootstrap_servers}")
    try:
        play(story, kafka, options.orders)
    finally:
        kafka.stop()
    code = audit(story)
    result = json.loads((story.results / "audit.json").read_text())
    for name, found in {**result["findings"], **result["allowed"]}.items():
        story.note(f"{name}: {found['count']:,}")
    page.write(story.out / "report.html", story.events, result)
    print(f"report: {story.out / 'report.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
