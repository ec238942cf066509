"""Coverage of error rows: some script provokes every row of `tests/support/error_rows.txt` on both
brokers, or the row is excused here with the reason. Rows that need other brokers are provoked with
three brokers on each side.

The reason that a row itself has for not occurring is an excuse for all rows that have it, if
requests to one Kafka cannot provoke it either, or if `docs/divergence.md` says why only Kafka
answers it. `ALONE` are rows that transcripts provoke on the double and that requests to the two
brokers cannot. Rows that are neither provoked nor excused fail the run, and so do excuses for rows
that were provoked.
"""

from __future__ import annotations

from tests.support import error_reasons
from tests.support.error_rows import ROWS

Row = tuple[str, str]
"""An API and the name of an error code."""

OF_REASON = {
    error_reasons.ONE_NODE: "neither broker has others beside it",
    error_reasons.BESIDE: "neither broker has others beside it; three of them show it",
    error_reasons.DISK: "takes a disk that fails",
    error_reasons.TWO_PHASE: "takes version 6, which is not stable",
    error_reasons.POLICIES: "takes a class in Kafka's class path",
    error_reasons.DESCRIPTIONS: "takes a class in Kafka's class path",
    error_reasons.CONTROLLER: "takes a controller that is away",
    error_reasons.LOADED: "is over before the first script: the run waits until the coordinators have loaded",
    error_reasons.ALWAYS: "is over before the first script, as loading is",
    error_reasons.NEW_GROUPS: "takes a group of another type, which cannot be made on the double",
    error_reasons.TIERED: "takes a plugin for remote storage in Kafka's class path",
    error_reasons.UNREACHABLE: "no request to Kafka leads to it either",
    error_reasons.AT_ONCE: "a race inside of Kafka, which requests cannot aim at",
    error_reasons.MANY: "takes more than 10,000 topics",
    error_reasons.LISTENER: "the listener of controllers is no client's",
    error_reasons.PLAIN: "the listeners of both are PLAINTEXT",
    error_reasons.DYNAMIC: "the voters of the comparison are those of its settings",
    error_reasons.SHARE_STATE: "takes a share coordinator that fails or forgets, beside one that persists",
    error_reasons.STATE_DELETED: "a race inside of Kafka, which requests cannot aim at",
    error_reasons.LEGACY: "takes logs that a Kafka before 3.0 has written",
    error_reasons.OLDER_LEVEL: "both brokers begin with the newest, and do not go back",
}
"""The reason why the double does not answer a row -> why requests to the two brokers do not provoke
it."""

ELECTED = (
    "a leader has an epoch after the first only when the node restarts, which the double in memory does not survive"
)

MOMENTS = (
    "a matter of moments: takes a leader that has just been elected, and followers that have not fetched from it yet"
)

BETWEEN_STATES = (
    "a matter of moments: takes a transaction whose markers are being written, and followers that do not fetch them"
)

NOT_WRITTEN = "takes a topic of transactions that has too few replicas in sync"

NO_SHARE_STATE = "takes a topic of share state that has too few replicas in sync"

WITH_SASL = "takes a listener with SASL; `test_sasl.py` compares those"

TRANSACTIONS = "AddPartitionsToTxn AddOffsetsToTxn EndTxn"
SHARING = """InitializeShareGroupState ReadShareGroupState WriteShareGroupState DeleteShareGroupState
ReadShareGroupStateSummary AlterShareGroupOffsets DeleteShareGroupOffsets DeleteGroups"""


def _of(code: str, apis: str, reason: str) -> dict[Row, str]:
    return {(api, code): reason for api in apis.split()}


ALONE: dict[Row, str] = {
    ("ApiVersions", "ILLEGAL_SASL_STATE"): WITH_SASL,
    ("DescribeCluster", "ILLEGAL_SASL_STATE"): WITH_SASL,
    ("SaslHandshake", "UNSUPPORTED_SASL_MECHANISM"): WITH_SASL,
    ("SaslAuthenticate", "SASL_AUTHENTICATION_FAILED"): WITH_SASL,
    ("Fetch", "FENCED_LEADER_EPOCH"): ELECTED,
    ("ListOffsets", "LEADER_NOT_AVAILABLE"): MOMENTS,
    ("ListOffsets", "OFFSET_NOT_AVAILABLE"): MOMENTS,
    ("WriteTxnMarkers", "REQUEST_TIMED_OUT"): BETWEEN_STATES,
    **_of("CONCURRENT_TRANSACTIONS", f"Produce {TRANSACTIONS} TxnOffsetCommit", BETWEEN_STATES),
    **_of("COORDINATOR_NOT_AVAILABLE", f"InitProducerId {TRANSACTIONS}", NOT_WRITTEN),
    **_of("COORDINATOR_NOT_AVAILABLE", SHARING, NO_SHARE_STATE),
}
"""Rows that a transcript provokes by other means than requests, and why scripts cannot."""


def problems(provoked: set[Row], of_kafka: set[Row]) -> list[str]:
    """The problems of the rows after a run in which both brokers answered the rows `provoked`, and
    Kafka `of_kafka`."""
    excused = excuses()
    rows = {(api, code) for api, codes in ROWS.items() for code in codes}
    return [
        *(f"{api} {code} is neither provoked nor excused" for api, code in sorted(rows - provoked - excused.keys())),
        *(f"{api} {code} is excused and provoked" for api, code in sorted(excused.keys() & provoked)),
        *(f"{api} {code} is excused and no row" for api, code in sorted(excused.keys() - rows)),
        *(f"{api} {code} came from Kafka and is no row" for api, code in sorted(of_kafka - rows)),
    ]


def problems_of_three(provoked: set[Row]) -> list[str]:
    """The problems after a run with three brokers on each side: rows that need other brokers must
    be provoked, and no row may be provoked that the table says cannot occur."""
    beside = {(api, code) for api, codes in ROWS.items() for code, how in codes.items() if how == error_reasons.BESIDE}
    alone = {(api, code) for api, codes in ROWS.items() for code, how in codes.items() if how == error_reasons.REACHED}
    return [
        *(f"{api} {code} is not provoked" for api, code in sorted(beside - provoked)),
        *(f"{api} {code} is listed as impossible" for api, code in sorted(provoked - beside - alone)),
    ]


def excuses() -> dict[Row, str]:
    of_reason = {
        (api, code): OF_REASON[how] for api, codes in ROWS.items() for code, how in codes.items() if how in OF_REASON
    }
    return {**of_reason, **ALONE}
