"""Random requests about brokers and controllers, at the controller listener: none breaks a handler,
and the replayed log equals the image."""

from __future__ import annotations

import sys
from random import Random
from typing import Any

import pytest

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server import dispatch
from kafkadouble.server.apis.served import CONTROLLER_SERVED
from tests.server.controller.broker_life import features
from tests.server.controller.small_clusters import directory
from tests.server.handlers.controller_listener import Controllers
from tests.server.handlers.random_requests import Maker
from tests.server.images import image_of_log

APIS = (
    *("BrokerHeartbeat", "BrokerHeartbeat", "BrokerRegistration", "BrokerRegistration", "AllocateProducerIds"),
    *("ControllerRegistration", "CreateTopics", "DescribeCluster", "UnregisterBroker", "UnregisterController"),
)
"""Requests by weight: some are sent more often than others."""

REQUESTS = 1500
OWN = 1


class Strangers(Maker):
    """Requests of brokers and controllers that do not exist. Most of them pass the first checks."""

    def __init__(self, random: Random, cluster: Controllers) -> None:
        super().__init__(random, cluster)
        self.broker_id = OWN

    def value(self, cls: Any, name: str, kind: str, version: int, null: bool, outer: Any) -> Any:
        choice = self.random.choice
        if kind == "uint16":
            return choice((0, 9, 9, 9, 65535))
        if name == "broker_id":
            self.broker_id = choice((2, 3) if "Unregister" in cls.__name__ else (-1, OWN, 2, 2, 3, 3, 4, 2**31 - 1))
            return self.broker_id
        meant = self.meant()
        if (cls.__name__, name) == ("BrokerRegistrationRequest", "features"):
            meant["features"] = features()
        if name in meant and isinstance(meant[name], list) == kind.startswith("[]") and self.random.random() < 0.8:
            return meant[name]
        return super().value(cls, name, kind, version, null, outer)

    def meant(self) -> dict[str, Any]:
        """Values that are mostly true for this broker."""
        choice, image = self.random.choice, self.cluster.image
        broker = image.brokers.get(self.broker_id)
        return {
            "cluster_id": self.cluster.node.cluster_id,
            "incarnation_id": Uuid(choice((b"a", b"b")) * 16),
            "log_dirs": [directory(self.broker_id & 7, choice((0, 1)))],
            "current_metadata_offset": choice((0, image.end.offset - 1, 2**62)),
            "is_migrating_zk_broker": False,
            "broker_epoch": -1 if broker is None else broker.epoch,
            "offline_log_dirs": [] if broker is None else list(broker.log_dirs[: choice((0, 0, 0, 1))]),
        }


@pytest.mark.parametrize("seed", range(3))
def test_random_requests_of_brokers_break_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def unforeseen(request: Any) -> None:
        raise AssertionError(f"seed {seed}: {request!r} broke its handler") from sys.exception()

    monkeypatch.setattr(dispatch, "unforeseen", unforeseen)
    node, random = Controllers(), Random(seed)
    maker = Strangers(random, node)
    served = {api.name: api for api in CONTROLLER_SERVED.values()}
    codes = set()
    for _ in range(REQUESTS):
        api = served[random.choice(APIS)]
        version = random.randint(api.lowest, api.highest)
        request = maker.struct(api.api.request, version)
        codes.add((api.name, getattr(node.submit(request, version), "error_code", 0)))
        if random.random() < 0.1:
            node.tick(random.choice((100, 1000, 5000, 20_000)))
    assert image_of_log(node.node.controller.log.batches(0)) == node.image
    assert {name for name, code in codes if code == 0} == set(APIS)
    assert len(codes) > 20, codes
