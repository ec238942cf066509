"""Headers in the forms that libraries have are stored as meant, or refused."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.verbs.forms.json_form import from_json

AS_MEANT: dict[str, Any] = {
    "a mapping": {"trace": "7"},
    "pairs": [("trace", "7")],
    "lists": [["trace", b"7"]],
    "key and value": [{"key": "trace", "value": "7"}],
    "value and key": [{"value": b"7", "key": "trace"}],
    "one key": [{"trace": "7"}],
}
REFUSED: dict[str, Any] = {
    "a text of two letters": ["ab"],
    "bytes of two": [b"ab"],
    "three": [("trace", "7", "8")],
    "one": [("trace",)],
    "other keys": [{"name": "trace", "content": "7"}],
    "a key that is missing": [{"value": "7", "key": "trace", "type": "x"}],
    "a text": "ab",
    "a set": [{"trace", "7"}],
    "a name that is no text": [(b"trace", "7")],
    "a value that is a number": [{"key": "trace", "value": 7}],
}


@pytest.fixture(scope="module")
def kafka() -> Any:
    with KafkaDouble() as kafka:
        yield kafka


@pytest.mark.parametrize("form", AS_MEANT)
def test_a_form_of_libraries_is_stored_as_meant(kafka: KafkaDouble, form: str) -> None:
    headers = AS_MEANT[form]
    kafka.produce("one", "x", headers=headers)
    kafka.produce_all("many", [{"value": "x", "headers": headers}])
    for topic in ("one", "many"):
        assert kafka.records(topic)[-1].headers == (("trace", b"7"),), topic


@pytest.mark.parametrize("form", REFUSED)
def test_invalid_record_header_is_refused(kafka: KafkaDouble, form: str) -> None:
    with pytest.raises(UsageError, match=r"header|a key or a value"):
        kafka.produce("refused", "x", headers=REFUSED[form])
    with pytest.raises(UsageError, match=r"header|a key or a value"):
        kafka.produce_all("refused", [{"value": "x", "headers": REFUSED[form]}])


@pytest.mark.parametrize(
    "form",
    [["trace", {"base64": "Nw=="}], {"key": "trace", "value": {"base64": "Nw=="}}, {"trace": {"base64": "Nw=="}}],
)
def test_bytes_in_json_are_read_in_every_form(form: Any) -> None:
    assert from_json("headers", [form]) == [("trace", b"7")]
