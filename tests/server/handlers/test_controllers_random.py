"""Random requests to every API of a controller listener, some inside of Envelopes: none breaks a
handler or stops the node, and afterwards the node leads and decides as before."""

from __future__ import annotations

import logging
from itertools import count
from typing import Any

import pytest

from kafkadouble.messages import error_codes, headers, registry
from kafkadouble.messages.cut import cut_texts
from kafkadouble.messages.generated.default_principal_data import DefaultPrincipalData
from kafkadouble.messages.generated.envelope import EnvelopeRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.apis.served import CONTROLLER_SERVED, FORWARDED
from kafkadouble.server.requests.request import Peer, Request
from tests.hostile.requests import Requests
from tests.server.harness import SEED, Harness
from tests.server.topic_requests import creating
from tests.support.listeners import CONTROLLER

REQUESTS = 3000
PRINCIPAL = bytes(2) + DefaultPrincipalData(type="User", name="alice").encode(0)


class Evil(Harness):
    """A client that sends any request to controllers."""

    def __init__(self, seed: int) -> None:
        super().__init__({"process.roles": "broker,controller"}, seed=seed)
        self.requests = Requests(seed, self.node)
        self.kinds = [
            (served, version)
            for served in CONTROLLER_SERVED.values()
            for version in range(served.lowest, served.highest + 1)
        ]
        self.to_controllers = Peer(9, "127.0.0.1", 50_009, CONTROLLER)
        self.ids = count(1)

    def send(self) -> None:
        dice = self.requests.dice
        served, version = dice.choice(self.kinds)
        message = self.requests.message(served.request, version)
        if served.api.key in FORWARDED and dice.random() < 0.5:
            message, version = self.wrapped(message, version), 0
        self.send_one(message, version)

    def wrapped(self, message: Message, version: int) -> EnvelopeRequest:
        dice = self.requests.dice
        data = bytearray(b"".join(headers.write_request(message, 5, "evil", version))[4:])
        if dice.random() < 0.3:
            data[dice.randrange(len(data))] = dice.randrange(256)
        return EnvelopeRequest(request_data=bytes(data), request_principal=PRINCIPAL, client_host_address=bytes(4))

    def send_one(self, message: Message, version: int) -> list[Any]:
        """The answer goes into the list, after it could be written."""
        key, id = message.api_key or 0, next(self.ids)
        body = registry.api(key).request.decode(message.encode(version), version)
        request = Request(key, version, id, "evil", body, self.to_controllers, received=self.now, size=0)
        answers: list[Any] = []

        def answered(answer: Any) -> None:
            if isinstance(answer, Message):
                cut_texts(answer)  # as a connection does with a text that is too long
                headers.write_response(answer, id, key, version)
            answers.append(answer)

        self.node.submit(request, answered, self.now)
        return answers


@pytest.mark.parametrize("seed", [SEED, SEED + 1])
def test_random_requests_to_controllers_are_answered(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    evil = Evil(seed)
    with caplog.at_level(logging.ERROR, "kafkadouble"):
        for at in range(REQUESTS):
            evil.send()
            if not at % 20:
                evil.tick(evil.requests.dice.choice((1, 100, 3000)))
    assert [record.getMessage() for record in caplog.records] == []
    assert evil.node.halted is None
    for _ in range(100):
        evil.tick(1000)
    answers = evil.send_one(creating("well"), 7)
    evil.tick(1000)
    [response] = answers
    assert response.topics[0].error_code in (0, error_codes.INVALID_REPLICATION_FACTOR), response
