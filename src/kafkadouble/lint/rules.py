"""The rules of the lint: one row for each, which the docs show too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from kafkadouble.server.tracing.history import SeenRequest
from kafkadouble.wire.errors import UsageError
from kafkadouble.wire.wording import ShownValue

from . import commits, connections, created_topics, fetch_loops, metadata_storms, old_versions, retries, throttles
from .finding import REMEDIES, FoundHabit, LintContext, LintFinding
from .merging import merged

Find = Callable[[Sequence[SeenRequest], LintContext], Iterator[FoundHabit]]


class LintRule(NamedTuple):
    """A rule: what it finds, why that hurts, and how to mend it. `find` is a pure function of the
    requests."""

    name: str
    meaning: str
    harm: str
    remedy: str
    find: Find


RULES = (
    LintRule(
        retries.NAME,
        "A producer without idempotence sends a batch again, after an error or a broken connection.",
        "If the first attempt was appended, the records are there twice.",
        "Set enable.idempotence=true.",
        retries.find,
    ),
    LintRule(
        commits.OWNERSHIP,
        "A member commits offsets of partitions that it does not own, or from a generation that is over.",
        "The commit is refused, or it overwrites that of the owner: records are read twice or never.",
        "Commit in the callback for revoked partitions, and poll more often than max.poll.interval.ms.",
        commits.find_without_ownership,
    ),
    LintRule(
        commits.SINGLE,
        "A consumer commits after each record, 20 times a second or more.",
        "Each commit is written and replicated by the broker. It becomes the limit of the consumer.",
        "Commit after each batch of poll, or set enable.auto.commit=true.",
        commits.find_per_record,
    ),
    LintRule(
        fetch_loops.NAME,
        "A consumer fetches again and again without waiting, and gets no records.",
        "It takes CPU time and network of client and broker for nothing.",
        "Set fetch.max.wait.ms (librdkafka: fetch.wait.max.ms) to 500.",
        fetch_loops.find,
    ),
    LintRule(
        old_versions.NAME,
        "A client uses a version of an API that lacks what later ones have.",
        "The client loses a guarantee; the next Kafka may remove the version.",
        "Update the client library, or remove its setting of an old broker version.",
        old_versions.find,
    ),
    LintRule(
        throttles.NAME,
        "A client sends a request before the throttle time of the last answer is over.",
        "The broker does not read from the connection. The client's request times out.",
        "Update the client library, and lower the rate of the application.",
        throttles.find,
    ),
    LintRule(
        metadata_storms.NAME,
        "A client asks for the same metadata many times in a second, and no error explains it.",
        "Metadata of large clusters are large. The brokers do little else.",
        "Make one client and keep it. Leave metadata.max.age.ms at its default.",
        metadata_storms.find,
    ),
    LintRule(
        created_topics.NAME,
        "A client creates a topic by asking for its metadata.",
        "A topic with a typing error, and with the default number of partitions, gets the records.",
        "Create topics first. Set allow.auto.create.topics=false, or auto.create.topics.enable=false at the broker.",
        created_topics.find,
    ),
    LintRule(
        connections.NAME,
        "A program opens a connection for each request.",
        "Each takes several round trips, and a thread or memory at the broker.",
        "Make one producer or consumer, and keep it.",
        connections.find,
    ),
)

BY_NAME = {rule.name: rule for rule in RULES}
REMEDIES.update({rule.name: rule.remedy for rule in RULES})


def lint(requests: Sequence[SeenRequest], context: LintContext, ignore: Iterable[str] = ()) -> list[LintFinding]:
    """The findings of all rules, in the order of the rules; what many clients or topics have in
    common is one. Raises UsageError for an unknown name in `ignore`."""
    ignored = [ignore] if isinstance(ignore, str) else [*ignore]
    for name in ignored:
        if not isinstance(name, str) or name not in BY_NAME:
            from kafkadouble.server.configs.did_you_mean import near  # for an error alone

            shown = repr(name) if isinstance(name, str) else ShownValue(name)
            raise UsageError("the lint has no rule {name}{near}", name=shown, near=near(name, BY_NAME))
    return merged(found for rule in RULES if rule.name not in ignored for found in rule.find(requests, context))
