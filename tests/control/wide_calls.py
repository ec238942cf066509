"""Calls every verb as widely as it can be called, with state behind it, and counts the lines that
are executed.

    python -m tests.control.wide_calls SIZE

They are those of the thread that calls and of the brokers' loop. Timers and tasks of the loop are
not counted: they go on all the time. It is a program of its own because what else runs in a
process executes lines, too.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple
from unittest import mock

from kafkadouble import KafkaDouble
from kafkadouble.common.errors import KafkaError, UsageError
from kafkadouble.control.calls import verb_calls as calls
from kafkadouble.control.http.problems import ControlProblem
from kafkadouble.messages import headers
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.verbs.registry import VERBS
from tests.support.executed_lines import executed_lines

ENDING = (
    "clear_requests",
    "clear_rules",
    "delete_acls",
    "delete_group",
    "remove_user",
    "truncate",
    "delete_topic",
    "restore",
    "down",
    "up",
    "isolate_broker",
    "join_broker",
    "pause_broker",
    "resume_broker",
    "kill_broker",
    "remove_broker",
    "stop_broker",
    "reset",
)
"""Verbs that remove state come last, in this order."""

TOPIC, GROUP = "wide", "group"

GIVEN: Mapping[str, Callable[[int], Any]] = {
    "acls": lambda size: [f"User:n{at} allow READ topic:n{at}" for at in range(size)],
    "apis": lambda size: [*["ApiVersions"] * size],
    "api": lambda size: "ApiVersions",
    "assignment": lambda size: {f"n{at}": [[TOPIC, at]] for at in range(size)},
    "body": lambda size: {"apiKeys": [{"apiKey": at, "minVersion": 0, "maxVersion": 1} for at in range(size)]},
    "broker": lambda size: 1,
    "certificate": lambda size: "valid",
    "config": lambda size: {f"n{at}": "1" for at in range(size)},
    "error": lambda size: "UNKNOWN_SERVER_ERROR",
    "factor": lambda size: 1,
    "group": lambda size: GROUP,
    "headers": lambda size: [[f"n{at}", "v"] for at in range(size)],
    "ignore": lambda size: [f"n{at}" for at in range(size)],
    "isr": lambda size: [1],
    "name": lambda size: TOPIC,
    "offset": lambda size: 0,
    "offsets": lambda size: {TOPIC: {str(at): 1 for at in range(size)}},
    "partition": lambda size: 0,
    "path": lambda size: "error_code",
    "records": lambda size: [{"value": f"n{at}"} for at in range(size)],
    "replicas": lambda size: list(range(1, size)),
    "rule": lambda size: 1,
    "seconds": lambda size: 0,
    "snapshot": lambda size: "wide",
    "state": lambda size: "Empty",
    "timeout": lambda size: 0.2,
    "to": lambda size: 0,
    "topic": lambda size: TOPIC,
    "transactional_id": lambda size: "n0",
    "value": lambda size: None,
}
"""What stands for a parameter, by its name; another one is a text, or the least that it may be."""


class Cost(NamedTuple):
    """What a call came to, and its lines."""

    outcome: str
    lines: int


class Lines:
    """Counts the lines of calls: those of this thread, and of the brokers' loop."""

    def __init__(self) -> None:
        self._on_loop = 0

    def of(self, kafka: KafkaDouble, call: Callable[[], str]) -> Cost:
        outcomes: list[str] = []
        self._on_loop = 0
        here = executed_lines(lambda: outcomes.append(call()))
        kafka._double_host.known().thread.call(int)  # the step of the answer is over
        return Cost(outcomes[0], here + self._on_loop)

    def count(self, handle: asyncio.Handle) -> None:
        """Runs a step of a loop."""
        is_call = not isinstance(handle, asyncio.TimerHandle) and hasattr(handle._callback, "__code__")  # type: ignore[attr-defined]
        if is_call and threading.current_thread() is not threading.main_thread():
            lines = executed_lines(lambda: RUN(handle))
            self._on_loop += lines
        else:
            RUN(handle)


RUN = asyncio.Handle._run


def parameters(verb: Mapping[str, Any], size: int) -> dict[str, Any]:
    """The parameters that are required, and those that can be wide."""
    found = {}
    for each in verb["parameters"]:
        if each["required"] or each["name"] in ("apis", "config", "headers", "ignore", "timeout"):
            found[each["name"]] = value(each["name"], each["schema"], size)
    return found


def value(name: str, schema: Mapping[str, Any], size: int) -> Any:
    if name in GIVEN:
        return GIVEN[name](size)
    return schema.get("minimum", 0) if schema.get("type") in ("integer", "number") else "n" * size


def with_state(kafka: KafkaDouble, size: int) -> None:
    """As many partitions, topics, offsets, ACLs, rules and requests."""
    kafka.create_topic(TOPIC, partitions=size)
    for at in range(size):
        kafka.create_topic(f"n{at}")
        kafka.fail("Fetch", "UNKNOWN_SERVER_ERROR", client_id=f"n{at}")
    kafka.commit_offsets(GROUP, {(TOPIC, at): 0 for at in range(size)})
    kafka.create_acls(GIVEN["acls"](size))
    kafka.produce_all(TOPIC, [{"value": f"n{at}", "partition": at} for at in range(size)])
    kafka.snapshot("wide")
    host, _, port = kafka.bootstrap_servers.rpartition(":")
    frame = b"".join(headers.write_request(ApiVersionsRequest(), 1, "wide", 0))
    with socket.create_connection((host, int(port))) as sock:
        for _ in range(size):
            sock.sendall(frame)
            answer = sock.recv(4096)
            assert answer


def costs(size: int) -> dict[str, Cost]:
    """Of every verb."""
    verbs = {each["name"]: each for each in calls.described()}
    lines, found = Lines(), dict[str, Cost]()
    with KafkaDouble(seed=1, stepped=True, acls=[], super_users=["User:ANONYMOUS"]) as kafka:
        with_state(kafka, size)
        with mock.patch.object(asyncio.Handle, "_run", lambda handle: lines.count(handle)):
            for name in [*(name for name in verbs if name not in ENDING), *ENDING]:
                call = partial(called, kafka, name, parameters(verbs[name], size))
                found[name] = lines.of(kafka, call)
    return found


def called(kafka: KafkaDouble, name: str, given: Mapping[str, Any]) -> str:
    try:
        json.dumps(VERBS[name].call_json(kafka, given))
    except (KafkaError, UsageError, ControlProblem, AssertionError, TimeoutError) as problem:
        return f"{type(problem).__name__}: {problem}"[:80]
    return "done"


if __name__ == "__main__":
    print(json.dumps(costs(int(sys.argv[1]))))
