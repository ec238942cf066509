"""Key stores that a client names in IncrementalAlterConfigs: nothing is waited for, and the work is
bounded."""

from __future__ import annotations

import base64
import os
import threading
from pathlib import Path

import pytest

from kafkadouble.access.certificates import Certificates
from kafkadouble.server.apis.served import SERVED
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.requests.listener_spec import ListenerSpec
from kafkadouble.server.security.tls.certificate_names import LONGEST_IDENTIFIER, rfc2253
from kafkadouble.server.security.tls.key_derivation import MOST_ROUNDS, rounds_of
from kafkadouble.server.security.tls.key_stores import LONGEST_TEXT
from kafkadouble.server.security.tls.listener_contexts import ListenerContexts
from kafkadouble.wire.errors import WireError

pytest.importorskip("cryptography")

PREFIX = "listener.name.ssl."
SPECS = [ListenerSpec("SSL", "SSL", ("127.0.0.1", 0), None, SERVED)]


@pytest.fixture
def contexts() -> ListenerContexts:
    return ListenerContexts(settings(**pair()), SPECS)


def pair() -> dict[str, str]:
    made = Certificates("valid", ["localhost"])
    key, certificate = made.of_brokers()
    made.close()
    return {"ssl.keystore.key": key, "ssl.keystore.certificate.chain": certificate}


def settings(**given: object) -> Settings:
    return Settings({f"{PREFIX}ssl.keystore.type": "PEM", **{f"{PREFIX}{name}": text for name, text in given.items()}})


def der(tag: int, *contents: bytes) -> bytes:
    content = b"".join(contents)
    size = len(content)
    length = bytes([size]) if size < 128 else b"\x82" + size.to_bytes(2)
    return bytes([tag]) + length + content


def encrypted(*cost: int) -> str:
    """A key that PBES2 encrypts (RFC 8018), whose derivation has these parameters behind its
    salt."""
    numbers = [der(0x02, number.to_bytes(number.bit_length() // 8 + 1)) for number in cost]
    derivation = der(0x30, der(0x06, bytes.fromhex("2a864886f70d01050c")), der(0x30, der(0x04, b"salt" * 2), *numbers))
    cipher = der(0x30, der(0x06, bytes.fromhex("60864801650304012a")), der(0x04, bytes(16)))
    algorithm = der(0x30, der(0x06, bytes.fromhex("2a864886f70d01050d")), der(0x30, derivation, cipher))
    text = base64.encodebytes(der(0x30, algorithm, der(0x04, bytes(128)))).decode()
    return f"-----BEGIN ENCRYPTED PRIVATE KEY-----\n{text}-----END ENCRYPTED PRIVATE KEY-----"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
@pytest.mark.parametrize("name", ["fifo", "/dev/zero", "."])
def test_a_location_that_is_no_regular_file_is_refused_at_once(
    contexts: ListenerContexts, tmp_path: Path, name: str
) -> None:
    os.mkfifo(tmp_path / "fifo")
    path = str(tmp_path / name) if name == "fifo" else name
    problems: list[str] = []
    altered = settings(**{"ssl.keystore.location": path})
    asking = threading.Thread(target=lambda: problems.append(contexts.problem_of(altered)), daemon=True)
    asking.start()
    asking.join(20)
    assert problems
    assert f"{path} cannot be read: it is no regular file" in problems[0]


@pytest.mark.parametrize(
    ("cost", "rounds"), [((2048,), 2048), ((2**31 - 1,), 2**31 - 1), ((16384, 8, 1), 16384), ((8, 2**40), 2**40)]
)
def test_the_work_of_a_key_is_known_before_it_is_done(cost: tuple[int, ...], rounds: int) -> None:
    assert rounds_of(encrypted(*cost)) == rounds


def indefinite(text: str) -> str:
    """The same key in BER, whose outer sequence has no length."""
    begin, *lines, end = text.splitlines()
    data = base64.b64decode("".join(lines))
    changed = b"\x30\x80" + data[4 if data[1] == 0x82 else 2 :] + bytes(2)
    return "\n".join([begin, base64.b64encode(changed).decode(), end])


@pytest.mark.parametrize(
    "text",
    [
        indefinite(encrypted(2**31 - 1)),
        encrypted(2048).replace("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", 1),
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----",
        encrypted(2048).replace("\n", "\n!", 1),
    ],
    ids=["BER", "encrypted twice", "of openssl alone", "base64"],
)
def test_key_with_an_unknown_encryption_counts_as_too_many_rounds(text: str) -> None:
    assert rounds_of(text) > MOST_ROUNDS


def test_a_key_without_encryption_takes_no_work() -> None:
    assert rounds_of("") == rounds_of(pair()["ssl.keystore.key"]) == 0


@pytest.mark.parametrize(("rounds", "refused"), [(MOST_ROUNDS, False), (MOST_ROUNDS + 1, True), (2**31 - 1, True)])
def test_a_key_that_takes_too_many_rounds_is_refused_without_them(
    contexts: ListenerContexts, rounds: int, refused: bool
) -> None:
    chain = pair()["ssl.keystore.certificate.chain"]
    altered = settings(**{"ssl.keystore.key": encrypted(rounds), "ssl.keystore.certificate.chain": chain})
    problem = contexts.problem_of(altered)
    assert (f"the key takes more than {MOST_ROUNDS} rounds to decrypt" in problem) is refused, problem


def test_certificate_text_that_is_too_long_is_refused(contexts: ListenerContexts) -> None:
    long = settings(**{**pair(), "ssl.keystore.certificate.chain": "x" * (LONGEST_TEXT + 1)})
    assert "is longer than 1 MiB: this is no store" in contexts.problem_of(long)


def test_certificate_with_an_endless_object_identifier_is_refused() -> None:
    """Its number would be shifted once for each byte."""
    attribute = der(0x30, der(0x06, b"\x81" * (LONGEST_IDENTIFIER + 1)), der(0x0C, b"x"))
    with pytest.raises(WireError, match="an object identifier of more than 100 bytes"):
        rfc2253(der(0x30, der(0x31, attribute)))
