"""Measures what an armed fault rule costs a request that it does not apply to.

    python -m benchmarks.fault_rules [--requests 1000] [--starts 6] [--rounds 10] [--before TREE]
                                     [--json]

A client sends one request after another on one socket, and waits for each answer. Every round has a
turn of each case, and the order of the turns rotates. A turn begins with an empty history of
requests and without garbage, so that no turn pays for the one before it. Every server gets as many
requests; turns that fill up are not counted. All servers are started again after some rounds,
because equal processes differ by some percent. A ratio is that of a turn to another turn of the
same round: of the CPU time of the server, and of the time of the clock. The medians and the
quartiles of these ratios count. All processes run on one CPU where the system allows it.

    no rule                 a server that never had a rule
    the same again          a second such server: how far apart two equal servers are
    rules cleared           a server that had rules, after `clear_rules()`, beside "no rule"
    a rule for another API  OffsetCommit, of any client, beside "rules cleared" on the same server
    a rule that misses      the same API, another client id, beside "rules cleared"

With `--before`, the path of another checkout of this repository, a server of that tree takes turns
too, without rules.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from . import report, servers
from .latency import produce_request, receive, stay_on_one_cpu
from .start import request as api_versions_request

SERVER = """
import gc, sys
from kafkadouble import KafkaDouble
with KafkaDouble() as kafka:
    kafka.create_topic("bench")
    print(kafka.port, flush=True)
    for line in sys.stdin:
        kafka.clear_rules()
        kafka.requests.clear()
        gc.collect()
        if line.strip():
            api, *client = line.split()
            kafka.disconnect(api, times=None, **({"client_id": client[0]} if client else {}))
        print("ready", flush=True)
"""

APIS: Mapping[str, Callable[[], bytes]] = {"Produce": produce_request, "ApiVersions": api_versions_request}

BASE, CLEARED, BEFORE = "no rule", "rules cleared", "before"


class Case(NamedTuple):
    """A kind of turns: its server, the rule that it arms there (an API, and a client id if it has
    one), and the case that it is divided by."""

    server: str
    rule: str = ""
    beside: str = BASE


CASES: Mapping[str, Case] = {
    BASE: Case("without rules"),
    "the same again": Case("without rules again"),
    CLEARED: Case("with rules"),
    "a rule for another API": Case("with rules", "OffsetCommit", CLEARED),
    "a rule that misses": Case("with rules", "{api} another-client", CLEARED),
}


class Server:
    """A server in a process of its own, and one socket to it."""

    def __init__(self, process: subprocess.Popen[str], sock: socket.socket) -> None:
        self._process, self._sock = process, sock

    def arm(self, rule: str) -> None:
        """Replaces its rules by this one, or by none if it is empty."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(rule + "\n")
        self._process.stdin.flush()
        if self._process.stdout.readline() != "ready\n":
            raise RuntimeError("the server ended")

    def turn(self, request: bytes, requests: int) -> tuple[float, float]:
        """us of the server's CPU time, and of the clock, for each request."""
        cpu, wall = servers.cpu_seconds(self._process.pid), time.perf_counter()
        for _ in range(requests):
            self._sock.sendall(request)
            receive(self._sock, 0, framed=True)
        took = time.perf_counter() - wall
        return (servers.cpu_seconds(self._process.pid) - cpu) / requests * 1e6, took / requests * 1e6


@contextmanager
def running(tree: Path | None = None) -> Iterator[Server]:
    """A server of this tree, or of another one."""
    environment = os.environ | ({"PYTHONPATH": str(tree / "src")} if tree else {})
    command, pipe = [sys.executable, "-c", SERVER], subprocess.PIPE
    with subprocess.Popen(command, env=environment, text=True, stdin=pipe, stdout=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        port = int(process.stdout.readline())
        with socket.create_connection(("127.0.0.1", port)) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            yield Server(process, sock)
        process.stdin.close()


class Turns(NamedTuple):
    """Of one API and one case: a value for each round, in us a request."""

    cpu: list[float]
    wall: list[float]


Found = dict[str, dict[str, Turns]]
"""API -> case -> its turns."""


def with_fillers(cases: Mapping[str, Case]) -> dict[str, Case]:
    """The cases, and turns that are not counted, so that all servers have as many turns."""
    turns = Counter(case.server for case in cases.values())
    fillers = {
        f"not counted: {server}, {number}": Case(server)
        for server, count in turns.items()
        for number in range(max(turns.values()) - count)
    }
    return {**cases, **fillers}


def measure(requests: int, starts: int, rounds: int, before: Path | None) -> Found:
    cases = with_fillers({**CASES, BEFORE: Case(BEFORE)} if before else CASES)
    found = {api: {case: Turns([], []) for case in cases} for api in APIS}
    for _ in range(starts):
        with ExitStack() as stack:
            trees = {case.server: before if case.server == BEFORE else None for case in cases.values()}
            up = {name: stack.enter_context(running(tree)) for name, tree in trees.items()}
            play(up, cases, requests, 1, {api: {case: Turns([], []) for case in cases} for api in APIS})
            play(up, cases, requests, rounds, found)
    return found


def play(up: Mapping[str, Server], cases: Mapping[str, Case], requests: int, rounds: int, found: Found) -> None:
    """Adds so many rounds."""
    for number in range(rounds):
        for api, make in APIS.items():
            request = make()
            for name in _rotated(list(cases), number):
                server = up[cases[name].server]
                server.arm(cases[name].rule.format(api=api))
                cpu, wall = server.turn(request, requests)
                found[api][name].cpu.append(cpu)
                found[api][name].wall.append(wall)


def _rotated(cases: list[str], number: int) -> list[str]:
    """The cases in another order in each round, so that none always follows the same other one."""
    turned = cases[number % len(cases) :] + cases[: number % len(cases)]
    return turned if number % 2 else turned[::-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--starts", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--before", type=Path, metavar="TREE")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    stay_on_one_cpu()
    table = report.Table("fault_rules", "us a request: the server's CPU time, and the clock; medians")
    found = measure(arguments.requests, arguments.starts, arguments.rounds, arguments.before)
    for api, turns in found.items():
        previous = turns.get(BEFORE)
        for case, (_, _, beside) in CASES.items():
            own = turns[case]
            peers = {} if case == BASE else {beside: turns[beside]}
            if case == BASE and previous:
                peers[BEFORE] = previous
            table.add_runs(f"{api}, {case}, CPU", own.cpu, {name: peer.cpu for name, peer in peers.items()})
            table.add_runs(f"{api}, {case}, wall", own.wall, {name: peer.wall for name, peer in peers.items()})
    table.print(as_json=arguments.json)


if __name__ == "__main__":
    main()
