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
    ScramUserResult,
    alter_scram_credentials,
)
from kafkadouble.server.metadata.image import EMPTY, ScramCredential
from kafkadouble.server.metadata.replay import replay
from tests.server.controller.small_clusters import after
from tests.server.metadata.cluster_story import made
from tests.support.slices import all_slices

SHA_256, SHA_512 = 1, 2


def upsertion(
    name: str, mechanism: int = SHA_256, iterations: int = 4096, salted: bytes = b"salted"
) -> AlterUserScramCredentialsRequest.ScramCredentialUpsertion:
    return AlterUserScramCredentialsRequest.ScramCredentialUpsertion(
        name=name, mechanism=mechanism, iterations=iterations, salt=b"salt", salted_password=salted
    )


@pytest.mark.parametrize(("mechanism", "hash"), [(SHA_256, "sha256"), (SHA_512, "sha512")])
def test_scram_record_holds_keys_and_no_password(mechanism: int, hash: str) -> None:
    requested = upsertion("u", mechanism, 5000, b"\x01\x02")
    image = after(EMPTY, all_slices(alter_scram_credentials(EMPTY, [], [requested])).records)
    client = hmac.digest(b"\x01\x02", b"Client Key", hash)
    stored, server = hashlib.new(hash, client).digest(), hmac.digest(b"\x01\x02", b"Server Key", hash)
    assert dict(image.scram) == {("u", mechanism): ScramCredential(b"salt", stored, server, 5000)}


def test_scram_credentials_need_metadata_version_11() -> None:
    image = replay(EMPTY, made("FeatureLevelRecord", name="metadata.version", feature_level=10))
    unsupported = (error_codes.UNSUPPORTED_VERSION, "The current metadata.version does not support SCRAM")
    assert all_slices(alter_scram_credentials(image, [], [upsertion(""), upsertion("u")])).results == [
        ScramUserResult("", *unsupported),
        ScramUserResult("u", *unsupported),
    ]
    at_eleven = replay(image, made("FeatureLevelRecord", name="metadata.version", feature_level=11))
    assert all_slices(alter_scram_credentials(at_eleven, [], [upsertion("u")])).results == [ScramUserResult("u")]
