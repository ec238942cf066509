"""Conditional publish (KIP-27): a batch is appended where its producer expects it to be, or not at all.

Only on topics whose `produce.expected.offset` is `optional` or `required`. An expectation comes in one of two ways:

    base offset   of the batch, as the KIP has it: the offset of its first record
    header        `expected-offset` of a record, in decimal: the offset of that record, wherever it stands in the batch

In both, -1 means any offset and says nothing; 0 means a log that never had a record. Client libraries write base offset 0 unasked, so that it
says nothing either, but for one case: under `required`, when no record has the header. Under `required` a batch that says nothing is refused.

Rules. Looks at a batch that has passed every other check and is about to get its offsets; changes nothing. What does not hold refuses the whole
batch with INVALID_RECORD, of which no client makes a second attempt, and blames the records by name (KIP-467). The texts are read by clients:
`MISMATCH` and `REFUSED` stay as they are.
"""

from collections.abc import Iterator

from kafkadouble.messages import error_codes
from kafkadouble.wire.batch import BatchHeader, Record, body_of, read_header, records_of
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.errors import WireError

from .refusals import AppendRefused, RecordError

OFF, OPTIONAL, REQUIRED = "off", "optional", "required"
"""What `produce.expected.offset` may be."""

HEADER = "expected-offset"
ANY, EMPTY = -1, 0
MISMATCH, REFUSED = "expected offset {expected}, actual {actual}", "conditional publish: "

LARGEST = 2**63 - 1
MOST_ERRORS = 1000
"""So many records are blamed at most: a small compressed batch has room for more than an answer should have."""

_NAME = HEADER.encode()


def check_expected(batch: Buffer, header: BatchHeader, mode: str, upcoming: int) -> None:
    """Raise AppendRefused unless the first record of `batch` may get the offset `upcoming`. `batch` is as it is to be stored, `header` as the
    producer wrote it."""
    claims = list(_claims(batch))
    _refuse([RecordError(index, claim) for index, _, claim in claims if isinstance(claim, str)])
    base = header.base_offset
    if base < ANY:
        _refuse([RecordError(0, f"base offset {base} is no expected offset")])
    says = [(index, delta, claim) for index, delta, claim in claims if isinstance(claim, int) and claim != ANY]
    if base > 0:
        _refuse([_contradiction(index, claim, base + delta) for index, delta, claim in says if claim != base + delta])
    elif mode == REQUIRED and not says:
        if base == ANY or claims:
            _refuse([RecordError(0, "no expected offset, where produce.expected.offset is required")])
        says = [(0, 0, EMPTY)]
    if base > 0 and base != upcoming:
        says = [(0, 0, base), *(each for each in says if each[0] > 0)]
    _refuse([_mismatch(index, claim, upcoming + delta) for index, delta, claim in says if claim != upcoming + delta])


Claim = tuple[int, int, int | str]
"""The index of a record, how far behind the first it is to be, and what its header expects, or what is wrong with that."""


def _claims(batch: Buffer) -> Iterator[Claim]:
    """What the records say. Where the name of the header does not occur, no record is made to look for it."""
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
    """The offset that a header's value means, or what is wrong with it."""
    text = bytes(value[:20]).decode("latin-1") if value is not None else ""
    digits = text.removeprefix("-")
    if digits.isdecimal():
        number = int(text)
        if ANY <= number <= LARGEST and str(number) == text:
            return number
    shown = "null" if value is None else repr(bytes(value[:20]))[1:] + ("..." if len(value) > 20 else "")
    return f"header {HEADER} is {shown}, not -1 or an offset in decimal"


def _contradiction(index: int, said: int, implied: int) -> RecordError:
    return RecordError(index, f"header {HEADER} is {said}, where the batch's base offset makes it {implied}")


def _mismatch(index: int, expected: int, actual: int) -> RecordError:
    return RecordError(index, MISMATCH.format(expected=expected, actual=actual))


def _refuse(blamed: list[RecordError]) -> None:
    if blamed:
        raise AppendRefused(error_codes.INVALID_RECORD, f"{REFUSED}{blamed[0].message}", blamed[:MOST_ERRORS])
