"""Delegation tokens: which principal may do what, how long tokens live, and which records are
written.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.controller.controller_result import MAX_RECORDS_PER_USER_OP
from kafkadouble.server.controller.delegation_tokens import (
    MAX_TIMESTAMP,
    KafkaPrincipal,
    NewTokenRequest,
    TokenSettings,
    checked_token_settings,
    create_token,
    expire_token,
    renew_token,
    sweep_expired_tokens,
    token_settings_of,
)
from kafkadouble.server.metadata.image import EMPTY, Image
from kafkadouble.server.requests.request import Refusal
from tests.server.controller.small_clusters import after
from tests.server.metadata.cluster_story import made

NOW, HOUR, DAY = 1_700_000_000_000, 3_600_000, 86_400_000
TERMS = TokenSettings(b"key", max_lifetime_ms=7 * DAY, expiry_time_ms=DAY)
ANN, BOB, CAROL = (KafkaPrincipal("User", name) for name in ("ann", "bob", "carol"))
OWNER, ASKED_FOR_IT, MAY_RENEW, STRANGER = "User:bob", "User:ann", "User:carol", "User:eve"
NONE = error_codes.NONE


def ids() -> Callable[[], Uuid]:
    numbers = count()
    return lambda: Uuid(bytes([next(numbers)]) * 16)


def token(lifetime: int = -1, terms: TokenSettings = TERMS, renewers: Sequence[KafkaPrincipal] = (CAROL,)) -> Any:
    return create_token(EMPTY, terms, NewTokenRequest(BOB, ANN, renewers, lifetime), ids(), NOW)


def image_with(*records: Any) -> Image:
    return after(EMPTY, records)


ONE = image_with(token())
[ID] = ONE.tokens
PROOF = TERMS.proof(ID)
END = NOW + 7 * DAY


def code(decide: Callable[[], object]) -> int:
    try:
        decide()
    except Refusal as refusal:
        return refusal.code
    return NONE


# New ones


def test_delegation_token_is_proved_by_the_hmac_of_its_id() -> None:
    assert TERMS.proof("an id") == hmac.digest(b"key", b"an id", "sha512")
    assert "key" not in repr(TERMS)


@pytest.mark.parametrize(
    ("lifetime", "ends", "expires"),
    [
        (-1, 7 * DAY, DAY),
        (0, 7 * DAY, DAY),
        (1, 1, 1),
        (HOUR, HOUR, HOUR),
        (2 * DAY, 2 * DAY, DAY),
        (8 * DAY, 7 * DAY, DAY),
        (MAX_TIMESTAMP, 7 * DAY, DAY),
    ],
)
def test_a_token_lasts_as_long_as_requested_and_no_longer_than_the_terms_allow(
    lifetime: int, ends: int, expires: int
) -> None:
    found = token(lifetime)
    assert (found.issue_timestamp, found.max_timestamp, found.expiration_timestamp) == (NOW, NOW + ends, NOW + expires)


def test_a_token_names_its_owner_its_requester_and_its_renewers() -> None:
    found = token(renewers=(CAROL, ANN, CAROL))
    assert (found.owner, found.requester) == (OWNER, ASKED_FOR_IT)
    assert found.renewers == [MAY_RENEW, ASKED_FOR_IT, MAY_RENEW]
    assert found.token_id == str(Uuid.ZERO)


@pytest.mark.parametrize("kind", ["Group", "", "user"])
def test_only_users_renew(kind: str) -> None:
    assert code(lambda: token(renewers=(CAROL, KafkaPrincipal(kind, "x")))) == error_codes.INVALID_PRINCIPAL_TYPE


def test_no_id_is_given_twice() -> None:
    found = create_token(ONE, TERMS, NewTokenRequest(BOB, ANN, (), -1), ids(), NOW)
    assert found.token_id not in ONE.tokens


def test_token_timestamps_stay_within_64_bits() -> None:
    terms = TokenSettings(b"key", max_lifetime_ms=MAX_TIMESTAMP, expiry_time_ms=MAX_TIMESTAMP)
    found = token(MAX_TIMESTAMP, terms)
    assert (found.max_timestamp, found.expiration_timestamp) == (MAX_TIMESTAMP, MAX_TIMESTAMP)
    for change in (renew_token, expire_token):
        assert change(image_with(found), terms, PROOF, OWNER, MAX_TIMESTAMP, NOW).results == [MAX_TIMESTAMP]


# Who may


@pytest.mark.parametrize("change", [renew_token, expire_token])
@pytest.mark.parametrize(
    ("principal", "expected"),
    [
        (OWNER, NONE),
        (MAY_RENEW, NONE),
        (ASKED_FOR_IT, error_codes.DELEGATION_TOKEN_OWNER_MISMATCH),
        (STRANGER, error_codes.DELEGATION_TOKEN_OWNER_MISMATCH),
    ],
)
def test_the_owner_and_the_renewers_change_a_token(change: Any, principal: str, expected: int) -> None:
    assert code(lambda: change(ONE, TERMS, PROOF, principal, HOUR, NOW)) == expected
    assert code(lambda: expire_token(ONE, TERMS, PROOF, principal, -1, NOW)) == expected


@pytest.mark.parametrize("change", [renew_token, expire_token])
@pytest.mark.parametrize("proof", [b"", PROOF[:-1], PROOF + b"x", bytes(64), ID.encode()])
def test_a_wrong_hmac_names_no_token(change: Any, proof: bytes) -> None:
    assert code(lambda: change(ONE, TERMS, proof, OWNER, HOUR, NOW)) == error_codes.DELEGATION_TOKEN_NOT_FOUND
    other = TokenSettings(b"another key", TERMS.max_lifetime_ms, TERMS.expiry_time_ms)
    assert code(lambda: change(ONE, other, PROOF, OWNER, HOUR, NOW)) == error_codes.DELEGATION_TOKEN_NOT_FOUND


# Until when


@pytest.mark.parametrize("change", [renew_token, expire_token])
@pytest.mark.parametrize(("period", "end"), [(HOUR, HOUR), (DAY, DAY), (1, 1)])
def test_token_period_is_counted_from_now(change: Any, period: int, end: int) -> None:
    later = NOW + HOUR
    decision = change(ONE, TERMS, PROOF, OWNER, period, later)
    assert decision.results == [later + end]
    [found] = image_with(token(), *decision.records).tokens.values()
    assert found == ONE.tokens[ID]._replace(expiration_timestamp=later + end)


@pytest.mark.parametrize("period", [-1, 0, 2 * DAY, MAX_TIMESTAMP])
def test_token_renewal_is_bounded_by_the_settings(period: int) -> None:
    assert renew_token(ONE, TERMS, PROOF, OWNER, period, NOW).results == [NOW + DAY]


def test_an_owner_may_put_the_end_off_further_than_a_renewal_does() -> None:
    assert expire_token(ONE, TERMS, PROOF, OWNER, 2 * DAY, NOW).results == [NOW + 2 * DAY]
    assert expire_token(ONE, TERMS, PROOF, OWNER, 0, NOW).results == [NOW]


def test_token_renewal_is_limited_by_its_max_timestamp() -> None:
    image = image_with(token(), *expire_token(ONE, TERMS, PROOF, OWNER, MAX_TIMESTAMP, NOW).records)
    assert image.tokens[ID].expiration_timestamp == END
    assert renew_token(image, TERMS, PROOF, OWNER, -1, END - HOUR).results == [END]


@pytest.mark.parametrize("change", [renew_token, expire_token])
def test_an_expired_token_is_not_renewed(change: Any) -> None:
    last = NOW + DAY
    assert code(lambda: change(ONE, TERMS, PROOF, OWNER, HOUR, last)) == NONE
    assert code(lambda: change(ONE, TERMS, PROOF, OWNER, HOUR, last + 1)) == error_codes.DELEGATION_TOKEN_EXPIRED
    put_off = image_with(
        token(),
        made("DelegationTokenRecord", token_id=ID, owner=OWNER, max_timestamp=1, expiration_timestamp=MAX_TIMESTAMP),
    )
    assert code(lambda: change(put_off, TERMS, PROOF, OWNER, HOUR, 2)) == error_codes.DELEGATION_TOKEN_EXPIRED


def test_a_stranger_gets_expired_for_a_renewal_and_owner_mismatch_for_an_expiry() -> None:
    later = END + 1
    assert code(lambda: renew_token(ONE, TERMS, PROOF, STRANGER, 1, later)) == error_codes.DELEGATION_TOKEN_EXPIRED
    assert (
        code(lambda: expire_token(ONE, TERMS, PROOF, STRANGER, 1, later)) == error_codes.DELEGATION_TOKEN_OWNER_MISMATCH
    )


@pytest.mark.parametrize("now", [NOW, END + 1])
def test_a_negative_period_ends_a_token_at_once_even_an_expired_one(now: int) -> None:
    decision = expire_token(ONE, TERMS, PROOF, OWNER, -1, now)
    assert decision.results == [now]
    assert image_with(token(), *decision.records).tokens == EMPTY.tokens


def test_only_expired_tokens_are_swept_away() -> None:
    def kept(expires: int, ends: int) -> set[str]:
        fields = {"token_id": "t", "expiration_timestamp": expires, "max_timestamp": ends}
        record = made("DelegationTokenRecord", **fields)
        return {*image_with(record, *sweep_expired_tokens(image_with(record), NOW)).tokens}

    assert kept(NOW, NOW) == kept(NOW, NOW + 1) == {"t"}
    assert kept(NOW - 1, NOW + 1) == kept(NOW + 1, NOW - 1) == set()


def test_no_sweep_is_more_than_one_batch_takes() -> None:
    image = image_with(
        *(made("DelegationTokenRecord", token_id=str(number)) for number in range(MAX_RECORDS_PER_USER_OP + 1))
    )
    first = sweep_expired_tokens(image, NOW)
    assert len(first) == MAX_RECORDS_PER_USER_OP
    assert len(sweep_expired_tokens(after(image, first), NOW)) == 1


# On which terms


def test_the_terms_are_those_of_the_settings() -> None:
    assert token_settings_of(Settings()) is None
    assert token_settings_of(Settings({"delegation.token.secret.key": ""})) is None
    assert token_settings_of(Settings({"delegation.token.secret.key": "k\u00e4y"})) == TokenSettings(
        "k\u00e4y".encode(), 7 * DAY, DAY
    )
    given = {"delegation.token.max.lifetime.ms": 5, "delegation.token.expiry.time.ms": 3}
    assert token_settings_of(Settings({"delegation.token.secret.key": "k", **given})) == TokenSettings(b"k", 5, 3)


def test_tokens_need_a_secret_key_and_their_metadata_version() -> None:
    level = image_with(made("FeatureLevelRecord", name="metadata.version", feature_level=13))
    assert code(lambda: checked_token_settings(level, None)) == error_codes.DELEGATION_TOKEN_AUTH_DISABLED
    assert code(lambda: checked_token_settings(level, TERMS)) == error_codes.UNSUPPORTED_VERSION
    known = image_with(made("FeatureLevelRecord", name="metadata.version", feature_level=14))
    assert checked_token_settings(known, TERMS) is TERMS
