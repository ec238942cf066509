"""Delegation tokens over the wire: which clients may request them, what the answer says, what stays
in the log, and expiry."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.access_control_entry_record import AccessControlEntryRecord
from kafkadouble.messages.generated.create_delegation_token import CreateDelegationTokenRequest
from kafkadouble.messages.generated.describe_delegation_token import DescribeDelegationTokenRequest
from kafkadouble.messages.generated.expire_delegation_token import ExpireDelegationTokenRequest
from kafkadouble.messages.generated.renew_delegation_token import RenewDelegationTokenRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.faults.rule import Rule
from kafkadouble.server.security.acls import USER
from kafkadouble.server.security.authorizer import CREATE_TOKENS, STANDARD
from tests.server.controllers import Controllers
from tests.server.forwarded import ask_as
from tests.server.handlers.controller_listener import versions
from tests.server.harness import Harness
from tests.server.images import image_of_log, image_of_snapshot

KEY: dict[str, object] = {"delegation.token.secret.key": "key"}
CHECKED, HOUR = "delegation.token.expiry.check.interval.ms", 3_600_000
ANN, BOB, EVE = "User:ann", "User:bob", "User:eve"
ALLOW, LITERAL = 3, 3
REFUSED = error_codes.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
DISABLED = error_codes.DELEGATION_TOKEN_AUTH_DISABLED
FORWARDED = ["CreateDelegationToken", "RenewDelegationToken", "ExpireDelegationToken"]
EVERY = [(name, version) for name in FORWARDED for version in versions(name)]


@pytest.fixture
def cluster() -> Controllers:
    return led(1, KEY)


def led(count: int, settings: dict[str, object]) -> Controllers:
    controllers = Controllers(count, settings)
    controllers.elect()
    return controllers


def creation(version: int = 3, owner: str = "", renewers: tuple[str, ...] = (), lifetime: int = -1) -> Any:
    of = CreateDelegationTokenRequest
    pairs = (renewer.split(":") for renewer in renewers)
    named = [of.CreatableRenewers(principal_type=kind, principal_name=name) for kind, name in pairs]
    body = of(renewers=named, max_lifetime_ms=lifetime)
    if version >= 3 and owner:
        body.owner_principal_type, body.owner_principal_name = owner.split(":")
    return body


def renewal(hmac: bytes = b"", period: int = -1) -> Message:
    return RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=period)


def end(hmac: bytes = b"", period: int = -1) -> Message:
    return ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=period)


BODIES = dict(zip(FORWARDED, (creation(), renewal(), end()), strict=True))


def token(cluster: Controllers, principal: str = ANN, **fields: Any) -> Any:
    """A new token, as the answer gave it."""
    made = ask_as(cluster, creation(**fields), 3, principal)
    assert made.error_code == 0, made
    return made


def times(answer: Any) -> tuple[int, int, int]:
    return answer.issue_timestamp_ms, answer.expiry_timestamp_ms, answer.max_timestamp_ms


def kept(cluster: Controllers) -> set[str]:
    """The ids of tokens in the image; the replayed log and a snapshot must give the same."""
    image = cluster.leader.controller.image
    assert image_of_log(cluster.leader.controller.log.batches(0)) == image == image_of_snapshot(image)
    return {*image.tokens}


# Permission to request tokens


@pytest.mark.parametrize(("name", "version"), EVERY)
def test_token_requests_are_refused_in_plaintext_and_with_a_token(
    cluster: Controllers, name: str, version: int
) -> None:
    answers = [
        cluster.ask(cluster.leader, BODIES[name], version),
        ask_as(cluster, BODIES[name], version, ANN, by_token=True),
    ]
    for answer in answers:
        assert (answer.error_code, answer.expiry_timestamp_ms) == (REFUSED, -1)
    assert kept(cluster) == set()


@pytest.mark.parametrize("version", versions("CreateDelegationToken"))
def test_a_refusal_names_the_owner_of_the_requested_token(cluster: Controllers, version: int) -> None:
    answer = ask_as(cluster, creation(version, BOB), version, ANN, by_token=True)
    assert (answer.principal_type, answer.principal_name) == ("User", "ann" if version < 3 else "bob")
    assert answer.token_requester_principal_name == ("" if version < 3 else "ann")
    assert (times(answer), answer.token_id, answer.hmac) == ((-1, -1, -1), "", b"")


@pytest.mark.parametrize(
    "body", [*BODIES.values(), DescribeDelegationTokenRequest(owners=None)], ids=lambda each: type(each).__name__
)
def test_broker_refuses_token_requests_without_the_controller(cluster: Controllers, body: Message) -> None:
    """The controller would accept a forwarded request, because it relies on the broker's check."""
    cluster.add_brokers([11])
    assert cluster.ask(cluster.nodes[11], body, 2).error_code == REFUSED
    assert kept(cluster) == set()


def test_token_owner_without_type_is_a_server_error_before_all_checks(cluster: Controllers) -> None:
    body = creation()
    body.owner_principal_type, body.owner_principal_name = None, "bob"
    for answer in (
        ask_as(cluster, body, 3, ANN),
        ask_as(cluster, body, 3, ANN, by_token=True),
        cluster.ask(cluster.leader, body, 3),
    ):
        assert answer.error_code == error_codes.UNKNOWN_SERVER_ERROR
        assert (answer.principal_name, answer.token_requester_principal_name) == ("ANONYMOUS", "ANONYMOUS")
        assert times(answer) == (-1, -1, -1)


def test_token_request_can_be_failed_by_a_rule(cluster: Controllers) -> None:
    body = creation()
    body.owner_principal_type, body.owner_principal_name = None, "bob"
    cluster.leader.faults.arm(Rule.of(action="fail", api=FORWARDED[0], error="DELEGATION_TOKEN_AUTH_DISABLED"))
    assert cluster.ask(cluster.leader, body, 3).error_code == DISABLED


def test_a_token_for_another_user_needs_a_right_on_that_user() -> None:
    cluster = led(1, {**KEY, "authorizer.class.name": STANDARD, "super.users": "User:ANONYMOUS"})
    denied = ask_as(cluster, creation(owner=BOB), 3, ANN)
    assert denied.error_code == error_codes.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    assert (denied.principal_name, denied.token_requester_principal_name, times(denied)) == ("bob", "ann", (-1, -1, -1))
    assert token(cluster).principal_name == "ann", "one's own take no right"
    assert token(cluster, owner=ANN).principal_name == "ann", "nor if the request names its own principal as the owner"
    acl = AccessControlEntryRecord(
        id=Uuid(bytes([1]) * 16),
        resource_type=USER,
        resource_name=BOB,
        pattern_type=LITERAL,
        principal=ANN,
        host="*",
        operation=CREATE_TOKENS,
        permission_type=ALLOW,
    )
    cluster.leader.controller.commit([acl])
    assert token(cluster, owner=BOB).principal_name == "bob"
    other = ask_as(cluster, creation(owner=EVE), 3, ANN)
    assert other.error_code == error_codes.DELEGATION_TOKEN_AUTHORIZATION_FAILED


# What the answers say


@pytest.mark.parametrize(("name", "version"), EVERY)
def test_tokens_without_a_secret_key_are_disabled(name: str, version: int) -> None:
    cluster = led(1, {})
    answer = ask_as(cluster, BODIES[name], version, ANN)
    assert (answer.error_code, answer.expiry_timestamp_ms) == (DISABLED, 0)


def test_a_refusal_of_the_terms_names_the_owner_and_no_times() -> None:
    answer = ask_as(led(1, {}), creation(owner=BOB), 3, ANN)
    assert (answer.principal_name, answer.token_requester_principal_name, times(answer)) == ("bob", "ann", (0, 0, 0))
    answer = ask_as(led(1, KEY), creation(renewers=("Group:g",)), 3, ANN)
    assert (answer.error_code, times(answer)) == (error_codes.INVALID_PRINCIPAL_TYPE, (0, 0, 0))


@pytest.mark.parametrize("version", versions("CreateDelegationToken"))
def test_a_created_token_is_returned_with_its_hmac(cluster: Controllers, version: int) -> None:
    answer = ask_as(cluster, creation(version, BOB, (EVE,), HOUR), version, ANN)
    assert (answer.error_code, answer.principal_name) == (0, "ann" if version < 3 else "bob")
    now = cluster.now
    assert times(answer) == (now, now + HOUR, now + HOUR)
    assert len(answer.hmac) == 64
    found = cluster.leader.controller.image.tokens[answer.token_id]
    owner = ANN if version < 3 else BOB
    assert found == (owner, ANN, (EVE,), now, now + HOUR, now + HOUR)


@pytest.mark.parametrize("version", versions("RenewDelegationToken"))
def test_owner_and_renewer_renew_and_expire_a_token(cluster: Controllers, version: int) -> None:
    mine = token(cluster, renewers=(BOB,))
    cluster.step(1000)
    for principal in (ANN, BOB):
        answer = ask_as(cluster, renewal(mine.hmac, HOUR), version, principal)
        assert (answer.error_code, answer.expiry_timestamp_ms) == (0, cluster.now + HOUR)
        answer = ask_as(cluster, end(mine.hmac, 2 * HOUR), version, principal)
        assert (answer.error_code, answer.expiry_timestamp_ms) == (0, cluster.now + 2 * HOUR)
    for body in (renewal(mine.hmac), end(mine.hmac)):
        answer = ask_as(cluster, body, version, EVE)
        assert answer.error_code == error_codes.DELEGATION_TOKEN_OWNER_MISMATCH
        assert answer.expiry_timestamp_ms == 0
    assert kept(cluster) == {mine.token_id}
    answer = ask_as(cluster, end(mine.hmac), version, ANN)
    assert (answer.error_code, answer.expiry_timestamp_ms) == (0, cluster.now)
    assert kept(cluster) == set()
    for body in (renewal(mine.hmac), end(mine.hmac)):
        assert ask_as(cluster, body, version, ANN).error_code == error_codes.DELEGATION_TOKEN_NOT_FOUND


# Time


def test_expired_token_is_refused_at_once_and_removed_at_the_next_check() -> None:
    cluster = Harness({**KEY, CHECKED: 10_000, "delegation.token.expiry.time.ms": 4000})
    cluster.peer.may_ask_for_tokens = True
    first, second = (cluster.submit(creation(), 3) for _ in range(2))
    cluster.tick(4000)
    assert cluster.submit(renewal(second.hmac), 2).error_code == 0
    cluster.tick(1)
    assert cluster.submit(renewal(first.hmac), 2).error_code == error_codes.DELEGATION_TOKEN_EXPIRED
    cluster.tick(3999)
    assert {*cluster.image.tokens} == {first.token_id, second.token_id}
    cluster.tick(2000)
    assert {*cluster.image.tokens} == set()
    third = cluster.submit(creation(), 3)
    cluster.tick(9999)
    assert {*cluster.image.tokens} == {third.token_id}
    cluster.tick(1)
    assert not cluster.image.tokens, "it is looked for again and again"


def test_next_controller_removes_expired_tokens() -> None:
    cluster = led(3, {**KEY, CHECKED: 2000})
    old, renewed = token(cluster, lifetime=3000), token(cluster)
    first = cluster.leader.id
    cluster.kill(first)
    cluster.until(lambda: any(node.controller.leads for node in cluster.nodes.values()))
    assert cluster.leader.id != first
    cluster.until(lambda: {*cluster.leader.controller.image.tokens} == {renewed.token_id})
    assert cluster.now > old.max_timestamp_ms
    for node in cluster.nodes.values():
        cluster.until(lambda node=node: {*node.controller.image.tokens} == {renewed.token_id})  # type: ignore[misc]  # mypy takes no default
    assert ask_as(cluster, renewal(renewed.hmac), 2, ANN).error_code == 0


def test_tokens_survive_a_restart(cluster: Controllers) -> None:
    mine = token(cluster)
    cluster.kill(1)
    cluster.restart(1)
    cluster.elect()
    assert kept(cluster) == {mine.token_id}
    assert ask_as(cluster, renewal(mine.hmac), 2, ANN).error_code == 0
