"""ListTransactions: the transactional ids of the coordinator that pass all filters of a request
(KIP-664, KIP-994, KIP-1152)."""

from __future__ import annotations

from collections.abc import Iterable

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.list_transactions import ListTransactionsRequest, ListTransactionsResponse

from ..requests.regular_expression import InvalidRegularExpression, Pattern, compile_pattern
from ..requests.request import Refusal
from .transaction_coordinator_shard import TransactionCoordinatorShard
from .transaction_metadata import TransactionalIdEntry
from .transaction_state import BY_LABEL, DEAD

ListedTransaction = ListTransactionsResponse.TransactionState


class TransactionFilters:
    """The filters of a request that need no pattern. An empty list of ids or states, and a negative
    duration (ms), take every transactional id. `unknown_states` are names that no state has; they
    match nothing."""

    def __init__(self, request: ListTransactionsRequest, now: int) -> None:
        self._producer_ids, names = frozenset(request.producer_id_filters), dict.fromkeys(request.state_filters)
        self._by_state, self._states = bool(names), {BY_LABEL[name] for name in names if name in BY_LABEL}
        self.unknown_states = [name for name in names if name not in BY_LABEL]
        self._duration_ms, self._now = request.duration_filter, now

    def include(self, entry: TransactionalIdEntry) -> bool:
        """Whether the entry passes. An expired one never does."""
        metadata = entry.metadata
        return (
            metadata.state is not DEAD
            and (not self._producer_ids or metadata.producer_id in self._producer_ids)
            and (not self._by_state or metadata.state in self._states)
            and (self._duration_ms < 0 or self._now - metadata.txn_start_timestamp > self._duration_ms)
        )


def entries_of(shards: Iterable[TransactionCoordinatorShard]) -> list[TransactionalIdEntry]:
    """Every transactional id of the shards, as of now."""
    return [entry for shard in shards for entry in shard.entries.values()]


def transactional_id_pattern(text: str) -> Pattern:
    """The compiled filter. Raises Refusal(INVALID_REGULAR_EXPRESSION)."""
    try:
        return compile_pattern(text)
    except InvalidRegularExpression as problem:
        message = f"Transaction ID pattern `{text}` is not a valid regular expression: {problem}."
        raise Refusal(error_codes.INVALID_REGULAR_EXPRESSION, message) from problem


def matching(pattern: Pattern, listed: Iterable[ListedTransaction]) -> list[ListedTransaction]:
    """The entries whose transactional id matches the pattern."""
    return [transaction for transaction in listed if pattern.matches(transaction.transactional_id)]


def listed_transaction(entry: TransactionalIdEntry) -> ListedTransaction:
    """The entry in the form of the response."""
    metadata = entry.metadata
    return ListedTransaction(
        transactional_id=entry.transactional_id,
        producer_id=metadata.producer_id,
        transaction_state=metadata.state.label,
    )
