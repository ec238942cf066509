"""The files of the live page: only those of the table are served, and nothing else is loaded."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.control.assets import ASSETS, Asset
from kafkadouble.control.server import ControlServer
from tests.control.http import call

FOLDER = files("kafkadouble.control").joinpath("page")


@pytest.mark.parametrize("asset", ASSETS, ids=lambda asset: asset.path)
def test_a_file_is_served(url: str, asset: Asset) -> None:
    answer = call(url, "GET", asset.path)
    assert (answer.status, answer.body) == (200, FOLDER.joinpath(asset.file).read_bytes())
    assert answer.headers["content-type"].startswith(asset.media_type)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_every_file_is_in_the_table() -> None:
    assert sorted(each.file for each in ASSETS) == sorted(path.name for path in FOLDER.iterdir())


def test_page_loads_no_asset_of_another_host() -> None:
    paths = {each.path for each in ASSETS}
    for asset in ASSETS:
        text = FOLDER.joinpath(asset.file).read_text()
        assert "//" not in re.sub(r"^\s*//.*|\s//\s.*", "", text, flags=re.MULTILINE), asset.file
        for name in re.findall(r"(?:href|src)=\"(page/[^\"]+)\"", text):
            assert f"/{name}" in paths
        for name in re.findall(r"from \"\./([^\"]+)\"", text):
            assert f"/page/{name}" in paths


MARKUP = (
    *("innerHTML", "outerHTML", "insertAdjacentHTML", "setHTML", "document.write", "createContextualFragment"),
    *("DOMParser", "srcdoc", "eval(", "new Function", "javascript:", 'setTimeout("', "import("),
)
"""What turns text into elements or programs."""


@pytest.mark.parametrize("word", MARKUP)
def test_text_of_clients_is_never_markup_or_code(word: str) -> None:
    """`interop/page/test_hostile_text.py` shows it in a browser."""
    assert [each.file for each in ASSETS if word.lower() in FOLDER.joinpath(each.file).read_text().lower()] == []


def test_no_handler_is_in_the_markup() -> None:
    assert re.findall(r"<[^>]*\son\w+=", FOLDER.joinpath("index.html").read_text()) == []


@pytest.mark.parametrize(
    "path", ["/page/", "/page/index.html", "/page/../app.py", "/page/%2e%2e/app.py", "/page//etc/passwd"]
)
def test_no_other_file_is_served(url: str, path: str) -> None:
    assert call(url, "GET", path).status == 404


def test_the_files_need_no_token_and_the_calls_do() -> None:
    with KafkaDouble() as kafka, ControlServer(kafka, token="a-token-of-a-test") as control:
        assert call(control.url, "GET", "/").status == 200
        assert call(control.url, "GET", "/requests").status == 401
        linked = {"Sec-Fetch-Site": "cross-site"}
        assert call(control.url, "GET", "/", headers=linked).status == 200
        assert call(control.url, "GET", "/requests", headers=linked).status == 403


def test_the_page_of_a_double() -> None:
    with KafkaDouble() as kafka:
        page = kafka.page
        assert kafka.page == page
        assert b"<title>kafkadouble</title>" in call(page.removesuffix("/"), "GET", "/").body
    with pytest.raises(ConnectionRefusedError):
        call(page.removesuffix("/"), "GET", "/")
    with kafka:
        assert call(kafka.page.removesuffix("/"), "GET", "/").status == 200
