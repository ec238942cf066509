"""Delegation tokens that a broker requests in a client's name: the answers of the controllers of a
kafkadouble and of an Apache Kafka to the same requests in Envelopes. Both have the same secret key.

Every case has a token of its own. Ids are random, times are current, and the HMAC of a token
depends on its id, so these are checked on each side alone. Kafka's controller reads a cache that
gets committed changes a moment later; a request of another user shows when it has them.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from kafkadouble.messages import error_codes, headers, registry
from kafkadouble.messages.fields import fields_of
from kafkadouble.messages.generated.create_delegation_token import CreateDelegationTokenRequest
from kafkadouble.messages.generated.default_principal_data import DefaultPrincipalData
from kafkadouble.messages.generated.envelope import EnvelopeRequest
from kafkadouble.messages.generated.expire_delegation_token import ExpireDelegationTokenRequest
from kafkadouble.messages.generated.renew_delegation_token import RenewDelegationTokenRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from tests.support import client
from tests.support.waiting import eventually

from .brokers import Addresses
from .brokers import controllers as two_controllers
from .envelopes import HERE

pytestmark = pytest.mark.usefixtures("kafka_jars")

KEY = "the-key"
HOUR, DAY, WEEK, LATEST = 3_600_000, 86_400_000, 604_800_000, 2**63 - 1
MINUTE = 60_000
CREATE, RENEW, EXPIRE = "CreateDelegationToken", "RenewDelegationToken", "ExpireDelegationToken"
ANN, BOB, CAROL, EVE = "ann", "bob", "carol", "eve"
"""Ann requests tokens, Bob owns those that are not hers, Carol may renew them, and Eve has no
rights to them."""

NAMES_OWNERS = 3
Answer = dict[str, Any]


@pytest.fixture(scope="module")
def controllers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    with two_controllers(tmp_path_factory.mktemp("tokens"), (f"delegation.token.secret.key={KEY}",)) as found:
        yield found


def ask(address: str, user: str, body: Message, version: int, *, by_token: bool = False) -> Any:
    """The response to a client for which a broker forwards the request."""
    principal = DefaultPrincipalData(type="User", name=user, token_authenticated=by_token)
    frame = b"".join(headers.write_request(body, 7, "client", version))[4:]
    envelope = EnvelopeRequest(
        request_data=frame, request_principal=bytes(2) + principal.encode(0), client_host_address=HERE
    )
    response = client.ask(address, envelope, 0)
    assert response.error_code == 0, response
    return headers.read_response(bytes(response.response_data), body.api_key or 0, version)[1]


def versions(api: str) -> range:
    low, high = registry.api_named(api).stable_versions
    return range(low, high + 1)


# Creating tokens


class Creation(NamedTuple):
    """A request to create a token."""

    lifetime: int = -1
    renewers: tuple[str, ...] = ()
    owner: tuple[str | None, str | None] = (None, None)
    by_token: bool = False

    def body(self, version: int) -> CreateDelegationTokenRequest:
        of = CreateDelegationTokenRequest
        pairs = (renewer.split(":") for renewer in self.renewers)
        renewers = [of.CreatableRenewers(principal_type=kind, principal_name=name) for kind, name in pairs]
        made = of(renewers=renewers, max_lifetime_ms=self.lifetime)
        if version >= NAMES_OWNERS:
            made.owner_principal_type, made.owner_principal_name = self.owner
        return made


CREATIONS = {
    **{f"for {ms} ms": Creation(ms) for ms in (-LATEST, -1, 0, 1, HOUR, DAY + HOUR, WEEK, WEEK + 1, LATEST)},
    "with renewers": Creation(renewers=("User:bob", "User:carol", "User:bob", "User:")),
    "with a renewer that is no user": Creation(renewers=("User:bob", "Group:g")),
    "with a renewer of no kind": Creation(renewers=(":bob",)),
    "for another": Creation(owner=("User", BOB)),
    "for a group": Creation(owner=("Group", "g")),
    "for an owner of no kind": Creation(owner=("", BOB)),
    "for an owner of kind null": Creation(owner=(None, BOB)),
    "for oneself by name": Creation(owner=("User", ANN)),
    "for an owner without a name": Creation(owner=("Group", "")),
    "for an owner with the name null": Creation(owner=("Group", None)),
    "by a token": Creation(by_token=True),
    "by a token, for another": Creation(owner=("User", BOB), by_token=True),
}


@pytest.mark.parametrize("case", CREATIONS)
@pytest.mark.parametrize("version", versions(CREATE))
def test_tokens_are_made_alike(controllers: Addresses, case: str, version: int) -> None:
    creation = CREATIONS[case]
    ours, theirs = (
        plain(ask(address, ANN, creation.body(version), version, by_token=creation.by_token)) for address in controllers
    )
    assert ours == theirs


def plain(answer: Any) -> Answer:
    """A token without the values that each side generates, after those were checked."""
    found = {field.name: getattr(answer, field.name) for field in fields_of(type(answer))}
    if answer.token_id:
        assert len(answer.token_id) == len(str(Uuid.ZERO))
        assert bytes(found.pop("hmac")) == hmac.digest(KEY.encode(), found.pop("token_id").encode(), "sha512")
        issued = found.pop("issue_timestamp_ms")
        assert abs(time.time() * 1000 - issued) < MINUTE
        found |= {name: found[name] - issued for name in ("expiry_timestamp_ms", "max_timestamp_ms")}
    return found


# Renewing and expiring tokens


class Change(NamedTuple):
    """A request for a token of Bob's, which Ann requested and Carol may renew. The changes are made
    one after the other."""

    api: str
    period: int
    user: str = BOB
    shows: bytes | None = None
    by_token: bool = False
    before: tuple[str, int] | None = None
    version: int = 2


CHANGES = {
    **{
        f"{api} by {user}": Change(api, HOUR, user)
        for api in (RENEW, EXPIRE)
        for user in (ANN, BOB, CAROL, EVE, "ANONYMOUS", "")
    },
    **{
        f"{api} for {ms} ms": Change(api, ms)
        for api in (RENEW, EXPIRE)
        for ms in (-LATEST, -1, 0, HOUR, DAY, DAY + HOUR, WEEK + HOUR, LATEST)
    },
    **{
        f"{api} showing {len(what)} bytes": Change(api, -1, shows=what)
        for api in (RENEW, EXPIRE)
        for what in (b"", b"ab", bytes(64))
    },
    **{f"{api} by a token": Change(api, HOUR, by_token=True) for api in (RENEW, EXPIRE)},
    **{
        f"{api} by {user} for {ms} ms of one that is over": Change(api, ms, user, before=(EXPIRE, 0))
        for api in (RENEW, EXPIRE)
        for user in (BOB, EVE)
        for ms in (-1, HOUR)
    },
    **{f"{api} of one that is deleted": Change(api, HOUR, before=(EXPIRE, -1)) for api in (RENEW, EXPIRE)},
    **{f"{api} of one that was to end sooner": Change(api, 2 * HOUR, before=(EXPIRE, HOUR)) for api in (RENEW, EXPIRE)},
    **{f"{api} in version 1": Change(api, HOUR, version=1) for api in (RENEW, EXPIRE)},
}
STATES = {
    error_codes.DELEGATION_TOKEN_OWNER_MISMATCH: "valid",
    error_codes.DELEGATION_TOKEN_EXPIRED: "over",
    error_codes.DELEGATION_TOKEN_NOT_FOUND: "deleted",
}


@pytest.mark.parametrize("case", CHANGES)
def test_tokens_are_renewed_and_ended_alike(controllers: Addresses, case: str) -> None:
    ours, theirs = (changed(address, CHANGES[case]) for address in controllers)
    assert ours == theirs


def changed(address: str, change: Change) -> tuple[int, int, str]:
    """The error code, the expiry as minutes from now if there is one, and the state of the
    token."""
    token = Creation(renewers=(f"User:{CAROL}",), owner=("User", BOB))
    shown = bytes(ask(address, ANN, token.body(3), 3).hmac)
    _becomes(address, shown, "valid")
    if change.before is not None:
        api, period = change.before
        assert ask(address, BOB, request_of(api, shown, period), 2).error_code == 0
        _becomes(address, shown, "valid" if period > 0 else "deleted" if period < 0 else "over")
    body = request_of(change.api, shown if change.shows is None else change.shows, change.period)
    before = time.time() * 1000
    answer = ask(address, change.user, body, change.version, by_token=change.by_token)
    end = answer.expiry_timestamp_ms
    if answer.error_code == 0 and change.api == EXPIRE and change.period <= 0:
        _becomes(address, shown, "deleted" if change.period < 0 else "over")
    return answer.error_code, round((end - before) / MINUTE) if end > 0 else end, state(address, shown)


def request_of(api: str, shown: bytes, period: int) -> Message:
    if api == RENEW:
        return RenewDelegationTokenRequest(hmac=shown, renew_period_ms=period)
    return ExpireDelegationTokenRequest(hmac=shown, expiry_time_period_ms=period)


def state(address: str, shown: bytes) -> str:
    """The state of a token, by the error that a user without rights gets for it."""
    return STATES[ask(address, EVE, request_of(RENEW, shown, -1), 2).error_code]


def _becomes(address: str, shown: bytes, expected: str) -> None:
    eventually(lambda: state(address, shown), lambda found: found == expected, within=20)
