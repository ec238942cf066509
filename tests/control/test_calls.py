"""Calls of verbs over HTTP: what they return, and how they fail."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import jsonschema
import pytest

from kafkadouble import KafkaDouble, KafkaError
from kafkadouble.control.calls import verb_calls as calls
from kafkadouble.control.server import ControlServer
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.server.apis.served import ROWS
from kafkadouble.verbs.registry import VERBS
from tests.control.http import call, post
from tests.support.client import ask

JSON = [verb for verb in VERBS.values() if verb.is_for_json and not verb.reads_file]


def test_a_verb_returns_its_result(url: str, kafka: KafkaDouble) -> None:
    assert post(url, "create_topic", name="orders", partitions=2) is None
    assert post(url, "produce", topic="orders", value={"base64": "/w=="}, partition=1) == 0
    assert post(url, "records", topic="orders")[0]["value"] == {"base64": "/w=="}
    assert post(url, "commit_offsets", group="shop", offsets={"orders": {"1": 1}}) is None
    assert post(url, "groups")["shop"]["lags"] == {"orders": {"1": 0}}
    assert kafka.records("orders")[0].value == b"\xff"


def test_kafkas_error_has_its_code(url: str, kafka: KafkaDouble) -> None:
    with pytest.raises(KafkaError) as known:
        kafka.records("none")
    answer = call(url, "POST", "/verbs/records", {"topic": "none"})
    assert (answer.status, answer.error) == (
        409,
        {"kind": "kafka", "message": str(known.value), "code": 3, "name": "UNKNOWN_TOPIC_OR_PARTITION"},
    )


def test_failed_assert_seen_verb_shows_the_requests(url: str) -> None:
    answer = call(url, "POST", "/verbs/assert_seen", {"apis": ["Produce"]})
    assert (answer.status, answer.error["kind"]) == (422, "assertion")
    assert "Produce" in answer.error["message"]


def test_timed_out_wait_verb_is_http_408(url: str) -> None:
    answer = call(url, "POST", "/verbs/wait_for_topic", {"topic": "orders", "timeout": 0})
    assert (answer.status, answer.error["kind"]) == (408, "timeout")
    assert answer.error["message"].startswith("the topic orders: not within 0 s. There is: ")


def test_a_wait_returns_as_soon_as_the_state_is_there(url: str, kafka: KafkaDouble) -> None:
    with ThreadPoolExecutor() as pool:
        wait = pool.submit(post, url, "wait_for_records", topic="orders", timeout=60)
        kafka.produce("orders", "two pears")
        assert [each["value"] for each in wait.result()] == ["two pears"]


def test_many_waits_leave_room_for_calls(url: str, kafka: KafkaDouble) -> None:
    with ThreadPoolExecutor(80) as pool:
        waits = [pool.submit(post, url, "wait_for_topic", topic="orders", timeout=60) for _ in range(80)]
        turned = threading.Event()
        while len(kafka._double_host.serving().broker.watches.checks) < 80:
            turned.wait(0.001)
        assert post(url, "create_topic", name="orders") is None
        assert [wait.result() for wait in waits] == [None] * 80


def test_a_wait_ends_when_its_client_leaves(url: str, kafka: KafkaDouble) -> None:
    with pytest.raises(TimeoutError):
        call(url, "POST", "/verbs/wait_for_topic", {"topic": "orders", "timeout": 60}, timeout_s=0.2)
    turned = threading.Event()
    while kafka._double_host.serving().broker.watches.checks:
        turned.wait(0.001)


def test_unknown_verbs_and_paths_are_refused(url: str) -> None:
    answer = call(url, "POST", "/verbs/trunkate")
    assert (answer.status, answer.error["message"]) == (404, "there is no verb 'trunkate'; did you mean 'truncate'?")
    assert "only a Python program can call it" in call(url, "POST", "/verbs/on").error["message"]
    assert "send the contents with produce_all" in call(url, "POST", "/verbs/produce_file").error["message"]
    for method, path in (
        ("GET", "/none"),
        ("GET", "/verbs/../../etc/passwd"),
        ("GET", "//etc/passwd"),
        ("POST", "/verbs"),
    ):
        answer = call(url, method, path)
        assert answer.status in (404, 405)
        assert "GET /verbs/{name}" in answer.error["message"] or "no verb" in answer.error["message"]


def test_requests_are_listed_and_shown(url: str, kafka: KafkaDouble) -> None:
    before = call(url, "GET", "/requests").json["requests"]
    assert before == []
    for _ in range(3):
        ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12)
    first, second, third = call(url, "GET", "/requests").json["requests"]
    assert (first["api"], second["number"] - first["number"]) == ("Metadata", 1)
    after = call(url, "GET", f"/requests?after={first['number']}&limit=1").json["requests"]
    assert [each["number"] for each in after] == [second["number"]]
    shown = call(url, "GET", f"/requests/{third['number']}").json
    assert shown["answer"]["brokers"][0]["port"] == kafka.port
    assert third["text"] == repr(kafka.requests[-1])
    assert call(url, "GET", f"/requests/{third['number'] + 1}").status == 404
    for wrong in ("-1", "x", "1.5", "", "%D9%A3", "9" * 19):
        answer = call(url, "GET", f"/requests?after={wrong}")
        assert answer.status == 400, wrong


def test_the_latest_requests_are_listed(url: str, kafka: KafkaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(4):
        ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12)
    numbers = [request.number for request in kafka.requests]

    def listed(query: str) -> list[int]:
        return [each["number"] for each in call(url, "GET", f"/requests{query}").json["requests"]]

    assert (listed("?limit=2"), listed("?limit=0"), listed("?limit=9")) == (numbers[2:], [], numbers)
    assert listed(f"?after={numbers[0]}&limit=2") == numbers[1:3]
    monkeypatch.setattr(calls, "MOST_REQUESTS", 3)
    assert listed("") == numbers[1:]
    refused = call(url, "GET", "/requests?limit=4")
    assert (refused.status, refused.error["message"]) == (400, "limit is an integer from 0 to 3, not 4")


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/requests?limti=5", "/requests has no parameter 'limti'; did you mean 'limit'?; it has after, limit"),
        ("/requests?limit=5&limit=6", "limit is there 2 times: give it once"),
        ("/events?aftre=5", "/events has no parameter 'aftre'; did you mean 'after'?; it has after"),
        ("/views?topics", "/views has no parameter 'topics'; it has names"),
        ("/health?verbose=1", "/health has no parameter 'verbose'; it has none in its query"),
        ("/verbs/fail?api=Produce", "/verbs/fail has no parameter 'api'; it has none in its query"),
    ],
)
def test_query_of_a_call_takes_only_known_parameters(url: str, path: str, problem: str) -> None:
    answer = call(url, "GET", path)
    assert (answer.status, answer.error) == (400, {"kind": "usage", "message": problem})
    if path.startswith("/verbs"):
        assert call(url, "POST", path, {}).error["message"] == problem


def test_names_of_apis_and_errors(url: str) -> None:
    names = call(url, "GET", "/names").json
    assert names["errors"]["6"] == "NOT_LEADER_OR_FOLLOWER"
    assert names["apis"] == [row.name for row in ROWS]


def test_numbers_of_requests_go_on_after_a_reset(url: str, kafka: KafkaDouble) -> None:
    ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12)
    (before,) = call(url, "GET", "/requests").json["requests"]
    kafka.reset()
    ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12)
    (after,) = call(url, "GET", f"/requests?after={before['number']}").json["requests"]
    assert after["number"] == before["number"] + 1


def test_every_verb_is_described(url: str) -> None:
    found = {each["name"]: each for each in call(url, "GET", "/verbs").json["verbs"]}
    assert sorted(found) == sorted(each.name for each in JSON)
    assert call(url, "GET", "/verbs/truncate").json == found["truncate"]
    assert [each["name"] for each in found["truncate"]["parameters"]] == ["topic", "partition", "offset"]
    for each in found.values():
        for parameter in each["parameters"]:
            jsonschema.Draft202012Validator.check_schema(parameter["schema"])


def test_the_double_is_stopped() -> None:
    kafka = KafkaDouble()
    with ControlServer(kafka) as control:
        for path in ("/verbs/topics", "/verbs/wait_for_topic"):
            body = {"topic": "t"} if "wait" in path else {}
            assert call(control.url, "POST", path, body).error["message"] == "the double was not started"
        assert call(control.url, "GET", "/ready").status == 400
        assert call(control.url, "GET", "/health").status == 200
        with kafka:
            assert post(control.url, "topics") == {}
        assert call(control.url, "POST", "/verbs/topics", {}).error["message"] == "the double was stopped"


def test_control_server_leaves_no_thread_after_its_stop() -> None:
    before = {thread.name for thread in threading.enumerate()}
    with KafkaDouble() as kafka:
        for _ in range(3):
            with ControlServer(kafka) as control:
                assert post(control.url, "topics") == {}
            control.stop()
    assert {thread.name for thread in threading.enumerate()} <= before
