"""Mutations of what is kept beside the batches of a log: the list of aborted transactions, the
times and the indexes, when the log is compacted, truncated or read (KIP-58, KIP-98)."""

from __future__ import annotations

from .mutation import Mutation

_CLEANER, _LIST, _RETRIES = (
    f"tests/server/log/compaction/test_{name}.py"
    for name in ("cleaner", "transaction_index", "producers_after_cleaning")
)
_FETCH, _LOOKUP, _PRODUCERS = (
    f"tests/server/log/test_{name}.py" for name in ("aborted_in_fetch", "lookup", "producers")
)
_FETCHED = "server/log/aborted_in_fetch.py"

COMPACTION = {
    "compaction: transactions whose markers are removed stay listed": Mutation(
        "server/log/local_log.py",
        "self._state.transactions.list_instead(first, end, aborted)",
        "pass",
        (_LIST,),
        "later records of their producers count as aborted, and the next compaction removes them",
    ),
    "compaction: a new segment lists what the old ones listed": Mutation(
        "server/log/local_log.py",
        "rewriting.finish(aborted)",
        "rewriting.finish(self.aborted_between(first, end))",
        (_LIST,),
        "after a start, later records of their producers count as aborted",
    ),
    "compaction: an emptied batch has no time": Mutation(
        "server/log/compaction/record_filter.py",
        "max_timestamp=header.max_timestamp)\n",
        "max_timestamp=None)\n",
        (_RETRIES,),
        "a producer is forgotten after a kill, and a retry of its last batch is appended again",
    ),
    "compaction: aborted transactions below the log start count as committed": Mutation(
        "server/log/compaction/cleaner.py",
        "partition.aborted_in(partition.segments[0].base_offset, settled)",
        "partition.aborted_in(partition.log_start_offset, settled)",
        (_LIST,),
        "their markers are removed before their records, and after a kill they seem to be open",
    ),
    "compaction: the cleaner ends within a segment": Mutation(
        "server/log/compaction/ranges.py",
        "    if whole_segments:\n",
        "    if False:\n",
        (_CLEANER,),
        "an open transaction lets a part of its segment be cleaned, which Kafka leaves alone",
    ),
    "compaction: a log that moves is compacted on demand": Mutation(
        "server/replica/log_cleaner.py",
        "        if self._moves(chosen):\n",
        "        if False:\n",
        ("tests/server/replica/test_moved_state.py",),
        "records whose marker was removed before it was copied count as committed after the move",
    ),
    "log: a truncation leaves transactions listed": Mutation(
        "server/log/transactions.py",
        "del self._aborted[bisect_left(self._aborted, offset, key=_last_offset) :]",
        "pass",
        (_PRODUCERS,),
        "the records that take the place of the truncated ones count as aborted",
    ),
    "log: a truncation leaves transactions listed in the file": Mutation(
        "server/log/files/segment.py",
        "self._opened_list().truncate(kept * txn_index.SIZE)",
        "pass",
        (_LIST,),
        "after a start, the records that took the place of the truncated ones count as aborted",
    ),
    "log: a lookup by time goes on in the next segments": Mutation(
        "server/log/lookup.py",
        "islice(late_enough, 1)",
        "late_enough",
        (_LOOKUP,),
        "a consumer begins at a record that Kafka does not find",
    ),
    "log: a fetch lists no transaction after its records": Mutation(
        _FETCHED,
        "return log.aborted_in(offset, _upper_bound(log, offset, max_bytes, end, found))",
        "return log.aborted_in(offset, found.next_offset)",
        (_FETCH,),
        "a client that ignores the first offset of a transaction passes here, and fails on Kafka",
    ),
    "log: a batch of which Kafka sends a part bounds the list": Mutation(
        _FETCHED,
        "(has_room and last < end) or ",
        "",
        (_FETCH,),
        "a fetch lists fewer aborted transactions than Kafka's",
    ),
    "log: the first entry of an index bounds the list": Mutation(
        _FETCHED,
        " or segment.entry_from(segment.base_offset) == last",
        "",
        (_FETCH,),
        "a fetch lists fewer aborted transactions than Kafka's",
    ),
    "log: the bytes since an index entry count on after a truncation in memory": Mutation(
        "server/log/memory.py",
        "        self._since_entry = 0  # as in Kafka\n",
        "",
        (_FETCH,),
        "entries, and so the aborted transactions of a fetch, are others than Kafka's",
    ),
    "log: the bytes since an index entry count on after a start": Mutation(
        "server/log/files/segment.py",
        "        self._since_entry = 0  # as in Kafka\n",
        "        self._since_entry = self.size - self._position_before(self.size)\n",
        ("tests/server/log/files/test_opening.py", _FETCH),
        "entries, and so the aborted transactions of a fetch, are others than Kafka's",
    ),
}
