"""Formats the metadata of a cluster as tables of plain text: aligned, complete, and without
characters that control a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkadouble.common.text_table import table
from kafkadouble.server.metadata.image import BrokerImage, ControllerImage, Endpoint, Image
from kafkadouble.server.raft.voters import VoterSet

from .change import directory_text, ids, time_text
from .history import MetadataHistory, Row
from .naming import level_text, resource_text, value_text
from .quorum import ObservedQuorum
from .view import View

SHOWN = 50
"""The number of rows of the history that are shown, the latest ones."""


def tables(view: View, quorum: ObservedQuorum, voters: VoterSet) -> Iterator[str]:
    """All tables, line by line."""
    image = view.image
    yield from _cluster(view, quorum, voters)
    yield from table("Quorum", ("NODE", "ROLE", "DIRECTORY", "LOG END"), _members(quorum))
    yield from table("Controllers", ("ID", "ENDPOINTS"), _controllers(image))
    yield from table("Brokers", ("ID", "STATE", "EPOCH", "RACK", "DIRS", "ENDPOINTS"), _brokers(image))
    yield from table(
        "Features", ("NAME", "LEVEL"), sorted((name, level_text(name, n)) for name, n in image.features.items())
    )
    yield from table(
        "Topics",
        ("TOPIC", "PARTITION", "LEADER", "LEADER EPOCH", "PARTITION EPOCH", "REPLICAS", "ISR", "MORE"),
        _partitions(image),
    )
    yield from table("Topic ids", ("TOPIC", "ID", "PARTITIONS"), _topic_ids(image))
    yield from table("Configurations", ("RESOURCE", "NAME", "VALUE"), _configs(image))
    yield from _history(view.history, view)


def _cluster(view: View, quorum: ObservedQuorum, voters: VoterSet) -> Iterator[str]:
    image = view.image
    rows = [
        ("cluster id", quorum.cluster_id or "unknown"),
        ("leader", f"{quorum.leader_id} in epoch {quorum.epoch}" if quorum.epoch >= 0 else "unknown"),
        ("voters", ids([member.id for member in quorum.members if member.is_voter] or list(voters.ids))),
        ("read up to", f"offset {view.end.offset}, epoch {view.end.epoch}"),
        ("begun with", f"a snapshot up to offset {view.snapshot.offset}" if view.snapshot else "the first record"),
        ("next producer id", str(image.next_producer_id)),
        *((name, str(count)) for name, count in _counted(image) if count),
        *([("passed over", f"{view.unknown} records that could not be understood")] if view.unknown else []),
    ]
    yield from table("Cluster", None, rows)


def _counted(image: Image) -> Iterator[tuple[str, int]]:
    """The parts that are shown only as a count."""
    yield "client quotas", sum(map(len, image.quotas.values()))
    yield "ACLs", len(image.acls)
    yield "SCRAM credentials", len(image.scram)
    yield "delegation tokens", len(image.tokens)


def _members(quorum: ObservedQuorum) -> Iterator[Sequence[str]]:
    for member in quorum.members:
        role = "leader" if member.id == quorum.leader_id else "voter" if member.is_voter else "observer"
        end = str(member.end) if member.end >= 0 else "unknown"
        yield str(member.id), role, directory_text(member.directory_id) or "-", end


def _controllers(image: Image) -> Iterator[Sequence[str]]:
    for id, controller in sorted(image.controllers.items()):
        yield str(id), _endpoints(controller)


def _brokers(image: Image) -> Iterator[Sequence[str]]:
    for id, broker in sorted(image.brokers.items()):
        rack = "-" if broker.rack is None else broker.rack
        yield str(id), state_text(broker), str(broker.epoch), rack, str(len(broker.log_dirs)), _endpoints(broker)


def state_text(broker: BrokerImage) -> str:
    """The state of a broker."""
    return "fenced" if broker.fenced else "stopping" if broker.in_controlled_shutdown else "active"


def _endpoints(node: BrokerImage | ControllerImage) -> str:
    return ", ".join(map(_endpoint, node.endpoints)) or "-"


def _endpoint(endpoint: Endpoint) -> str:
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"{endpoint.name}://{host}:{endpoint.port}"


def _partitions(image: Image) -> Iterator[Sequence[str]]:
    for name, topic_id in sorted(image.topic_ids.items()):
        for index, each in image.topics[topic_id].in_order():
            lists = {
                "adding": each.adding_replicas,
                "removing": each.removing_replicas,
                "ELR": each.elr,
                "last known ELR": each.last_known_elr,
            }
            more = "; ".join(f"{what} {ids(found)}" for what, found in lists.items() if found)
            recovering = "recovering" if each.leader_recovery_state else ""
            yield (
                name,
                str(index),
                str(each.leader) if each.leader >= 0 else "none",
                str(each.leader_epoch),
                str(each.partition_epoch),
                ids(each.replicas),
                ids(each.isr),
                "; ".join(filter(None, (more, recovering))),
            )


def _topic_ids(image: Image) -> Iterator[Sequence[str]]:
    for name, topic_id in sorted(image.topic_ids.items()):
        yield name, str(topic_id), str(len(image.topics[topic_id].partitions))


def _configs(image: Image) -> Iterator[Sequence[str]]:
    for (kind, name), values in sorted(image.configs.items(), key=lambda each: each[0]):
        for key, value in sorted(values.items()):
            yield resource_text(kind, name), key, value_text(key, value)


def _history(history: MetadataHistory, view: View) -> Iterator[str]:
    rows = list(history.rows)[-SHOWN:]
    left = len(history.rows) - len(rows) + history.dropped
    title = "Leaders and ISRs, as they changed"
    if left:
        title += f" ({left} earlier changes are not shown)"
    elif view.snapshot is not None and not rows:
        title += f" (nothing since the snapshot up to offset {view.snapshot.offset})"
    heads = ("OFFSET", "EPOCH", "TIME", "PARTITION", "WHAT", "LEADER", "LEADER EPOCH", "PARTITION EPOCH", "ISR")
    yield from table(title, heads, (_history_row(row) for row in rows))


def _history_row(row: Row) -> Sequence[str]:
    now, before = row.now, row.before
    isr = ids(now.isr) if before is None or before.isr == now.isr else f"{ids(before.isr)} -> {ids(now.isr)}"
    leader = str(now.leader)
    if before is not None and before.leader != now.leader:
        leader = f"{before.leader} -> {leader}"
    return (
        str(row.place.offset),
        str(row.place.epoch),
        time_text(row.place.timestamp),
        f"{row.topic}-{row.partition}",
        row.what,
        leader,
        str(now.leader_epoch),
        str(now.partition_epoch),
        isr,
    )
