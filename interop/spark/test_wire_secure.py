"""`kafka-wire` with an Apache Kafka that requires authentication. It accepts the options of Spark's
own connector, a refusal is explained in a sentence, and no password is shown."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from interop.one_node import MODULES
from interop.support import unique

from .secure_node import KEYS, WAYS

pytestmark = pytest.mark.timeout(900)

OURS, THEIRS = "kafka-wire", "kafka"
ROOT = Path(__file__).parents[2]


def options(secured: Mapping[str, str], way: str, **other: object) -> dict[str, str]:
    """The options of either source; `other` are properties that replace the valid ones, with
    underscores for dots."""
    listener, settings = WAYS[way]
    given = {"bootstrap.servers": secured[listener], **settings}
    given |= {name.replace("_", "."): value for name, value in other.items()}
    return {f"kafka.{name}": str(value) for name, value in given.items()}


def write(spark: Any, format: str, given: Mapping[str, str], topic: str, low: int, high: int) -> None:
    rows = spark.range(low, high).selectExpr("concat('k', id) as key", "string(id) as value")
    rows.write.format(format).options(**given, topic=topic).mode("append").save()


def read(spark: Any, format: str, given: Mapping[str, str], topic: str) -> list[tuple[Any, ...]]:
    return sorted_rows(spark.read.format(format).options(**given, subscribe=topic).load())


def stream(spark: Any, format: str, given: Mapping[str, str], topic: str) -> list[tuple[Any, ...]]:
    """A stream of all available rows, in several micro-batches."""
    source = spark.readStream.format(format).options(**given, subscribe=topic, startingOffsets="earliest")
    rows, name = source.option("maxOffsetsPerTrigger", 50).load(), unique("streamed").replace("-", "_")
    query = rows.writeStream.format("memory").queryName(name).trigger(availableNow=True).start()
    assert query.awaitTermination(600)
    return sorted_rows(spark.table(name))


def sorted_rows(rows: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in rows.collect()), key=lambda row: row[3:5])


@pytest.mark.parametrize("way", ["SASL PLAIN", "SASL over TLS", "a certificate"])
def test_the_same_options_let_both_in(spark: Any, secured: Mapping[str, str], way: str) -> None:
    given, topic = options(secured, way), unique("secure")
    write(spark, OURS, given, topic, 0, 60)
    write(spark, THEIRS, given, topic, 60, 120)
    theirs = read(spark, THEIRS, given, topic)
    assert sorted(int(value) for _, value, *_ in theirs) == list(range(120))
    assert read(spark, OURS, given, topic) == theirs
    assert stream(spark, OURS, given, topic) == stream(spark, THEIRS, given, topic) == theirs


KINDS: dict[str, Callable[[Any, Mapping[str, str]], object]] = {
    "batch": lambda spark, given: read(spark, OURS, given, "refused"),
    "stream": lambda spark, given: stream(spark, OURS, given, "refused"),
    "sink": lambda spark, given: write(spark, OURS, given, "refused", 0, 1),
}
WRONG = {"sasl_jaas_config": f'{MODULES}.scram.ScramLoginModule required username="bob" password="wrong-secret";'}
REFUSED: dict[str, tuple[str, Mapping[str, object], str]] = {
    "a wrong password": ("SASL over TLS", WRONG, "refuses this user by SCRAM-SHA-512: SASL_AUTHENTICATION_FAILED"),
    "a wrong password, plainly": (
        "SASL PLAIN",
        {"sasl_jaas_config": f'{MODULES}.plain.PlainLoginModule required username="bob" password="wrong-secret";'},
        "refuses this user by PLAIN: SASL_AUTHENTICATION_FAILED",
    ),
    "an unknown CA": (
        "SASL over TLS",
        {"ssl_truststore_location": KEYS / "stranger.pem"},
        "shows a certificate that is not trusted: self-signed certificate; look at ssl.truststore.location",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("way", "wrong", "why"), REFUSED.values(), ids=REFUSED)
def test_a_refused_client_gets_the_reason(
    spark: Any, secured: Mapping[str, str], way: str, wrong: Mapping[str, object], why: str, kind: str
) -> None:
    given = options(secured, way, **wrong)
    sentence = rf"\bNotAuthenticated: broker {given['kafka.bootstrap.servers']} [^\n]*{re.escape(why)}"
    with pytest.raises(Exception, match=sentence) as caught:
        KINDS[kind](spark, given)
    assert "-secret" not in str(caught.value)


def test_a_password_is_not_shown(secured: Mapping[str, str], tmp_path: Path) -> None:
    """The password is in no plan, no error, no checkpoint, and no line of the log at any log
    level."""
    given = options(secured, "SASL over TLS"), options(secured, "SASL over TLS", **WRONG)
    done = subprocess.run(
        [sys.executable, "-m", "interop.spark.secret_queries", str(tmp_path)], input=json.dumps(given),
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "ROWS 20\n" in done.stdout
    assert done.stdout.count("== Physical Plan ==") == 3
    assert done.stdout.count("REFUSED ") == 3
    assert " DEBUG " in done.stderr
    written = [path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 3
    assert not [
        line[:300] for text in (done.stdout, done.stderr, *written) for line in text.splitlines() if "-secret" in line
    ]
