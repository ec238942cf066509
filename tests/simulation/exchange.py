"""Requests and answers as bytes: in the newest version that both sides know, and as one line of the
transcript."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kafkadouble.messages import error_codes, registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.api_versions import ApiVersionsResponse
from kafkadouble.messages.message import Message
from kafkadouble.server.raft.messages import downgraded

from .world import Broken


class Request(NamedTuple):
    """The part of a request that a replica reads."""

    api_key: int
    version: int
    body: Any


OLDER: dict[int, tuple[int, ...]] = {
    1: (13, 15, 16, 17, 18),
    52: (0, 1, 2, 2, 2),
    53: (0, 1, 1),
    54: (0, 1, 1),
    59: (0, 1, 1),
}
"""The newest version that a node may know, by API: one is drawn for each node of a mixed quorum."""

OLDER_WITH_DIRECTORIES: dict[int, tuple[int, ...]] = {ApiKeys.FETCH: (17, 18), ApiKeys.VOTE: (1, 2)}
"""Where replicas are distinguished by their directories, only versions that name the directory can
be used (KIP-853)."""


def encoded(message: Message, version: int) -> bytes:
    return downgraded(message, version).encode(version)


def request_of(api_key: int, version: int, data: bytes) -> Request:
    return Request(api_key, version, registry.api(api_key).request.decode(data, version))


def response_of(api_key: int, version: int, data: bytes) -> Message:
    return registry.api(api_key).response.decode(data, version)


def newest(api_key: int, known: Mapping[int, int]) -> int:
    """The versions of an API that a node knows."""
    return known.get(api_key, registry.api(api_key).versions[1])


def features(kraft_versions: tuple[int, int]) -> ApiVersionsResponse:
    """A node's answer to ApiVersions, as far as the quorum reads it."""
    low, high = kraft_versions
    of = ApiVersionsResponse.SupportedFeatureKey
    return ApiVersionsResponse(supported_features=[of(name="kraft.version", min_version=low, max_version=high)])


def shown(message: Any) -> str:
    """The relevant fields of a message of the quorum."""
    name = type(message).__name__
    for kind, show in _SHOWN.items():
        if name.startswith(kind):
            found = show(message)
            return f"{name}({found})" if found else name
    return name


def _partition(message: Any) -> Any:
    topics = message.responses if hasattr(message, "responses") else message.topics
    return topics[0].partitions[0] if topics and topics[0].partitions else None


def _code(code: int) -> str:
    return error_codes.name(code) + " " if code else ""


def _led(code: int, leader: Any) -> str:
    if leader is None:
        return _code(code)
    return f"{_code(code)}leader {leader.leader_id} in epoch {leader.leader_epoch}"


def _fetch(message: Any) -> str:
    p = _partition(message)
    high = "" if p.high_watermark in (-1, 2**63 - 1) else f" hw {p.high_watermark}"
    return f"epoch {p.current_leader_epoch} from {p.fetch_offset} after epoch {p.last_fetched_epoch}{high}"


def _fetched(message: Any) -> str:
    p = _partition(message)
    if p is None:
        return _code(message.error_code)
    more = f" diverging {p.diverging_epoch!r}" if p.diverging_epoch and p.diverging_epoch.epoch >= 0 else ""
    if p.snapshot_id and p.snapshot_id.end_offset >= 0:
        more += f" snapshot {p.snapshot_id.end_offset} of epoch {p.snapshot_id.epoch}"
    return f"{_led(p.error_code, p.current_leader)} hw {p.high_watermark} {len(p.records or b'')} bytes{more}"


def _vote(message: Any) -> str:
    p = _partition(message)
    kind = "pre-vote " if p.pre_vote else ""
    return f"{kind}for {p.replica_id} in epoch {p.replica_epoch}, ends at {p.last_offset} after epoch {p.last_offset_epoch}"


def _voted(message: Any) -> str:
    p = _partition(message)
    return _code(message.error_code) if p is None else f"granted {p.vote_granted} {_led(p.error_code, p)}"


def _quorum(message: Any) -> str:
    p = _partition(message)
    return _code(message.error_code) if p is None else _led(getattr(p, "error_code", 0), p)


def _requested_piece(message: Any) -> str:
    p = _partition(message)
    return f"{p.snapshot_id.end_offset} of epoch {p.snapshot_id.epoch} from {p.position}, {message.max_bytes} bytes"


def _piece(message: Any) -> str:
    p = _partition(message)
    if p is None or p.error_code:
        return _code(message.error_code if p is None else p.error_code)
    return f"{p.snapshot_id.end_offset} of epoch {p.snapshot_id.epoch}, {len(p.unaligned_records or b'')} bytes at {p.position} of {p.size}"


_SHOWN: dict[str, Callable[[Any], str]] = {
    "FetchRequest": _fetch,
    "FetchResponse": _fetched,
    "VoteRequest": _vote,
    "VoteResponse": _voted,
    "BeginQuorumEpoch": _quorum,
    "EndQuorumEpoch": _quorum,
    "FetchSnapshotRequest": _requested_piece,
    "FetchSnapshotResponse": _piece,
    "AddRaftVoterResponse": lambda message: error_codes.name(message.error_code),
    "RemoveRaftVoterResponse": lambda message: error_codes.name(message.error_code),
    "UpdateRaftVoterResponse": lambda message: error_codes.name(message.error_code),
}


def refuse(problem: Exception) -> None:
    """A handler must answer any request."""
    raise Broken(f"a request was not answered: {problem!r}") from problem
