"""The thresholds of the lint, each with its reason. A false finding is worse than a missed one, so
each is far from what confluent-kafka, aiokafka and kafka-python do in normal use."""

from __future__ import annotations

from typing import NamedTuple


class Threshold(NamedTuple):
    """A number of the lint, and why it is that number."""

    name: str
    value: int
    reason: str


THRESHOLDS = (
    Threshold(
        "BUSY_FETCHES",
        100,
        "So many empty fetches in a row, on one connection. Clients wait for records at the broker, by default up to "
        "500 ms: an idle consumer sends two fetches a second.",
    ),
    Threshold(
        "BUSY_WAIT_MS",
        50,
        "A fetch with a larger `max_wait_ms` is not busy: 20 fetches a second cost a broker little.",
    ),
    Threshold(
        "STORM_REQUESTS",
        15,
        "So many Metadata requests for the same topics, on one connection, in `STORM_MS`. Clients that retry wait for "
        "`retry.backoff.ms`, 100 ms; without an error they refresh every five minutes.",
    ),
    Threshold("STORM_MS", 1000, "See `STORM_REQUESTS`."),
    Threshold(
        "EXPLAINED_MS", 2000, "An error or a broken connection explains Metadata requests of the client for so long."
    ),
    Threshold(
        "SHORT_CONNECTIONS",
        30,
        "So many connections with one request, of one client id, in `SHORT_CONNECTIONS_MS`. Tests that start a client "
        "each open fewer; a producer for each message opens more in a few seconds.",
    ),
    Threshold("SHORT_CONNECTIONS_MS", 30_000, "See `SHORT_CONNECTIONS`."),
    Threshold(
        "SINGLE_COMMITS",
        100,
        "So many commits in a row that each move a partition by one offset, in `SINGLE_COMMITS_MS`. Below 20 commits a "
        "second that is a choice, for records that take long.",
    ),
    Threshold("SINGLE_COMMITS_MS", 5000, "See `SINGLE_COMMITS`."),
    Threshold(
        "EARLY_MS",
        100,
        "A request that comes earlier after a throttled answer was perhaps under way. One that comes so long before "
        "the end of the throttling is hardly early.",
    ),
)

_VALUES = {each.name: each.value for each in THRESHOLDS}

BUSY_FETCHES, BUSY_WAIT_MS = _VALUES["BUSY_FETCHES"], _VALUES["BUSY_WAIT_MS"]
STORM_REQUESTS, STORM_MS, EXPLAINED_MS = _VALUES["STORM_REQUESTS"], _VALUES["STORM_MS"], _VALUES["EXPLAINED_MS"]
SHORT_CONNECTIONS, SHORT_CONNECTIONS_MS = _VALUES["SHORT_CONNECTIONS"], _VALUES["SHORT_CONNECTIONS_MS"]
SINGLE_COMMITS, SINGLE_COMMITS_MS = _VALUES["SINGLE_COMMITS"], _VALUES["SINGLE_COMMITS_MS"]
EARLY_MS = _VALUES["EARLY_MS"]
