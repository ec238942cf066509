"""AlterUserScramCredentials and DescribeUserScramCredentials: the table of errors, and which users
fail.
"""

from __future__ import annotations

import hashlib
import hmac

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from kafkadouble.server.controller.scram_credentials import (
    ScramUserDescription,
    ScramUserResult,
    alter_scram_credentials,
    describe_scram_credentials,
)
from kafkadouble.server.metadata.image import EMPTY, Image, ScramCredential
from kafkadouble.server.metadata.replay import replay
from tests.server.metadata.cluster_story import made
from tests.support.slices import all_slices

SHA_256, SHA_512 = 1, 2
TWICE = (error_codes.DUPLICATE_RESOURCE, "A user credential cannot be altered twice in the same request")
MISSING = (error_codes.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist")


def deletion(name: str, mechanism: int = SHA_256) -> AlterUserScramCredentialsRequest.ScramCredentialDeletion:
    return AlterUserScramCredentialsRequest.ScramCredentialDeletion(name=name, mechanism=mechanism)


def upsertion(
    name: str, mechanism: int = SHA_256, iterations: int = 4096, salted: bytes = b"salted"
) -> AlterUserScramCredentialsRequest.ScramCredentialUpsertion:
    return AlterUserScramCredentialsRequest.ScramCredentialUpsertion(
        name=name, mechanism=mechanism, iterations=iterations, salt=b"salt", salted_password=salted
    )


def after(image: Image, deletions: list[object], upsertions: list[object]) -> Image:
    # of the two makers above
    for record in all_slices(alter_scram_credentials(image, deletions, upsertions)).records:  # type: ignore[arg-type]
        image = replay(image, record)
    return image


@pytest.mark.parametrize(("mechanism", "hash"), [(SHA_256, "sha256"), (SHA_512, "sha512")])
def test_scram_record_holds_keys_and_no_password(mechanism: int, hash: str) -> None:
    image = after(EMPTY, [], [upsertion("u", mechanism, 5000, b"\x01\x02")])
    client = hmac.digest(b"\x01\x02", b"Client Key", hash)
    stored, server = hashlib.new(hash, client).digest(), hmac.digest(b"\x01\x02", b"Server Key", hash)
    assert dict(image.scram) == {("u", mechanism): ScramCredential(b"salt", stored, server, 5000)}


@pytest.mark.parametrize(
    ("requested", "code", "message"),
    [
        (upsertion("u"), 0, None),
        (upsertion("u", iterations=16384), 0, None),
        (upsertion(""), error_codes.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"),
        (upsertion("u", 3), error_codes.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
        (upsertion("u", 0), error_codes.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
        (upsertion("u", iterations=4095), error_codes.UNACCEPTABLE_CREDENTIAL, "Too few iterations"),
        (upsertion("u", iterations=16385), error_codes.UNACCEPTABLE_CREDENTIAL, "Too many iterations"),
        (upsertion("u", salted=b""), error_codes.UNKNOWN_SERVER_ERROR, None),
    ],
)
def test_upsertions(
    requested: AlterUserScramCredentialsRequest.ScramCredentialUpsertion, code: int, message: str | None
) -> None:
    decision = all_slices(alter_scram_credentials(EMPTY, [], [requested]))
    assert decision.results == [ScramUserResult(requested.name, code, message)]
    assert len(decision.records) == (not code)


def test_deletions() -> None:
    image = after(EMPTY, [], [upsertion("u")])
    assert all_slices(alter_scram_credentials(image, [deletion("u", SHA_512)], [])).results == [
        ScramUserResult("u", *MISSING)
    ]
    assert (
        all_slices(alter_scram_credentials(image, [deletion("u", 9)], [])).results[0].error_code
        == error_codes.UNSUPPORTED_SASL_MECHANISM
    )
    assert (
        all_slices(alter_scram_credentials(image, [deletion("")], [])).results[0].error_code
        == error_codes.UNACCEPTABLE_CREDENTIAL
    )
    assert after(image, [deletion("u")], []) == EMPTY


def test_a_duplicate_user_fails_with_the_first_failure() -> None:
    image = after(EMPTY, [], [upsertion("a"), upsertion("b"), upsertion("c")])
    decision = all_slices(
        alter_scram_credentials(
            image,
            [deletion("a"), deletion("b"), deletion("b"), deletion("b"), deletion("x"), deletion("x"), deletion("c")],
            [upsertion("a"), upsertion("d"), upsertion("d", SHA_512), upsertion("e"), upsertion("x")],
        )
    )
    assert decision.results == [
        ScramUserResult("c"),
        ScramUserResult("e"),
        ScramUserResult("b", *TWICE),
        ScramUserResult("x", *MISSING),
        ScramUserResult("a", *TWICE),
        ScramUserResult("d", *TWICE),
    ]
    assert len(decision.records) == 2


def test_below_level_11_there_are_none() -> None:
    image = replay(EMPTY, made("FeatureLevelRecord", name="metadata.version", feature_level=10))
    unsupported = (error_codes.UNSUPPORTED_VERSION, "The current metadata.version does not support SCRAM")
    assert all_slices(alter_scram_credentials(image, [deletion("")], [upsertion("u")])).results == [
        ScramUserResult("", *unsupported),
        ScramUserResult("u", *unsupported),
    ]
    at_eleven = replay(image, made("FeatureLevelRecord", name="metadata.version", feature_level=11))
    assert all_slices(alter_scram_credentials(at_eleven, [], [upsertion("u")])).results == [ScramUserResult("u")]


def test_the_answers_about_users() -> None:
    image = after(EMPTY, [], [upsertion("b", SHA_512, 8192), upsertion("a")])
    image = after(image, [], [upsertion("a", SHA_512, 9000)])
    a, b = ScramUserDescription("a", [(SHA_256, 4096), (SHA_512, 9000)]), ScramUserDescription("b", [(SHA_512, 8192)])
    assert all_slices(describe_scram_credentials(image, [])) == [a, b]
    assert all_slices(describe_scram_credentials(image, ["b"])) == [b]
    again = "Cannot describe SCRAM credentials for the same user twice in a single request: "
    none = "Attempt to describe a user credential that does not exist: "
    assert all_slices(describe_scram_credentials(image, ["x", "b", "a", "a", "y", "y"])) == [
        ScramUserDescription("x", [], error_codes.RESOURCE_NOT_FOUND, f"{none}x"),
        b,
        ScramUserDescription("a", [], error_codes.DUPLICATE_RESOURCE, f"{again}a"),
        ScramUserDescription("y", [], error_codes.DUPLICATE_RESOURCE, f"{again}y"),
    ]
    assert all_slices(describe_scram_credentials(EMPTY, [])) == []
