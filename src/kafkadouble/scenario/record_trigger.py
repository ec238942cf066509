"""The field `on_record` of a step: which records the step waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.arguments.parameters import ARGUMENTS, Argument, check_one
from kafkadouble.records.record_filter import RecordFilter
from kafkadouble.verbs.forms.json_form import from_json

from .calls import fields_of, located
from .files.document import ScenarioDocument, ValuePath

if TYPE_CHECKING:
    from kafkadouble.records.read_records import ReadRecord


TOPIC, PARTITION, TIMES = "topic", "partition", "times"
FILTERS = "key", "value", "header"

TRIGGER_ROWS: dict[str, Argument] = {
    TOPIC: ARGUMENTS["topic"],
    PARTITION: ARGUMENTS["partition"],
    "key": ARGUMENTS["key"],
    "value": ARGUMENTS["value"],
    "header": ARGUMENTS["header"],
    TIMES: ARGUMENTS["hits"],
}
"""By field of `on_record`: what it allows."""


class RecordTrigger(NamedTuple):
    """The records that a step waits for. `times` is the number of records after which the step is
    done; None if it is never done."""

    topic: str
    partition: int | None
    record_filter: RecordFilter
    times: int | None

    def accepts(self, record: ReadRecord) -> bool:
        """Whether the step is called for this record of the topic."""
        return self.partition in (None, record.partition) and self.record_filter.accepts(record)


def trigger_of(document: ScenarioDocument, path: ValuePath, value: Any) -> RecordTrigger:
    """The value of `on_record`, checked."""
    fields_of(document, path, "on_record", value, TRIGGER_ROWS)
    if TOPIC not in value:
        raise document.problem(path, f"on_record needs topic, {TRIGGER_ROWS[TOPIC][1]}")
    given: dict[str, Any] = {}
    for name, each in value.items():
        with located(document, (*path, name)):
            given[name] = from_json(name, each)
            check_one(name, TRIGGER_ROWS[name], given[name])
    narrowing: Any = {name: given[name] for name in FILTERS if name in given}
    with located(document, path):
        record_filter = RecordFilter.checked(given[TOPIC], narrowing)
    return RecordTrigger(given[TOPIC], given.get(PARTITION), record_filter, given.get(TIMES))
