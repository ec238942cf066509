"""The stream of requests, as server-sent events."""

from __future__ import annotations

import http.client
from concurrent.futures import ThreadPoolExecutor

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.control import app
from kafkadouble.control.http import streams
from kafkadouble.control.server import ControlServer
from kafkadouble.control.views import request_events, view_events
from kafkadouble.control.views.request_events import RequestEvents
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.control.events import streaming
from tests.control.http import call
from tests.support.client import ask


def metadata(kafka: KafkaDouble, times: int = 1) -> None:
    for _ in range(times):
        ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12)


def test_requests_come_as_they_are_answered(url: str, kafka: KafkaDouble) -> None:
    metadata(kafka)
    with streaming(url) as stream:
        metadata(kafka)
        name, data = stream.next()
        assert (name, data["api"], data["number"]) == ("request", "Metadata", kafka.requests[-1].number)
        while data["outcome"] == "waiting":
            _, data = stream.next()
        assert (data["outcome"], data["text"]) == ("answered", repr(kafka.requests[-1]))


def test_a_request_that_waits_comes_twice(url: str, kafka: KafkaDouble) -> None:
    held = kafka.pause("Metadata")
    with streaming(url) as stream, ThreadPoolExecutor() as pool:
        asking = pool.submit(metadata, kafka)
        first = stream.next()[1]
        assert (first["outcome"], first["took"]) == ("waiting", None)
        held.release()
        second = stream.next()[1]
        assert (second["number"], second["outcome"], second["rules"]) == (first["number"], "answered", ["pause"])
        asking.result()


def test_a_stream_begins_after_a_number(url: str, kafka: KafkaDouble) -> None:
    metadata(kafka, 3)
    first, *rest = (request.number for request in kafka.requests)
    for path, headers in ((f"/events?after={first}", {}), ("/events", {"Last-Event-ID": str(first)})):
        with streaming(url, path, headers) as stream:
            assert [stream.next()[1]["number"] for _ in rest] == rest
    assert call(url, "GET", "/events?after=x").status == 400


async def test_a_text_has_one_batch(kafka: KafkaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_events, "BATCH", 2)
    metadata(kafka, 5)
    events = RequestEvents(kafka, kafka.requests[-5].number - 1)
    counts = [events.new().count("event: request")]
    while events.has_more:
        counts.append(events.new().count("event: request"))
    assert counts == [2, 2, 1]


def test_missed_events_of_a_stream_are_counted(url: str, kafka: KafkaDouble) -> None:
    metadata(kafka, 3)
    first = kafka.requests[0].number
    kafka.requests.clear()
    metadata(kafka)
    with streaming(url, f"/events?after={first}") as stream:
        assert stream.next() == ("lost", {"requests": 2})
        assert stream.next()[1]["number"] == first + 3


def test_a_reader_that_knows_requests_of_an_earlier_process(url: str, kafka: KafkaDouble) -> None:
    metadata(kafka)
    newest = kafka.requests[-1].number
    with streaming(url, f"/events?after={newest + 1}") as stream:
        assert stream.next() == ("restarted", {})
        assert stream.next()[1]["number"] == kafka.requests[0].number
        metadata(kafka)
        assert stream.next()[1]["number"] == newest + 1
    with streaming(url, f"/events?after={newest + 1}") as stream:
        metadata(kafka)
        assert stream.next()[0] == "request"


def test_a_stream_goes_on_after_a_reset(url: str, kafka: KafkaDouble) -> None:
    metadata(kafka)
    with streaming(url) as stream:
        kafka.reset()
        metadata(kafka)
        assert stream.next()[1]["api"] == "Metadata"


def test_streams_are_bounded_and_leave_nothing(url: str, kafka: KafkaDouble, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "MOST_STREAMS", 2)
    with streaming(url), streaming(url):
        refused = call(url, "GET", "/events")
        assert (refused.status, refused.error["message"]) == (503, "2 streams are open: close one of them")
        assert len(kafka._double_host.serving().broker.watches.checks) == 2
    while kafka._double_host.serving().broker.watches.checks:
        metadata(kafka)
    with streaming(url):
        pass


def test_a_quiet_stream_is_kept_open(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "KEEP_ALIVE_S", 0.05)
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)
    connection.request("GET", "/events")
    response = connection.getresponse()
    seen = [response.readline() for _ in range(6)]
    connection.close()
    assert seen[0] == b": kafkadouble\n"
    assert seen.count(b": nothing new\n") >= 2


def test_views_come_again_when_they_change(url: str, kafka: KafkaDouble) -> None:
    with streaming(url, "/views?names=topics,rules") as stream:
        assert [stream.next(), stream.next()] == [("topics", {}), ("rules", [])]
        kafka.create_topic("orders")
        name, topics = stream.next()
        assert (name, topics["orders"]["partitions"]["0"]["end_offset"]) == ("topics", 0)
        kafka.produce("orders", "two pears")
        assert stream.next()[1]["orders"]["partitions"]["0"]["end_offset"] == 1
        kafka.ignore("Fetch")
        assert [each["id"] for each in stream.next()[1]] == [1]


def test_every_view_is_there(url: str) -> None:
    with streaming(url, "/views") as stream:
        assert {stream.next()[0] for _ in view_events.VIEWS} == set(view_events.VIEWS)
    refused = call(url, "GET", "/views?names=topic")
    assert (refused.status, refused.error["message"]) == (
        400,
        "there is no view 'topic'; did you mean 'topics'?; "
        "there are describe_cluster, topics, groups, transactions, rules, snapshots",
    )


def test_a_stream_ends_with_the_double() -> None:
    with KafkaDouble() as kafka, ControlServer(kafka) as control, streaming(control.url, "/views") as stream:
        stream.next()
        kafka.stop()
        stream.drain()
