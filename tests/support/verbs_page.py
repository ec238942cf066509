"""docs/verbs.md, made from the registry of verbs; `make generate` writes it."""

from __future__ import annotations

from inspect import get_annotations

from kafkadouble import KafkaDouble
from kafkadouble.brokers.broker_handle import BrokerHandle
from kafkadouble.verbs.collecting import NARROWINGS, VERBS_OF_REQUESTS
from kafkadouble.verbs.registry import VERBS
from kafkadouble.verbs.verb import Parameter, Verb

NARROWING = frozenset(name for each in NARROWINGS.values() for name in get_annotations(each))
"""The parameters that narrow a rule, requests or records."""

HEAD = """\
# Verbs

Made by `make generate`; do not edit. A verb is a method of KafkaDouble, or of one of its brokers,
with which a test acts on the cluster without a client. This page lists all of them. A verb that
makes no sense raises UsageError, which names the parameter, what was given and what is allowed.
Where Kafka would refuse, it raises KafkaError with Kafka's code.

```python
from kafkadouble import KafkaDouble

with KafkaDouble(stepped=True) as kafka:
    kafka.create_topic("orders", 2, {"cleanup.policy": "compact"})
    assert kafka.produce_all("orders", [{"key": "pears", "value": str(number)} for number in range(1000)]) == 1000
    assert sum(kafka.end_offsets("orders").values()) == 1000

    kafka.compact("orders")
    assert [record.value for record in kafka.records("orders")] == [b"999"]
    assert kafka.topics()["orders"].configs == {"cleanup.policy": "compact"}

    kafka.commit_offsets("shop", {("orders", 0): 5, ("orders", 1): 0})
    assert kafka.reset_offsets("shop", "orders", to="earliest") == {("orders", 0): 0, ("orders", 1): 0}
    kafka.delete_group("shop")

    kafka.down()  # clients get connection refused
    kafka.up()  # everything is still there
    assert len(kafka.records("orders")) == 1
```

The lines of a file are records, too: `kafka.produce_file("orders", "orders.jsonl")`. A line of JSON
has some of these fields:

```json
{"key": "pears", "value": "two", "headers": {"trace": "7"}, "partition": 0, "timestamp": 1700000000000}
```

With a clock that runs, a test can freeze it, advance it, and make it faster:

```python
from kafkadouble import KafkaDouble

with KafkaDouble() as kafka:
    kafka.produce("orders", "two pears")
    kafka.freeze()
    kafka.advance(3600)
    kafka.produce("orders", "three pears")
    first, second = kafka.records("orders")
    assert second.timestamp - first.timestamp >= 3_600_000
    kafka.scale(10)  # when it goes on, it is ten times as fast
    kafka.unfreeze()
```

A retention or a new segment need not be waited for:

```python
from kafkadouble import KafkaDouble

with KafkaDouble(stepped=True) as kafka:
    kafka.create_topic("orders", config={"retention.ms": 60_000})
    kafka.produce("orders", "old")
    assert kafka.roll("orders", 0) == 1
    kafka.advance(61)
    kafka.produce("orders", "new")
    assert kafka.retain("orders") == {0: 1}
    assert kafka.flush("orders", 0) == 2
```

## The registry

The same verbs are a table. An entry has the parameters with their JSON schemas, and checks them
before it calls anything. So a program in another language needs no list of its own.

```python
from kafkadouble import KafkaDouble
from kafkadouble.verbs.registry import VERBS

with KafkaDouble() as kafka:
    VERBS["create_topic"].call(kafka, name="orders")
    assert VERBS["produce"].call_json(kafka, {"topic": "orders", "value": "two pears"}) == 0
    assert VERBS["records"].call_json(kafka, {"topic": "orders"})[0]["value"] == "two pears"
    assert VERBS["truncate"].parameters["partition"].schema["minimum"] == 0
```

In JSON, bytes are a text if they are UTF-8, and otherwise `{"base64": "..."}`. Offsets by topic and
partition are `{"orders": {"0": 5}}`. The verbs of one broker have names such as `kill_broker`, and
a parameter `broker`. What a verb returned can be given to each verb that takes it: a record to
`produce_all`, a rule to `arm` and `remove_rule`, a group's offsets to `commit_offsets`. A snapshot
without a name gets one in JSON, and `restore` takes its object; the latest of these are kept, as
long as there are at most 16 snapshots.
"""

TITLES = {
    "addresses": "Addresses",
    "topics": "Topics and records",
    "administration": "Administration of topics and groups",
    "logs": "Logs",
    "partitions": "Partitions",
    "groups": "Groups",
    "quotas": "Quotas",
    "security": "Security",
    "transactions": "Transactions",
    "brokers": "Brokers",
    "clock": "Clock",
    "waiting": "Waiting",
    "lint": "Lint",
    "requests": "Requests",
    "faults": "Faults",
    "snapshots": "Snapshots",
    "metrics": "Metrics",
    "reporting": "Reports",
    "double": "The double itself",
}
"""The sections, by subject, in their order."""

NOTES = {
    "requests": "In the registry the first is `requests`, the last `clear_requests`: [requests.md](requests.md).\n",
    "faults": "Each verb that arms a rule also takes the fields of Match and Trigger: [faults.md](faults.md).\n",
    "waiting": "`kafka.aio` has the same verbs as coroutines: [waiting.md](waiting.md).\n",
    "metrics": "Metrics of clients are described in [telemetry.md](telemetry.md).\n",
    "quotas": "What they do to clients is described in [quotas.md](quotas.md).\n",
    "security": "Users, ACLs, sessions and certificates: [security.md](security.md).\n",
    "lint": "What it finds is listed in [lint.md](lint.md).\n",
    "brokers": "How a cluster behaves is described in [clusters.md](clusters.md).\n",
    "partitions": "[leader-epochs.md](leader-epochs.md) says what clients do about new epochs.\n",
}


def as_markdown() -> str:
    subjects = dict.fromkeys((*TITLES, *sorted({each.subject for each in VERBS.values()})))
    return HEAD + "".join(map(_section, subjects)) + _parameters()


def _section(subject: str) -> str:
    verbs = [each for each in VERBS.values() if each.subject == subject]
    rows = [f"| `{_call(verb)}` | {_result(verb)} | {verb.summary} |" for verb in verbs]
    note = NOTES.get(subject)
    head = [f"## {TITLES.get(subject, subject.capitalize())}", "", *([note] if note else [])]
    return "\n".join(["", *head, "| verb | returns | what it does |", "|---|---|---|", *rows, ""])


def _result(verb: Verb) -> str:
    return "" if verb.result == "None" else "`" + verb.result.replace("|", "\\|") + "`"


def _call(verb: Verb) -> str:
    name = verb.name.removesuffix("_broker")
    own = [each for each in verb.parameters.values() if verb.subject != "faults" or each.name not in NARROWING]
    if verb.name.endswith("_broker") and hasattr(BrokerHandle, name):
        given = ", ".join(map(_given, own[1:]))
        return f"kafka.brokers[1].{name}({given})"
    if verb.subject == "requests":
        of = next((method for method, other in VERBS_OF_REQUESTS.items() if other == verb.name), verb.name)
        return f"kafka.requests.{of}({', '.join('*apis' if each.name == 'apis' else _given(each) for each in own)})"
    is_property = isinstance(getattr(KafkaDouble, verb.name), property)
    return f"kafka.{verb.name}" + ("" if is_property else f"({', '.join(map(_given, own))})")


def _given(parameter: Parameter) -> str:
    return parameter.name if parameter.is_required else f"{parameter.name}={parameter.default!r}"


def _parameters() -> str:
    allowed: dict[str, dict[str, None]] = {}
    for verb in VERBS.values():
        for parameter in verb.parameters.values():
            allowed.setdefault(parameter.name, {})[parameter.allowed] = None
    rows = [f"| `{name}` | {'; '.join(words)} |" for name, words in sorted(allowed.items())]
    head = ["", "## Parameters", "", "A parameter whose default is None also allows None.", ""]
    return "\n".join([*head, "| parameter | allowed |", "|---|---|", *rows, ""])
