"""`kafkadouble inspect`: from files, standard input and the command line, in every style, with the
documented exit codes."""

from __future__ import annotations

import base64
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kafkadouble.__main__ import main
from kafkadouble.messages import ApiVersionsRequest, FetchResponse, TopicRecord
from kafkadouble.messages.headers import write_request, write_response
from kafkadouble.wire.batch import Record, encode_batch

ROOT = Path(__file__).resolve().parents[2]
LOG = ROOT / "tests" / "golden" / "cluster_metadata-0" / "00000000000000000000.log"
HELLO = b"".join(write_request(ApiVersionsRequest(client_software_name="a", client_software_version="b"), 1, "", 3))
Run = Callable[..., tuple[int, str, str]]
"""Maps command line words to exit code, standard output and standard error."""
LINE = (
    "ApiVersions request, version 3, 20 bytes, correlation 1, client '': "
    "ApiVersionsRequest{ClientSoftwareName='a', ClientSoftwareVersion='b'}\n"
)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*words: object) -> tuple[int, str, str]:
        try:
            code = main(["inspect", *map(str, words)])
        except SystemExit as left:
            code = int(left.code or 0)
        output = capsys.readouterr()
        return code, output.out, output.err

    return call


@pytest.mark.parametrize(
    ("written", "form"),
    [
        (HELLO, "auto"),
        (HELLO, "binary"),
        (HELLO.hex().encode(), "auto"),
        (b"0x" + HELLO.hex(" ").upper().encode() + b"\n", "hex"),
        (base64.b64encode(HELLO), "auto"),
        (base64.encodebytes(HELLO), "base64"),
    ],
)
def test_bytes_are_found_however_they_are_written(run: Run, tmp_path: Path, written: bytes, form: str) -> None:
    path = tmp_path / "request"
    path.write_bytes(written)
    assert run(path, "--input", form, "--style", "line") == (0, LINE, "")


def test_bytes_from_the_command_line_and_from_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("--hex", HELLO.hex(":"), "--style", "line") == (0, LINE, "")
    for words in ((), ("-",)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(HELLO)))
        assert run(*words, "--style", "line") == (0, LINE, "")


def test_inspect_reads_each_style_of_a_request(run: Run) -> None:
    _, tree, _ = run("--hex", HELLO.hex())
    assert "    RequestApiKey: 18 ApiVersions\n" in tree
    _, dump, _ = run("--hex", HELLO.hex(), "--style", "hex")
    assert "0000000e  00                       RequestHeader, count of tagged fields = 0\n" in dump
    _, text, _ = run("--hex", HELLO.hex(), "--style", "json")
    assert json.loads(text)["body"]["data"]["clientSoftwareName"] == "a"


def test_inspect_reads_several_frames_in_sequence(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "requests"
    path.write_bytes(HELLO * 3)
    assert run(path, "--style", "line") == (0, LINE * 3, "")
    code, dump, _ = run(path, "--style", "hex")
    offsets = [int(line.split()[0], 16) for line in dump.splitlines()]
    assert code == 0
    assert offsets == sorted(set(offsets))
    assert f"{2 * len(HELLO):08x}  00 00 00 10              size = 16\n" in dump


def test_a_response_needs_its_api_and_version(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "response"
    path.write_bytes(b"".join(write_response(FetchResponse(error_code=6), 1, 1, 12)))
    for api in ("Fetch", "1"):
        code, tree, _ = run(path, "--as", "response", "--api", api, "--version", "12")
        assert code == 0
        assert "ErrorCode: 6 NOT_LEADER_OR_FOLLOWER" in tree
    for words in ((), ("--api", "Fetch"), ("--version", "12"), ("--api", "Fetsch", "--version", "12")):
        code, _, errors = run(path, "--as", "response", *words)
        assert code == 2
        assert "kafkadouble inspect: error: " in errors


def test_a_message_without_a_header(run: Run) -> None:
    body = HELLO[15:].hex()
    by_name = run("--hex", body, "--as", "ApiVersionsRequest", "--version", 3)
    assert by_name == run("--hex", body, "--as", "message", "ApiVersionsRequest", "--version", 3)
    assert by_name[1].startswith("ApiVersionsRequest version 3, 5 bytes\n")
    code, tree, _ = run("--hex", body, "--as", "request", "--no-header", "--api", "ApiVersions", "--version", 3)
    assert (code, tree) == by_name[:2]
    code, tree, _ = run("--hex", TopicRecord(name="t").encode(0).hex(), "--as", "TopicRecord")
    assert code == 0
    assert tree == "TopicRecord version 0, 19 bytes\n  Name: 't'\n  TopicId: AAAAAAAAAAAAAAAAAAAAAA\n"
    assert run("--hex", "00", "--as", "NoSuchThing")[0] == 2
    assert run("--hex", body, "--as", "ApiVersionsRequest")[0] == 2


@pytest.mark.parametrize("style", ["tree", "line", "hex", "json"])
def test_inspect_reads_a_log_file(run: Run, style: str) -> None:
    code, text, errors = run(LOG, "--style", style, "--records", "metadata")
    assert (code, errors) == (0, "")
    assert len(text.splitlines()) >= 121
    if style in ("tree", "hex"):
        assert "FeatureLevelRecord" in text
        assert "LeaderChangeMessage" in text
    # Every byte of the file is shown, except those of long values.
    if style == "hex":
        shown = sum(len(re.findall(r"\b[0-9a-f]{2}\b", line[10:33])) for line in text.splitlines())
        assert shown == LOG.stat().st_size


def test_inspect_decodes_a_log_by_the_name_of_its_folder(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    path = folder / LOG.name
    path.write_bytes(LOG.read_bytes())
    assert run(path, "--style", "line") == run(LOG, "--style", "line")
    assert run(path)[1] == run(LOG, "--records", "metadata")[1]
    assert run(path, "--records", "raw")[1] == run(LOG)[1] != run(path)[1]


def test_broken_bytes_are_shown_with_their_position(run: Run) -> None:
    code, dump, errors = run("--hex", HELLO[:-2].hex(), "--style", "hex")
    problem = (
        "the bytes end too early: 1 bytes are needed, 0 remain at byte 18 in ApiVersionsRequest.client_software_version"
    )
    assert code == 1
    assert dump.splitlines()[-1] == f"00000012                           !! {problem} (0x12)"
    assert errors == f"kafkadouble inspect: broken: {problem} (0x12)\n"


def test_a_broken_log_is_shown_to_its_end(run: Run, tmp_path: Path) -> None:
    batch = bytearray(encode_batch([Record(0, 5, b"k", b"v")]))
    wrong = bytearray(batch)
    wrong[-1] ^= 1
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(bytes(batch + wrong + batch) + batch[:30])
    code, text, errors = run(path, "--style", "line")
    assert code == 1
    assert len(text.splitlines()) == 4
    assert f"at byte {len(batch) + 17} in batch.crc" in errors


def test_inspect_with_wrong_arguments_is_refused(run: Run, tmp_path: Path) -> None:
    for words in (
        (tmp_path / "nothing",),
        (tmp_path,),
        ("--hex", "xyz"),
        ("--hex", "abc"),
        ("--style", "pdf"),
        ("--hex", ""),
    ):
        code, _, errors = run(*words)
        assert code == 2
        assert errors.splitlines()[-1].startswith("kafkadouble inspect: error: ")


def test_inspect_help_names_the_existing_options(run: Run) -> None:
    code, help_text, _ = run("--help")
    assert code == 0
    (digits,) = re.findall(r'--hex "([0-9a-f ]+)"', help_text)
    assert bytes.fromhex(digits) == HELLO


def test_the_examples_of_the_page_are_what_is_printed(run: Run) -> None:
    """Each block of docs/inspect.md that begins with a call shows that call and all of its
    output."""
    page = (ROOT / "docs" / "inspect.md").read_text()
    blocks = re.findall(r"```console\n\$ kafkadouble inspect ([^\n]*)\n(.*?)```", page, re.DOTALL)
    assert len(blocks) >= 4
    for words, expected in blocks:
        quoted = re.findall(r'"([^"]*)"|(\S+)', words)
        _, out, errors = run(*(ROOT / word if word.startswith("tests/") else word for word in map("".join, quoted)))
        if expected.endswith("...\n"):
            assert (out + errors).startswith(expected.removesuffix("...\n"))
        else:
            assert out + errors == expected
