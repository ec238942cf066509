"""Changes of the metadata that several controllers decide on."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.server.metadata.image import BROKER, Image
from kafkadouble.server.node import Node
from tests.server.config_requests import incremental
from tests.server.controllers import Controllers


def alter(name: str, value: str) -> IncrementalAlterConfigsRequest:
    return incremental((BROKER, "", {name: value}))


def code(answer: Any) -> int:
    error_code: int = answer.responses[0].error_code
    return error_code


def contents(image: Image) -> Any:
    return image._replace(end=None)  # type: ignore[arg-type]


SMALL = {
    "metadata.log.max.record.bytes.between.snapshots": 2000,
    "internal.metadata.log.segment.bytes": 1000,
    "metadata.max.retention.bytes": 4000,
    "controller.quorum.fetch.snapshot.max.bytes": 37,
    "controller.quorum.fetch.max.bytes": 100,
}


def busy(controllers: Controllers, leader: Node, rounds: int) -> None:
    for number in range(rounds):
        assert code(controllers.ask(leader, alter("log.retention.ms", str(1000 + number)), 1)) == 0
        controllers.step()
