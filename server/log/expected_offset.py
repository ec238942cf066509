"""Conditional publish (KIP-27): a batch is appended at the offset that its producer expects, or not
at all.

Only on topics whose `produce.expected.offset` is `optional` or `required`. A producer states its
expectation in one of two ways:

    base offset   of the batch, as in the KIP: the offset of its first record
    header        `expected-offset` of a record, in decimal: the offset of that record

In both, -1 means any offset; 0 means a log that never had a record. Client libraries always write
base offset 0, so it states nothing, with one exception: under `required`, when no record has the
header. Under `required` a batch without an expectation is refused.

Rules. The check sees a batch that has passed every other check and is about to get its offsets; it
changes nothing. A wrong expectation refuses the whole batch with INVALID_RECORD, which no client
retries, and names the records to blame (KIP-467). Clients parse the texts of `MISMATCH` and
`REFUSED`: they never change.
"""

from collections.abc import Iterator

from kafkadouble.messages import error_codes
from kafkadouble.wire.batch import BatchHeader, Record, body_of, read_header, records_of
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.errors import WireError

from .config import REQUIRED
from .refusals import AppendRefused, RecordError

HEADER = "expected-offset"
ANY, EMPTY = -1, 0
MISMATCH, REFUSED = "expected offset {expected}, actual {actual}", "conditional publish: "

LARGEST = 2**63 - 1
MOST_ERRORS = 1000
"""At most so many records are blamed: a small compressed batch can hold more than a response
should."""

_NAME = HEADER.encode()


def check_expected(batch: Buffer, header: BatchHeader, mode: str, upcoming: int) -> None:
    """Raises AppendRefused unless the first record of `batch` may get the offset `upcoming`.
    `batch` is as it is to be stored, `header` is the producer's."""
    claims = list(_claims(batch))
    _refuse([RecordError(index, claim) for index, _, claim in claims if isinstance(claim, str)])
    base = header.base_offset
    if base < ANY:
        _refuse([RecordError(0, f"base offset {base} is no expected offset")])
    stated = [(index, delta, claim) for index, delta, claim in claims if isinstance(claim, int) and claim != ANY]
    if base > 0:
        _refuse([_contradiction(index, claim, base + delta) for index, delta, claim in stated if claim != base + delta])
    elif mode == REQUIRED and not stated:
        if base == ANY or claims:
            _refuse([RecordError(0, "no expected offset, where produce.expected.offset is required")])
        stated = [(0, 0, EMPTY)]
    if base > 0 and base != upcoming:
        stated = [(0, 0, base), *(each for each in stated if each[0] > 0)]
    _refuse([_mismatch(index, claim, upcoming + delta) for index, delta, claim in stated if claim != upcoming + delta])


Claim = tuple[int, int, int | str]
"""The index of a record, its distance from the first offset, and the offset that its header
expects, or what is wrong with the header."""


def _claims(batch: Buffer) -> Iterator[Claim]:
    """The expectations of the records. Records are decoded only when the name of the header occurs
    in the batch."""
    stored = read_header(batch)
    try:
        if _NAME not in body_of(batch, 0, stored):
            return
        records = records_of(batch, 0, stored, check_crc=False)
    except WireError as problem:
        raise AppendRefused(error_codes.INVALID_RECORD, str(problem)) from problem
    for index, record in enumerate(records):
        for claim in _of_record(record):
            yield index, record.offset - stored.base_offset, claim


def _of_record(record: Record) -> Iterator[int | str]:
    for name, value in record.headers:
        if name == HEADER:
            yield parsed(value)


def parsed(value: bytes | None) -> int | str:
    """The offset in the value of the header, or what is wrong with it."""
    text = bytes(value[:20]).decode("latin-1") if value is not None else ""
    digits = text.removeprefix("-")
    if digits.isdecimal():
        number = int(text)
        if ANY <= number <= LARGEST and str(number) == text:
            return number
    shown = "null" if value is None else repr(bytes(value[:20]))[1:] + ("..." if len(value) > 20 else "")
    return f"header {HEADER} is {shown}, not -1 or an offset in decimal"


def _contradiction(index: int, claimed: int, implied: int) -> RecordError:
    return RecordError(index, f"header {HEADER} is {claimed}, where the batch's base offset makes it {implied}")


def _mismatch(index: int, expected: int, actual: int) -> RecordError:
    return RecordError(index, MISMATCH.format(expected=expected, actual=actual))


def _refuse(blamed: list[RecordError]) -> None:
    if blamed:
        raise AppendRefused(error_codes.INVALID_RECORD, f"{REFUSED}{blamed[0].message}", blamed[:MOST_ERRORS])
