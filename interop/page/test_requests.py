"""The view of requests: they come as they are made, and each one is shown whole."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Producer

from kafkadouble import KafkaDouble
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.support.client import ask

expect = pytest.importorskip("playwright.sync_api", reason="SKIPPED: there is no Playwright").expect

MANY = 100_000


def produce(kafka: KafkaDouble, *values: str, client_id: str = "shop") -> None:
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "client.id": client_id, "log_level": 0})
    for value in values:
        producer.produce("orders", value)
    assert producer.flush(30) == 0


def test_requests_come_and_are_shown(kafka: KafkaDouble, page: Any, photograph: Callable[[str], None]) -> None:
    kafka.create_topic("orders")
    page.goto(kafka.page)
    page.wait_for_selector("#connection[data-state=live]")
    kafka.fail("Produce", "NOT_LEADER_OR_FOLLOWER")
    produce(kafka, "two pears")
    failed = page.locator(".row", has_text="NOT_LEADER_OR_FOLLOWER")
    failed.wait_for()
    assert "orders-0" in failed.inner_text()
    assert "rule: fail" in failed.inner_text()
    failed.click()
    page.locator("#detail-body summary", has_text="topicData").first.wait_for()
    assert "NOT_LEADER_OR_FOLLOWER" in page.inner_text("#detail-title")
    assert "errorCode: 6 NOT_LEADER_OR_FOLLOWER" in page.inner_text("#detail-body")
    photograph("tree")
    page.emulate_media(color_scheme="dark")
    page.keyboard.press("h")
    dump = page.locator("pre.hexdump")
    dump.nth(1).wait_for()
    assert "answer: ProduceResponse" in page.locator("#detail-body h2").all_inner_texts()
    assert re.search(r"responses\[0\]\S+\.error_code = 6 NOT_LEADER_OR_FOLLOWER", dump.nth(1).inner_text())
    photograph("hexdump")
    page.keyboard.press("Escape")
    assert page.is_hidden("#detail")


def test_a_request_that_waits_is_seen_to_end(kafka: KafkaDouble, page: Any) -> None:
    kafka.create_topic("orders")
    page.goto(kafka.page)
    page.wait_for_selector("#connection[data-state=live]")
    held = kafka.pause("Produce")
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0})
    producer.produce("orders", "two pears")
    waiting = page.locator(".row", has_text="waiting").filter(has_text="Produce")
    waiting.wait_for()
    waiting.click()
    held.release()
    page.locator("#detail-title", has_text="answered").wait_for()
    page.locator(".row", has_text="Produce").filter(has_text="answered").wait_for()
    assert producer.flush(30) == 0


def test_filter_pause_and_clear(kafka: KafkaDouble, page: Any) -> None:
    kafka.create_topic("orders")
    kafka.fail("Produce", "NOT_LEADER_OR_FOLLOWER")
    page.goto(kafka.page)
    produce(kafka, "two pears")
    page.locator(".row", has_text="Produce").nth(1).wait_for()
    page.keyboard.press("/")
    page.keyboard.type("produce")
    expect(page.locator("#count")).to_have_text(re.compile(r"^2 of \d+ requests"))
    assert all("Produce" in text for text in page.locator(".row").all_inner_texts())
    page.check("#errors")
    expect(page.locator("#count")).to_have_text(re.compile("^1 of "))
    page.uncheck("#errors")
    page.keyboard.press("Escape")
    page.locator("#list").focus()
    page.keyboard.press(" ")
    assert page.inner_text("#pause") == "Go on"
    produce(kafka, "three pears")
    came = len(kafka.requests)
    expect(page.locator("#count")).to_have_text(
        re.compile(f"^2 of ({'|'.join(map(str, range(came, came + 9)))}) requests")
    )
    assert page.locator(".row").count() == 2
    page.keyboard.press(" ")
    page.locator(".row", has_text="Produce").nth(2).wait_for()
    page.click("#clear")
    expect(page.locator(".row")).to_have_count(0)
    assert [request.api for request in kafka.requests if request.api == "Produce"] == []


@pytest.mark.parametrize(
    ("typed", "apis"),
    [
        ("shop produce", {"Produce"}),
        ("orders -produce", {"Metadata"}),
        ("-shop", set()),
        ("-", {"Produce", "Metadata"}),
    ],
)
def test_the_filter_takes_words(kafka: KafkaDouble, page: Any, typed: str, apis: set[str]) -> None:
    kafka.create_topic("orders")
    page.goto(kafka.page)
    produce(kafka, "two pears")
    page.locator(".row", has_text="Produce").wait_for()
    page.fill("#filter", typed)
    shown = {text.split()[1] for text in page.locator(".row").all_inner_texts()}
    assert shown - {"ApiVersions"} == apis


def test_a_row_is_chosen_while_requests_come(kafka: KafkaDouble, page: Any) -> None:
    ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12)
    page.goto(kafka.page)
    page.locator(".row").first.hover()
    page.mouse.down()
    ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12)
    page.locator(".row").nth(1).wait_for()
    page.mouse.up()
    assert page.get_attribute(".row[aria-selected=true]", "data-number") == "1"
    page.locator("#detail-body summary").first.wait_for()


def test_no_column_is_cut_off(kafka: KafkaDouble, page: Any) -> None:
    ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12)
    page.goto(kafka.page)
    page.locator("#empty").wait_for(state="hidden")
    heads = "[...document.querySelectorAll('.heads > *')].filter((each) => each.offsetWidth)"
    fits = "document.querySelector('#list').scrollWidth <= document.querySelector('#list').clientWidth"
    assert page.evaluate(f"{heads}.length") == 8
    assert page.evaluate(fits)
    page.locator(".row").click()
    page.locator("#detail").wait_for()
    assert page.evaluate(f"{heads}.map((each) => each.textContent)")[-1] == "took"
    assert page.evaluate(fits)


def test_keys_choose_requests(kafka: KafkaDouble, page: Any) -> None:
    for _ in range(3):
        ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12)
    page.goto(kafka.page)
    page.locator(".row").nth(2).wait_for()
    numbers = [int(each.get_attribute("data-number")) for each in page.locator(".row").all()]

    def chosen() -> int:
        return int(page.get_attribute(".row[aria-selected=true]", "data-number"))

    page.keyboard.press("j")
    assert chosen() == numbers[2]
    page.keyboard.press("k")
    assert chosen() == numbers[1]
    page.keyboard.press("Home")
    assert chosen() == numbers[0]
    page.keyboard.press("ArrowDown")
    assert chosen() == numbers[1]
    page.keyboard.press("ArrowUp")
    assert chosen() == numbers[0]
    page.keyboard.press("End")
    ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12)
    page.locator(".row").nth(3).wait_for()
    page.keyboard.press("Escape")
    assert page.is_hidden("#detail")
    for number, name in enumerate(("requests", "topics", "groups", "transactions", "brokers", "rules", "verbs"), 1):
        page.keyboard.press(str(number))
        assert page.is_visible(f"#{name}")
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")


def test_text_that_clients_send_is_shown_as_text(kafka: KafkaDouble, page: Any) -> None:
    evil = "<img src=x onerror=document.title='taken'>"
    kafka.create_topic("orders")
    page.goto(kafka.page)
    produce(kafka, evil, client_id=evil)
    kafka.commit_offsets(evil, {("orders", 0): 1})
    page.locator(".row", has_text="onerror").first.click()
    page.locator("#detail-title", has_text="onerror").wait_for()
    page.keyboard.press("3")
    page.locator("#groups", has_text="onerror").wait_for()
    assert page.locator("img").count() == 0
    assert page.title() == "kafkadouble"


def test_the_list_holds_many_requests(kafka: KafkaDouble, page: Any) -> None:
    ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12)
    (one,) = kafka.requests.to_json()
    like = {**one, "text": "12:00:00.000 Metadata v12", "request": None, "answer": None}
    events = "".join(
        f"event: request\ndata: {json.dumps({**like, 'number': number, 'client_id': f'client-{number}'})}\n\n"
        for number in range(1, MANY + 1)
    )
    page.route("**/events?*", lambda route: route.fulfill(content_type="text/event-stream", body=events))
    page.goto(kafka.page)
    page.locator(".row", has_text=f"client-{MANY}").wait_for(timeout=60_000)
    assert page.locator(".row").count() < 100
    assert page.inner_text("#count").startswith(f"{MANY} of {MANY} requests")
    page.evaluate("document.querySelector('#list').scrollTop = 0")
    page.locator(".row", has_text="client-1broker").first.wait_for()
    page.unroute_all()


def test_a_page_that_is_closed_leaves_nothing(kafka: KafkaDouble, browser: Any) -> None:
    for _ in range(3):
        context = browser.new_context()
        opened = context.new_page()
        opened.goto(kafka.page)
        opened.wait_for_selector("#connection[data-state=live]")
        context.close()
    while kafka._double_host.serving().broker.watches.checks:
        ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12)
