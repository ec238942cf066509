"""Changes the fields of a message at random."""

from random import Random
from typing import Any

from kafkadouble.messages.message import Struct, field_names
from kafkadouble.messages.uuid import Uuid
from tests.server.raft.quorum import CLUSTER, directory

NUMBERS = (-(2**31), -2, -1, 0, 1, 2, 3, 4, 7, 500, 2**31 - 2, 2**31 - 1)


def spoilt(struct: Struct, random: Random) -> None:
    """Changes some fields to what they can also hold."""
    for name in field_names(type(struct)):
        value = getattr(struct, name)
        if isinstance(value, list | tuple):
            for each in value:
                if isinstance(each, Struct):
                    spoilt(each, random)
            if random.random() < 0.03:
                setattr(struct, name, list(value) * random.choice([0, 2]))
        elif random.random() < 0.15:
            changed = _changed(value, random)
            if changed is not None:
                setattr(struct, name, changed)


def _changed(value: Any, random: Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return random.choice(NUMBERS)
    if isinstance(value, Uuid):
        return random.choice([Uuid.ZERO, Uuid.METADATA_TOPIC_ID, directory(1), directory(2, 1)])
    if isinstance(value, str):
        return random.choice(["", "x", CLUSTER, "__cluster_metadata", "CONTROLLER"])
    return None
