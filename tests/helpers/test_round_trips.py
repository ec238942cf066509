"""The table of which the tests of the libraries are made: it is complete, and plays over HTTP."""

from __future__ import annotations

import socket
from base64 import b64encode
from collections.abc import Mapping
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

from helpers.generate.model import OTHERS, verbs
from helpers.generate.node_round_trips import FIELDS, PAIRS
from helpers.generate.round_trips import ARGUMENTS, NOT_PLAYED, SCENARIO, SECTIONS
from helpers.generate.steps import ByPartition, Call, Ref, Send
from tests.control.http import post
from tests.front.hello import received
from tests.support.serving import serving

STEPS = list(chain(*SECTIONS.values()))

GIVEN_BACK = {
    "arm": ("rule",),
    "assert_not_seen": ("since",),
    "assert_seen": ("since",),
    "commit_offsets": ("offsets",),
    "create_acls": ("acls",),
    "create_topic": ("config",),
    "delete_acls": ("acls",),
    "drop_snapshot": ("name",),
    "expire_member": ("member_id",),
    "lint": ("ignore",),
    "move_leader": ("to",),
    "produce": ("value", "key", "headers", "partition", "timestamp"),
    "produce_all": ("records",),
    "reassign": ("replicas",),
    "records": ("since",),
    "remove_broker": ("broker",),
    "remove_rule": ("rule",),
    "requests": ("since",),
    "respond": ("body",),
    "restore": ("snapshot",),
    "set_assignment": ("assignment",),
    "wait_for_group": ("state",),
    "wait_for_isr": ("isr",),
    "wait_for_leader": ("epoch",),
    "wait_for_records": ("since",),
    "wait_for_request": ("since",),
    "wait_for_rule": ("rule",),
    "wait_for_transaction": ("transactional_id", "state"),
}
"""Verb -> the parameters that take what another verb returned."""


def test_every_verb_with_a_result_is_called() -> None:
    called = {each.verb for each in STEPS if isinstance(each, Call)}
    assert {verb.name for verb in verbs() if verb.result} - called == {*NOT_PLAYED}


def test_every_parameter_that_takes_a_result_gets_one() -> None:
    given = {
        (each.verb, name)
        for each in STEPS
        if isinstance(each, Call)
        for name, value in each.given.items()
        if "Ref(" in repr(value)
    }
    assert {(verb, name) for verb, names in GIVEN_BACK.items() for name in names} <= given


def test_no_parameter_that_takes_a_result_is_left_out() -> None:
    takes = {(verb.name, one.name) for verb in verbs() for one in (*verb.required, *verb.optional) if one.other}
    assert takes <= {(verb, name) for verb, names in GIVEN_BACK.items() for name in names}
    assert {each.rpartition(".")[2] for each in OTHERS} == {name for _, name in takes}


def test_the_steps_play_over_http(tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(SCENARIO)
    words = ("--control-port", "0", "--data-dir", str(tmp_path / "data"), "--scenario", str(scenario), *ARGUMENTS)
    with serving(*words) as served, ExitStack() as held:
        player = _Player(served.control_url(), served.startup["bootstrap.servers"].split(",")[0], held)
        for step in STEPS:
            player.play(step)


class _Player:
    """Plays steps at the control plane of a double, and keeps results."""

    def __init__(self, url: str, address: str, held: ExitStack) -> None:
        self._url, self._held = url, held
        self._kept: dict[str, Any] = {}
        host, _, port = address.rpartition(":")
        self._address = host, int(port)

    def play(self, step: Any) -> None:
        if isinstance(step, Call):
            arguments = {name: self._value(value) for name, value in step.given.items()}
            self._kept[step.keep] = post(self._url, step.verb, **arguments)
        elif isinstance(step, Send):
            self._send(step)
        else:
            expected = self._value(step.expected)
            assert _text(self._value(step.actual)) == _text(expected), step

    def _send(self, step: Send) -> None:
        if not step.answered:
            self._held.enter_context(socket.create_connection(self._address)).sendall(bytes.fromhex(step.frame))
            return
        while True:
            with socket.create_connection(self._address) as sock:
                sock.sendall(bytes.fromhex(step.frame))
                answer = received(sock, int.from_bytes(received(sock, 4), "big"))
            if not step.error_at or answer[step.error_at : step.error_at + 2] == b"\0\0":
                return

    def _value(self, value: Any) -> Any:
        if isinstance(value, Ref):
            found = self._kept[value.name]
            pairs: Mapping[str, int] = {}
            for field, index, key in value.steps():
                place = pairs.get(field, FIELDS.get(field, field)) if field else key or index
                pairs = PAIRS.get(field, {}) if field else pairs
                found = found[int(place)] if isinstance(found, list) else found[place]
            return found
        if isinstance(value, ByPartition):
            return {value.topic: {str(value.partition): self._value(value.value)}}
        if isinstance(value, Mapping):
            return {self._value(name): self._value(each) for name, each in value.items()}
        if isinstance(value, bytes):
            return {"base64": b64encode(value).decode()}
        return [*map(self._value, value)] if isinstance(value, list) else value


def _text(value: Any) -> str:
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
