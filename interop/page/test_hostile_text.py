"""Text that clients choose is text on the page: markup in it makes no element and runs nothing, and
controls of direction do not reach beyond their own element."""

from __future__ import annotations

import socket
from contextlib import closing
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.messages import headers
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.wire.frame import Frames

pytest.importorskip("playwright.sync_api", reason="SKIPPED: there is no Playwright")

RUNS = '"><img src=x onerror="window.ran = 1"><script>window.ran = 2</script>'
HOSTILE = f"{RUNS}\x1b[2J\u202e\u2066\x07"
TABS = ("requests", "topics", "groups", "transactions", "brokers", "rules")


@pytest.fixture
def address(kafka: KafkaDouble) -> tuple[str, int]:
    host, _, port = kafka.bootstrap_servers.rpartition(":")
    return host, int(port)


def ask(address: tuple[str, int], body: Any, version: int, client_id: str) -> Any:
    with closing(socket.create_connection(address, 30)) as sock:
        sock.sendall(b"".join(headers.write_request(body, 1, client_id, version)))
        frames, found = Frames(), list[Any]()
        while not found:
            found = frames.feed(sock.recv(1 << 16))
    return headers.read_response(bytes(found[0]), body.api_key, version)[1]


@pytest.fixture
def filled(kafka: KafkaDouble, address: tuple[str, int]) -> KafkaDouble:
    """A double to which a client has sent hostile text wherever the page shows text."""
    kafka.create_topic("orders")
    topic = MetadataRequest.MetadataRequestTopic(name=HOSTILE)
    ask(address, MetadataRequest(topics=[topic]), 12, HOSTILE)
    kafka.commit_offsets(HOSTILE, {("orders", 0): 0})
    kafka.fail("Produce", "NOT_LEADER_OR_FOLLOWER", client_id=HOSTILE)
    kafka.snapshot(HOSTILE)
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(name=HOSTILE, metadata=b"")
    join = JoinGroupRequest(
        group_id=f"{HOSTILE} joined",
        session_timeout_ms=30_000,
        rebalance_timeout_ms=30_000,
        member_id="",
        group_instance_id="static",
        protocol_type=HOSTILE,
        protocols=[protocol],
        reason=HOSTILE,
    )
    ask(address, join, 9, HOSTILE)
    return kafka


def test_text_of_clients_is_not_markup_on_the_page(filled: KafkaDouble, page: Any) -> None:
    page.goto(filled.page)
    shown = set()
    for tab in TABS:
        page.click(f"#tab-{tab}")
        place = page.locator(f"#{tab}")
        place.wait_for()
        if tab in ("requests", "groups", "rules"):
            place.get_by_text("onerror").first.wait_for()
            shown.add(tab)
        assert page.evaluate("window.ran") is None
        assert page.locator("img").count() == 0
        assert page.evaluate("[...document.scripts].every((each) => each.src)")
    page.click("#tab-requests")
    page.locator("#requests").get_by_text("onerror").first.click()
    page.locator("#detail").get_by_text("onerror").first.wait_for()
    assert page.evaluate("window.ran") is None
    assert page.locator("img").count() == 0
    assert shown == {"requests", "groups", "rules"}


def test_page_ends_direction_controls_with_their_element(filled: KafkaDouble, page: Any) -> None:
    page.goto(filled.page)
    page.locator("#requests").get_by_text("onerror").first.wait_for()
    assert page.evaluate(
        "[...document.querySelectorAll('body *')].every((each) => getComputedStyle(each).unicodeBidi.includes('isolate'))"
    )
