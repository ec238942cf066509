"""The arguments of a KafkaDouble that a real Kafka takes; what it does not take is a skip."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from kafkadouble.common.on_first_use import OnFirstUse

from . import options

if TYPE_CHECKING:
    from kafkadouble.external.local import local_settings
else:  # a start waits for none of them
    local_settings = OnFirstUse("kafkadouble.external.local.local_settings")


LOCAL = "local"


def skip_of_double(config: pytest.Config, what: str, **given: Any) -> NoReturn:
    """Skips a test of what a real Kafka has not. The report has the line of the test."""
    target = options.value(config, "kafka_broker")
    reason = f"{what}: only a double has that, and this run is for --kafka-broker={target}"
    raise pytest.skip.Exception(reason, _use_item_location=True)


TRUE_OF_ANY = (("brokers", 1), ("stepped", False), ("data_dir", None), ("data_dir", False))
"""Arguments that say what is so in a real Kafka, too."""


def of_real_kafka(config: pytest.Config, target: str, given: Mapping[str, Any], what: str = "") -> dict[str, Any]:
    """The arguments of KafkaDouble that change a real Kafka; a test with one that it cannot take is
    skipped. `what` was called with them, if it is not the marker."""
    found = {name: each for name, each in given.items() if (name, each) not in TRUE_OF_ANY}
    taken: tuple[str, ...] = ()
    if target == LOCAL:
        taken = local_settings.TAKEN
    if other := ", ".join(sorted(set(found) - set(taken))):
        skip_of_double(config, f"{what}({other})" if what else other)
    return found
