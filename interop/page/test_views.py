"""The views of state, and what a click does: brokers, rules, verbs, and the clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, ShareConsumer

from kafkadouble import KafkaDouble
from kafkadouble.control.server import ControlServer
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.support.client import ask

expect = pytest.importorskip("playwright.sync_api", reason="SKIPPED: there is no Playwright").expect


def tab(page: Any, name: str) -> Any:
    page.click(f"#tab-{name}")
    return page.locator(f"#{name}")


def test_groups_of_the_newer_protocols(cluster: KafkaDouble, page: Any) -> None:
    page.goto(cluster.page)
    cluster.create_topic("orders", 2, replication_factor=3)
    groups = tab(page, "groups")
    servers = {"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0}
    consumer = Consumer({**servers, "group.id": "shop", "group.protocol": "consumer"})
    consumer.subscribe(["orders"])
    with ShareConsumer({**servers, "group.id": "tills"}) as till:
        till.subscribe(["orders"])
        for group in ("shop", "tills"):
            while not cluster.groups().get(group) or not cluster.groups()[group].members[0].assignment:
                consumer.poll(0.1)
                till.poll(0.1)
        groups.locator("text=/consumer, Stable, uniform, epoch [0-9]+, lag 0/").wait_for()
        groups.locator("text=/share, Stable, simple, epoch [0-9]+, lag/").wait_for()
        members = groups.locator("table").filter(has_text="orders-0, orders-1")
        expect(members.first.locator("th").nth(1)).to_have_text("epoch")
    consumer.close()
    groups.locator("text=/share, Empty, simple/").wait_for()


def test_topics_and_groups_as_they_change(cluster: KafkaDouble, page: Any, photograph: Callable[[str], None]) -> None:
    page.goto(cluster.page)
    topics = tab(page, "topics")
    topics.locator("text=There are no topics.").wait_for()
    cluster.create_topic("orders", 2, {"cleanup.policy": "compact"}, replication_factor=3)
    topics.locator("tbody tr").nth(1).wait_for()
    assert "compact" in topics.inner_text()
    cluster.produce("orders", "two pears", key="a", partition=1)
    expect(topics.locator("tbody tr").nth(1).locator("td").last).to_have_text("1")
    cells = topics.locator("tbody tr").nth(1).locator("td").all_inner_texts()
    assert cells[:3] == ["1", str(cluster.leader("orders", 1)), "0"]
    assert [sorted(cells[at].split(", ")) for at in (3, 4)] == [["1", "2", "3"]] * 2
    photograph("topics")
    settings = {"group.id": "shop", "auto.offset.reset": "earliest", "enable.auto.commit": False, "log_level": 0}
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, **settings})
    consumer.subscribe(["orders"])
    message = consumer.poll(30)
    assert message is not None
    assert message.value() == b"two pears"
    consumer.commit(asynchronous=False)
    cluster.produce("orders", "three pears", key="a", partition=1)
    groups = tab(page, "groups")
    groups.locator("text=classic, Stable, range").wait_for()
    expect(groups.locator("table").nth(1).locator("td").last).to_have_text("1")
    photograph("groups")
    consumer.close()
    groups.locator("text=classic, Empty").wait_for()


def test_transactions(kafka: KafkaDouble, page: Any) -> None:
    kafka.create_topic("orders")
    page.goto(kafka.page)
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": "shop-1", "log_level": 0})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("orders", "two pears")
    producer.flush(30)
    transactions = tab(page, "transactions")
    transactions.locator("tr", has_text="shop-1").filter(has_text="Ongoing").filter(has_text="orders-0").wait_for()
    producer.commit_transaction(30)
    transactions.locator("tr", has_text="CompleteCommit").wait_for()


def test_a_broker_is_killed_and_started_by_a_click(
    cluster: KafkaDouble, page: Any, photograph: Callable[[str], None]
) -> None:
    page.goto(cluster.page)
    second = tab(page, "brokers").locator("tbody tr").nth(1)
    second.locator("button", has_text="Pause").click()
    second.locator("button", has_text="Resume").click()
    second.locator("button", has_text="Kill").click()
    second.locator("text=stopped").wait_for()
    assert not cluster.brokers[2].running
    photograph("brokers")
    second.locator("button", has_text="Start").click()
    second.locator("text=running").wait_for()
    cluster.wait_for_broker(2)


def test_buttons_of_a_broker_do_what_they_say(cluster: KafkaDouble, page: Any) -> None:
    page.goto(cluster.page)
    row = tab(page, "brokers").locator("tbody tr").nth(2)
    for button, state in (
        ("Isolate", "isolated"),
        ("Join", "running"),
        ("Stop", "stopped"),
        ("Start", "running"),
        ("Pause", "paused"),
        ("Resume", "running"),
    ):
        row.locator("button", has_text=button).click()
        row.locator(f"text={state}").wait_for()
        assert cluster.describe_cluster().brokers[3].state == state


def test_brokers_show_what_they_lead(cluster: KafkaDouble, page: Any) -> None:
    page.goto(cluster.page)
    brokers = tab(page, "brokers")
    brokers.locator("text=The active controller is node 4.").wait_for()
    led = brokers.locator("tbody td:nth-child(5)")
    expect(led).to_have_text(["0", "0", "0"])
    cluster.create_topic("orders", 6, replication_factor=3)
    expect(led).to_have_text(["2", "2", "2"])
    expect(page.locator("#tab-topics")).to_have_text("Topics1")


def test_a_single_broker_goes_down_and_up(kafka: KafkaDouble, page: Any) -> None:
    page.goto(kafka.page)
    brokers = tab(page, "brokers")
    brokers.locator("button", has_text="Down").click()
    brokers.locator("button", has_text="Up").click()
    brokers.locator("text=running").wait_for()


def test_a_rule_is_armed_and_released_by_a_click(
    kafka: KafkaDouble, page: Any, photograph: Callable[[str], None]
) -> None:
    page.goto(kafka.page)
    rules = tab(page, "rules")
    rules.locator("text=There are no armed rules.").wait_for()
    page.fill("#rules [name=api]", "Produce")
    page.fill("#rules [name=error]", "NOT_LEADER_OR_FOLLOWER")
    page.fill("#rules [name=times]", "2")
    page.click("#rules form button")
    row = page.locator("#armed tbody tr")
    row.wait_for()
    expect(page.locator("#tab-rules")).to_have_text("Rules1")
    assert row.locator("td").all_inner_texts()[1:4] == ["fail: error=NOT_LEADER_OR_FOLLOWER", "api=Produce", "times=2"]
    photograph("rules")
    (armed,) = kafka.rules
    assert (armed.rule.match.api, armed.rule.trigger.times) == ("Produce", 2)
    row.locator("button", has_text="Release").click()
    rules.locator("text=There are no armed rules.").wait_for()
    assert kafka.rules == []


def test_a_button_can_be_pressed_while_its_row_changes(kafka: KafkaDouble, page: Any) -> None:
    page.goto(kafka.page)
    tab(page, "rules")
    kafka.delay("Metadata", 0, times=None)
    kafka.delay("Fetch", 0, times=None)
    row = page.locator("#armed tbody tr").first
    row.locator("button").hover()
    page.mouse.down()
    ask(("127.0.0.1", kafka.port), MetadataRequest(topics=[]), 12)
    expect(row.locator("td").nth(4)).to_have_text("1")
    page.mouse.up()
    expect(page.locator("#armed tbody tr")).to_have_count(1)
    # The button that moved to the first row releases the other rule.
    row.locator("button").click()
    page.locator("text=There are no armed rules.").wait_for()
    assert kafka.rules == []


def test_page_offers_names_of_apis_and_errors(kafka: KafkaDouble, page: Any) -> None:
    page.goto(kafka.page)
    tab(page, "rules")
    for name, offered in (("api", "InitProducerId"), ("error", "NOT_LEADER_OR_FOLLOWER")):
        given = page.get_attribute(f"#rules [name={name}]", "list")
        assert page.locator(f"datalist#{given} option[value={offered}]").count() == 1


def test_a_wrong_value_is_explained(kafka: KafkaDouble, page: Any) -> None:
    page.goto(kafka.page)
    tab(page, "rules")
    page.fill("#rules [name=api]", "Produze")
    page.fill("#rules [name=error]", "6")
    page.click("#rules form button")
    page.locator("#message", has_text="did you mean 'Produce'").wait_for()
    assert any("400" in each for each in page.problems)
    page.problems.clear()


def test_the_next_request_like_this_one_fails(kafka: KafkaDouble, page: Any) -> None:
    kafka.create_topic("orders")
    page.goto(kafka.page)
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "client.id": "shop", "log_level": 0})
    producer.produce("orders", "two pears")
    producer.flush(30)
    page.locator(".row", has_text="Produce").click()
    page.click("#fail-next")
    page.locator("#message", has_text="The next Produce of shop fails with UNKNOWN_SERVER_ERROR").wait_for()
    tab(page, "rules")
    page.locator("#armed tbody tr").wait_for()
    (armed,) = kafka.rules
    assert (armed.rule.match.api, armed.rule.match.client_id) == ("Produce", "shop")


def test_any_verb_is_called(kafka: KafkaDouble, page: Any) -> None:
    page.goto(kafka.page)
    verbs = tab(page, "verbs")
    page.fill("#verbs [name=name]", "orders")
    page.fill("#verbs [name=partitions]", "3")
    page.fill("#verbs [name=config]", '{"retention.ms": 1000}')
    page.click("#verbs form button")
    verbs.locator("text=result: null").wait_for()
    assert len(kafka.topics()["orders"].partitions) == 3
    assert kafka.topics()["orders"].configs == {"retention.ms": "1000"}


def test_the_clock(kafka: KafkaDouble, page: Any) -> None:
    page.goto(kafka.page)
    page.click("#freeze")
    page.locator("#freeze", has_text="Unfreeze").wait_for()
    before = kafka.describe_cluster().now_ms
    page.fill("#seconds", "60.5")
    page.click("#advance")
    then = datetime.fromtimestamp((before + 60_500) / 1000, UTC).isoformat(" ", "milliseconds")
    expect(page.locator("#clock")).to_have_text(then.removesuffix("+00:00"))
    kafka.create_topic("orders")
    page.click("#reset")
    page.locator("#freeze", has_text="Freeze").filter(has_not_text="Unfreeze").wait_for()
    assert kafka.topics() == {}


def test_the_clock_before_the_names_of_apis_have_come(kafka: KafkaDouble, page: Any) -> None:
    held: list[Any] = []
    page.route("**/names", lambda route: held.append(route))  # it wants a function of Python
    page.goto(kafka.page)
    page.click("#freeze")
    page.locator("#freeze", has_text="Unfreeze").wait_for()
    assert held
    held[0].continue_()
    page.locator("datalist#apis").wait_for(state="attached")


@pytest.mark.parametrize("name", ["requests", "topics", "rules"])
def test_page_has_a_light_and_a_dark_theme(kafka: KafkaDouble, page: Any, name: str) -> None:
    page.goto(f"{kafka.page}#{name}")
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    page.click("#theme")
    assert page.evaluate(colour) == "rgb(17, 22, 28)"
    page.reload()
    assert page.evaluate(colour) == "rgb(17, 22, 28)"
    page.emulate_media(color_scheme="dark")
    page.click("#theme")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"


def test_a_token_is_asked_for_once(kafka: KafkaDouble, page: Any) -> None:
    asked = []

    def answer(dialog: Any) -> None:
        asked.append(dialog.message)
        dialog.accept("a-token-of-a-test")

    page.on("dialog", answer)
    with ControlServer(kafka, token="a-token-of-a-test") as control:
        page.goto(control.url)
        page.wait_for_selector("#connection[data-state=live]")
        page.reload()
        page.wait_for_selector("#connection[data-state=live]")
        page.goto("about:blank")
    assert asked[0] == "The token of the control plane"
    assert all("401" in each for each in page.problems)
    page.problems.clear()


def test_a_server_that_ends_and_comes_back(kafka: KafkaDouble, page: Any) -> None:
    with ControlServer(kafka) as control:
        port = control.port
        page.goto(control.url)
        page.wait_for_selector("#connection[data-state=live]")
    page.wait_for_selector("#connection[data-state=lost]")
    with ControlServer(kafka, port):
        page.wait_for_selector("#connection[data-state=live]")
        page.goto("about:blank")
    page.problems.clear()


def test_another_process_behind_the_same_address(kafka: KafkaDouble, page: Any) -> None:
    def ask_as(double: KafkaDouble, client_id: str) -> None:
        ask(("127.0.0.1", double.port), MetadataRequest(topics=[]), 12, client_id=client_id)

    for _ in range(3):
        ask_as(kafka, "before")
    with ControlServer(kafka) as control:
        port = control.port
        page.goto(control.url)
        expect(page.locator(".row", has_text="before")).to_have_count(3)
    with KafkaDouble(seed=2) as other, ControlServer(other, port):
        ask_as(other, "after")
        expect(page.locator(".row")).to_have_count(1)
        assert "after" in page.inner_text(".row")
        page.goto("about:blank")
    page.problems.clear()
