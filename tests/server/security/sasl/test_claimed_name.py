"""The name that a client gives in a message of a mechanism: found in what clients send, and never a
password, a token, or an exception."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from random import Random

import pytest

from kafkadouble.server.security.sasl import oauth_bearer, plain, scram
from kafkadouble.server.security.sasl.claimed_name import LONGEST, claimed_name
from kafkadouble.server.security.sasl.mechanisms import MECHANISMS

SCRAM = "SCRAM-SHA-256"


def bearer(claims: object) -> bytes:
    payload = urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return next(oauth_bearer.client_exchange(f"e30.{payload}."))


@pytest.mark.parametrize(
    ("mechanism", "message", "name"),
    [
        ("PLAIN", next(plain.client_exchange("alice", "secret")), "alice"),
        ("PLAIN", b"other\0alice\0secret", "alice"),
        ("PLAIN", b"alice\0secret", ""),
        ("PLAIN", b"\0alice\0secret\0more", ""),
        ("PLAIN", b"\0\xff\0secret", "\ufffd"),
        ("PLAIN", b"\0" + b"a" * (LONGEST + 1) + b"\0secret", ""),
        (SCRAM, next(scram.client_exchange(SCRAM, "a=b,c", "secret", nonce=lambda: "abc")), "a=b,c"),
        (
            "SCRAM-SHA-512",
            next(scram.client_exchange("SCRAM-SHA-512", "alice", "secret", nonce=lambda: "abc")),
            "alice",
        ),
        (SCRAM, b"c=biws,r=abc,p=AAAA", ""),
        ("OAUTHBEARER", bearer({"sub": "alice"}), "alice"),
        ("OAUTHBEARER", bearer({"sub": 5}), ""),
        ("OAUTHBEARER", bearer({"name": "alice"}), ""),
        ("OAUTHBEARER", bearer(["sub"]), ""),
        ("OAUTHBEARER", b"n,,\x01auth=Bearer abc\x01\x01", ""),
        ("OAUTHBEARER", b"n,,\x01auth=Bearer a.!.c\x01\x01", ""),
        ("OAUTHBEARER", b"\x01", ""),
        ("", b"\0alice\0secret", ""),
    ],
)
def test_claimed_user_of_a_sasl_message_is_found(mechanism: str, message: bytes, name: str) -> None:
    assert claimed_name(mechanism, message) == name


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_any_bytes_have_a_name_or_none(mechanism: str) -> None:
    random = Random(7)
    good = [next(plain.client_exchange("alice", "secret")), bearer({"sub": "alice"}), b"n,,n=alice,r=abc"]
    for _ in range(2000):
        message = bytearray(random.choice(good))
        for _ in range(random.randrange(4)):
            message[random.randrange(len(message))] = random.randrange(256)
        assert len(claimed_name(mechanism, bytes(message))) <= LONGEST


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_large_message_is_no_work(mechanism: str) -> None:
    """It would never end if the work grew with the square of the size."""
    for part in (b"a", b"\0", b"=", b",", b"n=", b"[" * 10):
        claimed_name(mechanism, part * 200_000)
        claimed_name(mechanism, b"n,,\x01auth=Bearer " + part * 100_000 + b"\x01\x01")
