"""The text of the view of topics, made in pieces of some partitions each.

Each piece is looked at in a step of its own on the brokers' thread, so that clients wait for a few
milliseconds at most, however many partitions there are. A piece whose state is that of its last
text is not made again: the state is compared, not the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.host.host import host_of
from kafkadouble.topics import topic_description as topics
from kafkadouble.topics.partition_state import STEP
from kafkadouble.verbs.forms.json_form import to_json

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi
    from kafkadouble.verbs.double_api import DoubleApi


class Piece(NamedTuple):
    """Some partitions of a topic, and the text that was made of them: that of the topic without its
    partitions, up to their place and from there on, and that of the partitions."""

    state: topics.TopicState
    before: str
    partitions: str
    after: str


Place = tuple[str, tuple[int, ...]]
"""The name of a topic, and some of its partitions."""


class TopicPieces:
    """The pieces of one double. `made` counts those whose text was made."""

    def __init__(self) -> None:
        self._pieces: dict[Place, Piece] = {}
        self.made = 0

    def text(self, kafka: DoubleApi) -> str:
        """The topics as JSON, as the verb `topics` has them. Call it on another thread than the
        brokers'. Raises KafkaError and UsageError."""
        running = host_of(kafka).serving()
        names = running.thread.call(lambda: topics.partitions_by_topic(running.broker))
        pieces: dict[Place, Piece] = {}
        for places in _steps(names):
            found = running.thread.call(self._look, running.broker, places)
            for place, state, description in found:
                if description is None:
                    pieces[place] = self._pieces[place]
                else:
                    self.made += 1
                    pieces[place] = _piece(state, to_json(description))
        self._pieces = pieces
        return "{" + ",".join(_texts(pieces)) + "}"

    def _look(
        self, broker: ClusterApi, places: Sequence[Place]
    ) -> list[tuple[Place, topics.TopicState, topics.TopicDescription | None]]:
        """Reads, on the brokers' thread, the state of each piece, and its description if it has
        changed. A topic that was deleted meanwhile is left out."""
        found = []
        for name, indexes in places:
            state = topics.topic_state(broker, name, indexes)
            if state is None:
                continue
            known = self._pieces.get((name, indexes))
            is_new = known is None or known.state != state
            found.append(((name, indexes), state, topics.described(broker, name, indexes) if is_new else None))
        return found


def _steps(names: dict[str, tuple[int, ...]]) -> Iterator[list[Place]]:
    """The places of each step."""
    held: list[Place] = []
    count = 0
    for name, indexes in names.items():
        for some in [indexes[at : at + STEP] for at in range(0, len(indexes), STEP)] or [()]:
            if held and (count + len(some) > STEP or len(held) >= STEP):
                yield held
                held, count = [], 0
            held.append((name, some))
            count += len(some)
    if held:
        yield held


def _piece(state: topics.TopicState, description: dict[str, Any]) -> Piece:
    fields = {name: _dumped(value) for name, value in description.items()}
    names = list(fields)
    at = names.index("partitions")
    before = "".join(f'"{name}":{fields[name]},' for name in names[:at])
    after = "".join(f',"{name}":{fields[name]}' for name in names[at + 1 :])
    return Piece(
        state, f'{_dumped(description["name"])}:{{{before}"partitions":{{', fields["partitions"][1:-1], f"}}{after}}}"
    )


def _texts(pieces: dict[Place, Piece]) -> Iterator[str]:
    """The text of each topic: the pieces of a topic are neighbours."""
    of_topic: list[Piece] = []
    name = ""
    for place, piece in pieces.items():
        if of_topic and place[0] != name:
            yield _joined(of_topic)
            of_topic = []
        name = place[0]
        of_topic.append(piece)
    if of_topic:
        yield _joined(of_topic)


def _joined(of_topic: Sequence[Piece]) -> str:
    last = of_topic[-1]
    return last.before + ",".join(piece.partitions for piece in of_topic if piece.partitions) + last.after


def _dumped(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
