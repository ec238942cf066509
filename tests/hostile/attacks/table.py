"""Every attack by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kafkadouble.server.apis.served import CONTROLLER_TABLE, TABLE

from ..bombs import CODECS
from ..ports import CONTROLLER, PLAINTEXT, PORTS, SASL_PLAINTEXT
from ..sockets import MB, Client
from . import answers, classic_groups, connections, modern_groups, topics, widest
from .bombs import bombs
from .exchanges import Address


class Attack(NamedTuple):
    """`prepare` creates the topics that it needs; `limit` is the number of descriptors that the
    broker may have; `port` is attacked."""

    run: Callable[[Address, float], None]
    options: tuple[str, ...] = ()
    prepare: Callable[[Client, float], None] = topics.evil_topic
    limit: int = 0
    port: str = PLAINTEXT


def nothing(client: Client, scale: float) -> None:
    """What an attack needs that asks for no topic."""


LARGE = ("-c", f"message.max.bytes={20 * MB}")

ON_BROKERS = {
    "wide Metadata": Attack(topics.wide_metadata, prepare=topics.wide_topics),
    "unknown names": Attack(topics.unknown_names),
    "wide Fetch": Attack(topics.wide_fetch, prepare=topics.wide_topics),
    "wide ListOffsets": Attack(topics.wide_list_offsets, prepare=topics.wide_topics),
    "joins": Attack(classic_groups.joins, prepare=classic_groups.coordinator),
    "joins of one group": Attack(classic_groups.joins_of_one_group, prepare=classic_groups.coordinator),
    **{
        f"{kind} joins{suffix}": Attack(
            modern_groups.joins(kind, in_one_group=bool(suffix)), prepare=modern_groups.topic_of_groups
        )
        for kind in modern_groups.PROTOCOLS
        for suffix in ("", " of one group")
    },
    **{f"{codec} bombs": Attack(bombs(codec), LARGE) for codec in CODECS},
    "slow connections": Attack(connections.slow_connections),
    "waiting fetches": Attack(answers.waiting_fetches),
    "half frames": Attack(connections.half_frames),
    "unread answers": Attack(answers.unread_answers),
    "slow readers": Attack(answers.slow_readers),
    "descriptors": Attack(connections.descriptors, limit=300),
}

ON_PORTS = {
    **{f"churn, {port}": Attack(connections.churn(port), prepare=nothing, port=port) for port in PORTS},
    **{f"idle, {port}": Attack(connections.idle, prepare=nothing, port=port) for port in PORTS},
    **{f"half messages, {port}": Attack(connections.half(port), prepare=nothing, port=port) for port in PORTS},
    **{f"whole messages, {port}": Attack(connections.whole(port), prepare=nothing, port=port) for port in PORTS},
    "wrong logins": Attack(connections.wrong_logins, prepare=nothing, port=SASL_PLAINTEXT),
}

OF_EVERY_API = {
    **{f"widest {served.name}": Attack(widest.widest_of(served), prepare=widest.state) for served in TABLE},
    **{
        f"widest {served.name}, {CONTROLLER}": Attack(widest.widest_of(served), prepare=widest.state, port=CONTROLLER)
        for served in CONTROLLER_TABLE
    },
}

ATTACKS = {**ON_BROKERS, **ON_PORTS, **OF_EVERY_API}

TOGETHER = (
    *(name for name, attack in ON_BROKERS.items() if not attack.limit),
    *ON_PORTS,
    "widest OffsetFetch",
    f"widest CreateTopics, {CONTROLLER}",
)
"""All kinds of attacks, for one broker at the same time."""

TOGETHER_SCALE = 0.1
"""How much of each, so that the machine of the server can run all of them, too."""
