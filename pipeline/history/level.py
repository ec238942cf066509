"""A level that reads one of Kafka's internal logs. It has several tables; the option `table`
chooses one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import pyarrow as pa

from kafkadouble.wire.errors import UsageError

from ..logs.levels import Paths, TableLevel, chosen
from ..logs.options import LogOption, LogOptions, choice
from .chain import Chain, HistoryRecord, chains, entries, starts_late

_ROWS = 1 << 13

TIME = pa.timestamp("us", "UTC")


class HistoryTable(NamedTuple):
    """`fields`: name -> type. `rows` makes dicts from the records of a log; a missing name is null,
    except `replica`, which comes from the log. `whole`: a row depends on earlier records, so the
    log has to be read from its beginning."""

    fields: Mapping[str, pa.DataType]
    rows: Callable[[Iterable[HistoryRecord], Chain, LogOptions], Iterator[dict[str, Any]]]
    whole: bool = True

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(list(self.fields.items()))


def level(topic: str, tables: Mapping[str, HistoryTable], default: str) -> TableLevel:
    """The level of this topic's log."""

    def table_of(options: LogOptions) -> HistoryTable:
        return tables[options.own["table"]]

    def plan(paths: Paths, options: LogOptions) -> list[Chain]:
        if table_of(options).whole and starts_late(options):
            raise UsageError(
                f"table {options.own['table']} follows from the whole log: it can be ended early (endingOffsets, endingTimestamp), "
                "not begun late"
            )
        return chains(paths, options, topic)

    def read(chain: Chain, names: Sequence[str], options: LogOptions) -> Iterator[pa.RecordBatch]:
        table = table_of(options)
        schema = chosen(table.schema, names)
        rows = table.rows(entries(chain, options), chain, options)
        common = {"replica": chain.replica}
        while some := list(islice(rows, _ROWS)):
            yield pa.RecordBatch.from_pylist(
                [{name: row.get(name, common.get(name)) for name in names} for row in some], schema
            )

    own = (LogOption("table", choice(*tables), default),)
    return TableLevel(lambda options: table_of(options).schema, plan, read, own)


def time(milliseconds: int | None) -> int | None:
    """Microseconds, for a column of the type `TIME`; None for none."""
    return None if milliseconds is None or milliseconds < 0 else milliseconds * 1000
