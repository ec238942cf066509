"""Which quota counts for a client, and which clients share it: Apache Kafka's default
`ClientQuotaCallback` (KIP-13, KIP-55).

The first of these entities that has a quota decides:

    user, client id
    user, default client id
    user
    default user, client id
    default user, default client id
    default user
    client id
    default client id

Rules. The tags of a client are the user and the client id that are counted together; an empty tag
means any. A quota of a user is shared by all of the user's clients, and one of a client id by all
users. A quota with both is counted for each pair. If quotas have been set at one level only (client
ids, users, or pairs), the tags are those of this level, whether or not an entity matches. The limit
is looked up by the tags alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, TypeVar

V = TypeVar("V")

Entity = tuple[tuple[str, str | None], ...]
"""An entity as in the metadata image: names by type, sorted; None is the default."""

USER, CLIENT_ID = "user", "client-id"

NONE: Final = 0
CLIENT_ID_LEVEL, USER_LEVEL, PAIR_LEVEL = 1, 2, 4

DEFAULT: Final = None
ANY: Final = ""
"""The name of a part that the entity does not have."""

Key = tuple[str | None, str | None]
"""The user and the client id of a quota: a name, DEFAULT, or ANY."""


class MetricTags(NamedTuple):
    """The user and the client id that are counted together. An empty one stands for any."""

    user: str
    client_id: str


class DefaultQuotaCallback:
    """The quotas of one kind, such as `producer_byte_rate`."""

    def __init__(self) -> None:
        self._quotas: dict[Key, float] = {}
        self._counts: Counter[int] = Counter()
        """The number of quotas at each level."""
        self.levels = NONE
        """The levels at which there are quotas, as bits."""

    def update(self, quotas: Mapping[Entity, Mapping[str, float]], kind: str) -> None:
        """Takes the quotas of this kind from the image."""
        self._quotas, self._counts, self.levels = {}, Counter(), NONE
        self.change(by_key(quotas.items()), kind)

    def change(self, quotas: Mapping[Key, Mapping[str, float]], kind: str) -> None:
        """Takes the quotas of this kind for some clients, which may have none."""
        for key, values in quotas.items():
            self._set(key, values.get(kind))
        self.levels = sum(level for level, count in self._counts.items() if count)

    def _set(self, key: Key, limit: float | None) -> None:
        if self._quotas.pop(key, None) is not None:
            self._counts[level_of(key)] -= 1
        if limit is not None:
            self._quotas[key] = limit
            self._counts[level_of(key)] += 1

    def tags(self, user: str, client_id: str) -> MetricTags:
        """The tags under which a client is counted."""
        if self.levels in SINGLE_LEVELS:
            has_user, has_client_id = SINGLE_LEVELS[self.levels]
        else:
            has_user, has_client_id = next(
                (tagged for key, tagged in _precedence(user, client_id) if key in self._quotas), (False, True)
            )
        return MetricTags(user if has_user else ANY, client_id if has_client_id else ANY)

    def limit(self, tags: MetricTags) -> float | None:
        """The quota for tags, per second; None if there is none."""
        user, client_id = tags
        if user and client_id:
            keys: tuple[Key, ...] = ((user, client_id), (user, DEFAULT), (DEFAULT, client_id), (DEFAULT, DEFAULT))
        elif user:
            keys = ((user, ANY), (DEFAULT, ANY))
        else:
            keys = ((ANY, client_id), (ANY, DEFAULT)) if client_id else ()
        return next((self._quotas[key] for key in keys if key in self._quotas), None)

    def __repr__(self) -> str:
        return f"{len(self._quotas)} quotas"


SINGLE_LEVELS = {
    NONE: (False, True),
    CLIENT_ID_LEVEL: (False, True),
    USER_LEVEL: (True, False),
    PAIR_LEVEL: (True, True),
}
"""Whether the user and the client id are tags, where there are quotas at one level only."""


def by_key(quotas: Iterable[tuple[Entity, V]]) -> dict[Key, V]:
    """The quotas of users and client ids, by their key."""
    found = ((dict(entity), values) for entity, values in quotas)
    return {
        (named.get(USER, ANY), named.get(CLIENT_ID, ANY)): values
        for named, values in found
        if USER in named or CLIENT_ID in named
    }


def level_of(key: Key) -> int:
    """The level of a quota, as a bit."""
    user, client_id = key
    if user != ANY and client_id != ANY:
        return PAIR_LEVEL
    return USER_LEVEL if user != ANY else CLIENT_ID_LEVEL


def _precedence(user: str, client_id: str) -> tuple[tuple[Key, tuple[bool, bool]], ...]:
    """The quotas that may count for a client, the first first, with the tags that each has. Quotas
    of client ids come last, without a look whether there is one."""
    return (
        ((user, client_id), (True, True)),
        ((user, DEFAULT), (True, True)),
        ((user, ANY), (True, False)),
        ((DEFAULT, client_id), (True, True)),
        ((DEFAULT, DEFAULT), (True, True)),
        ((DEFAULT, ANY), (True, False)),
    )
