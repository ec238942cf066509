"""Credentials of a cluster that is being formatted."""

from __future__ import annotations

import base64
import hashlib

import pytest

from kafkadouble.server.security.scram import credential
from kafkadouble.wire.errors import UsageError

SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")


def no_chance(size: int) -> bytes:
    return b"s" * size


def test_the_keys_are_those_of_the_rfc() -> None:
    """RFC 7677, section 3: user, pencil, and what the server must know to answer."""
    text = f'SCRAM-SHA-256=[name=user,password=pencil,salt="{base64.b64encode(SALT).decode()}",iterations=4096]'
    made = credential(text, no_chance)
    assert (made.name, made.mechanism, made.salt, made.iterations) == ("user", 1, SALT, 4096)
    assert base64.b64encode(made.stored_key) == b"WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY="
    assert base64.b64encode(made.server_key) == b"wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="


def test_a_salted_password_gives_the_same_keys() -> None:
    salted = base64.b64encode(hashlib.pbkdf2_hmac("sha512", b"secret", SALT, 5000)).decode()
    salt = base64.b64encode(SALT).decode()
    plain = credential(f"SCRAM-SHA-512=[name=a,password=secret,salt={salt},iterations=5000]", no_chance)
    assert plain == credential(f"SCRAM-SHA-512=[name=a,saltedpassword={salted},salt={salt},iterations=5000]", no_chance)
    assert plain.mechanism == 2


def test_scram_salt_is_generated_if_missing() -> None:
    assert credential("SCRAM-SHA-256=[name=a,password=b]", no_chance).salt == b"s" * 32


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("alice", "are known"),
        ("SCRAM-SHA-1=[name=a,password=b]", "are known"),
        ("SCRAM-SHA-256=name=a", r"\[ and \]"),
        ("SCRAM-SHA-256=[password=hidden]", "by name="),
        ("SCRAM-SHA-256=[name=a]", "a password= or"),
        ("SCRAM-SHA-256=[name=a,saltedpassword=aaaa]", "needs its salt"),
        ("SCRAM-SHA-256=[name=a,password=hidden,iterations=10]", "from 4096 to 16384"),
        ("SCRAM-SHA-256=[name=a,password=hidden,salt=%]", "salt is not base64"),
        ("SCRAM-SHA-256=[name=a,password=hidden,colour=red]", "no 'colour'"),
    ],
)
def test_an_error_does_not_contain_the_password(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        credential(text, no_chance)
    assert "hidden" not in str(caught.value)
