"""Makes docs/clients.md, which client does what on which broker, from results.json.

`make interop-all` writes results.json and the page, and `make generate` makes the page again. The
page has no dates and no times, so that the same outcome is the same page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

from interop.secured_servers import OAUTHBEARER
from interop.tools import page as tools
from kafkadouble.server.apis.served import TABLE

from .programs import PROGRAMS
from .promise import BEHAVIOURS, NOT_OFFERED, NOT_TRIED, PASS, TOTAL
from .secure import SECURE_PROGRAMS, WAITS, SecureProgram
from .toolchains.building import Program

RESULTS = Path(__file__).with_name("results.json")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "clients.md"

Results = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""By broker: `walks` by client, `matrix` by writer and reader."""

MARKS = {PASS: "✓", NOT_OFFERED: "–", NOT_TRIED: "·"}
FAILED, NOT_RUN = "✗", "?"

MEANING = {
    "create_topic": ("create", "creates a topic of three partitions"),
    "create_twice": ("again", "gets TOPIC_ALREADY_EXISTS when it creates the topic again"),
    "describe_topic": ("describe", "sees the topic and its partitions"),
    "produce_none": ("none", "produces 200 records, uncompressed"),
    "produce_gzip": ("gzip", "produces 200 records with gzip"),
    "produce_snappy": ("snappy", "produces 200 records with snappy"),
    "produce_lz4": ("lz4", "produces 200 records with lz4"),
    "produce_zstd": ("zstd", "produces 200 records with zstd"),
    "read": ("read", "reads all thousand records, with the keys, null keys and values that were written"),
    "headers": ("headers", "reads the headers that were written"),
    "null_header": ("null", "distinguishes a header without a value from one with an empty value"),
    "group": ("group", "is the only member of a group and has all partitions"),
    "second_member": (
        "second",
        "has some of the partitions when a second member joins, and all of them again when it leaves",
    ),
    "commit": ("commit", "commits the offsets of what it read, and fetches them"),
    "resume": ("resume", "leaves the group, joins again, and reads only new records, none twice"),
    "offsets_by_time": (
        "by time",
        "finds the first offset for an old timestamp, and no offset, or the end, for a future one",
    ),
    "transactions": (
        "transactions",
        "does not read records of an aborted transaction with `read_committed`; commits offsets with a transaction; is "
        "fenced by a newer producer; loses a transaction to its timeout",
    ),
}
"""The heading of each behaviour, and what it says."""


class Lack(NamedTuple):
    """What clients ask for and the double lacks; the row goes when one of the APIs is served."""

    what: str
    apis: tuple[str, ...]
    here: str
    why: str


LACKS = (
    Lack(
        "metrics of clients (KIP-714)",
        ("GetTelemetrySubscriptions", "PushTelemetry"),
        "not in ApiVersions without [`telemetry=True`](telemetry.md)",
        "the same on a Kafka broker without a plugin for them",
    ),
    Lack(
        "SASL",
        ("SaslAuthenticate",),
        "not in ApiVersions; every client may do everything, but requests about delegation tokens are refused, as on "
        "Kafka's PLAINTEXT listeners",
        "listeners are PLAINTEXT; brokers store quotas, and do not apply them",
    ),
)


def served() -> frozenset[str]:
    """The names of the APIs that the double advertises by default."""
    return frozenset(one.name for one in TABLE if not one.row.hidden)


def as_markdown(results: Results, programs: Sequence[Program] = PROGRAMS, apis: frozenset[str] | None = None) -> str:
    brokers = sorted(results, key=lambda name: (name != "double", name))
    parts = [_head(brokers, results), _walks(brokers, results, programs), _meanings(), _not_offered(programs)]
    known = served() if apis is None else apis
    last = [
        _matrix(brokers, results, programs),
        *_endured(brokers, results, programs),
        _secured(),
        tools.section(),
    ]
    return "\n".join([*parts, _lacks(known), *last])


def titled(broker: str) -> str:
    """The name of a broker for readers: `local 4.4.0` is a Kafka."""
    kind, _, version = broker.partition(" ")
    return "kafkadouble" if kind == "double" else f"Apache Kafka {version}" if version else broker


def _head(brokers: Sequence[str], results: Results) -> str:
    count = max((len(results[broker]["walks"]) for broker in brokers), default=0)
    return f"""\
# Clients

Made by `make generate` from the results of `make interop-all`; do not edit. This page shows what
clients and Kafka's command-line tools can do with kafkadouble. {count} clients do the same on
{_listed(brokers)}: {len(BEHAVIOURS)} behaviours over {TOTAL:,} records.
The programs are in `interop/programs`. Each prints one object at its end, which must be the same on
every broker.
"""


def _listed(brokers: Sequence[str]) -> str:
    return " and ".join(map(titled, brokers)) or "no broker"


def _walks(brokers: Sequence[str], results: Results, programs: Sequence[Program]) -> str:
    heads = ["client", "version", *(MEANING[name][0] for name in BEHAVIOURS)]
    lines = ["| " + " | ".join(heads) + " |", "|---|---" + "|:-:" * len(BEHAVIOURS) + "|"]
    lines += [_line(program, brokers, results) for program in programs if "walk" in program.verbs]
    legend = ", ".join(
        [*(f"{mark} {name}" for name, mark in MARKS.items()), f"{FAILED} fails", f"{NOT_RUN} was not run"]
    )
    order = " / ".join(map(titled, brokers))
    return "\n".join(["## The walk", "", f"{legend}.", f"Where brokers differ: {order}.", "", *lines, ""])


def _line(program: Program, brokers: Sequence[str], results: Results) -> str:
    walks = [results[broker]["walks"].get(program.name, {}) for broker in brokers]
    version = next((walk["version"] for walk in walks if walk), program.version or "the system's")
    cells = [_cell([walk.get("behaviours", {}).get(name) for walk in walks]) for name in BEHAVIOURS]
    return f"| {program.package} ({program.language}) | {version} | " + " | ".join(cells) + " |"


def _cell(outcomes: Sequence[str | None]) -> str:
    marks = [NOT_RUN if outcome is None else MARKS.get(outcome, FAILED) for outcome in outcomes]
    return marks[0] if len(set(marks)) == 1 else " / ".join(marks)


def _meanings() -> str:
    lines = [f"| {MEANING[name][0]} | {MEANING[name][1]} |" for name in BEHAVIOURS]
    return "\n".join(["| | a client |", "|---|---|", *lines, ""])


def _not_offered(programs: Sequence[Program]) -> str:
    reasons: dict[tuple[str, str], list[str]] = {}
    for program in programs:
        for name, reason in program.not_offered.items():
            reasons.setdefault((program.name, reason), []).append(MEANING[name][0])
    lines = [f"| {client} | {', '.join(names)} | {reason} |" for (client, reason), names in reasons.items()]
    return "\n".join(["## Not offered by a client", "", "| client | what | why |", "|---|---|---|", *lines, ""])


def _lacks(apis: frozenset[str]) -> str:
    lines = [f"| {lack.what} | {lack.here} | {lack.why} |" for lack in LACKS if not apis & set(lack.apis)]
    about = (
        "[supported.md](supported.md) lists the served APIs and versions, and [divergence.md](divergence.md)\n"
        "the differences."
    )
    return "\n".join(
        ["## Not offered by kafkadouble", "", about, "", "| what | here | why |", "|---|---|---|", *lines, ""]
    )


def _matrix(brokers: Sequence[str], results: Results, programs: Sequence[Program]) -> str:
    """A sentence for each broker, and every cell that is not whole."""
    lines = [_sentence(broker, results[broker]["matrix"]) for broker in brokers]
    lines += [
        f"- {program.name} reads only records whose headers have values: it {program.blind_to}."
        for program in programs
        if program.blind_to
    ]
    about = (
        "Each client writes a topic, and every client reads it. If each client read only its own records, a\n"
        "fault that its producer and its consumer share would stay hidden."
    )
    return "\n".join(["## Which client reads which", "", about, "", *map(_wrapped, lines), ""])


def _endured(brokers: Sequence[str], results: Results, programs: Sequence[Program]) -> list[str]:
    """A section, if brokers died in the run that left the results."""
    found = {broker: results[broker]["endured"] for broker in brokers if results[broker].get("endured")}
    if not found:
        return []
    about = (
        "In a cluster of three brokers, a leader is killed while clients write and read in groups, and then\n"
        "the coordinator of the groups."
    )
    lines = []
    for broker, outcomes in found.items():
        wrong = [f"{client}: {reason}" for client, reason in outcomes.items() if reason]
        outcome = (
            f"but for {'; '.join(wrong)}"
            if wrong
            else "no record is lost, skipped or out of order, and each group reaches the end"
        )
        lines.append(f"- {titled(broker)}: {len(outcomes)} clients; {outcome}.")
    lines += [f"- {program.name} {program.at_fail_over}." for program in programs if program.at_fail_over]
    return ["\n".join(["## When brokers die", "", about, "", *map(_wrapped, lines), ""])]


def _secured() -> str:
    """What clients meet on brokers that ask who they are. `test_secure.py` tests the table on every
    broker, so it needs no results."""
    about = (
        "Each client logs in by each of these mechanisms over SASL_PLAINTEXT and SASL_SSL, and by a\n"
        "certificate over SSL. With a wrong password, an expired token, or without a right it gets its own\n"
        "error, and beyond a quota it is slowed down. `interop/walks/test_secure.py` shows that all this is\n"
        "the same on kafkadouble and on Apache Kafka."
    )
    heads = ["client", "mechanisms", "a wrong password is", "an expired token is", "a denied topic is", "throttling"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|", *map(_login, SECURE_PROGRAMS)]
    return "\n".join(["## Security", "", about, "", *lines, ""])


def _error(name: str) -> str:
    return "not noticed: it waits" if name == WAITS else f"`{name}`"


def _login(program: SecureProgram) -> str:
    token = "not offered"
    if OAUTHBEARER in program.mechanisms:
        token = _error(program.refused_by(OAUTHBEARER))
    cells = [
        program.name,
        ", ".join(program.mechanisms),
        _error(program.refused),
        token,
        _error(program.denied),
        "reported" if program.reports_throttling else "not reported",
    ]
    return f"| {' | '.join(cells)} |"


def _wrapped(item: str) -> str:
    """An item of a list within the width of prose."""
    return fill(item, 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _sentence(broker: str, matrix: Mapping[str, Mapping[str, str]]) -> str:
    cells = [(writer, reader, wrong) for writer, row in matrix.items() for reader, wrong in row.items()]
    wrong = [f"{reader} what {writer} wrote" for writer, reader, reason in cells if reason]
    readers = {reader for _, reader, _ in cells}
    outcome = f"not {', nor '.join(wrong)}" if wrong else "all complete"
    return f"- {titled(broker)}: {len(matrix)} writers, {len(readers)} readers, {len(cells)} cells; {outcome}."


if __name__ == "__main__":
    PAGE.write_text(as_markdown(json.loads(RESULTS.read_text())))
