"""`kafkadouble ctl` against a double: results, messages and exit codes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.cli import ctl
from kafkadouble.cli.calling.completion import script
from kafkadouble.cli.calling.verbs import usable
from kafkadouble.control.server import ControlServer
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.support.client import ask
from tests.support.serving import KAFKADOUBLE, serving


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[KafkaDouble, ControlServer]]:
    with KafkaDouble(seed=1) as kafka, ControlServer(kafka) as control:
        yield kafka, control


class Shell:
    """Runs `kafkadouble ctl` in this process."""

    def __init__(self, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.url, self._capsys = url, capsys

    def __call__(self, *words: str) -> tuple[int, str, str]:
        """The exit code, stdout and stderr."""
        code = ctl.main(["--url", self.url, *words])
        shown = self._capsys.readouterr()
        return code, shown.out, shown.err


@pytest.fixture
def shell(served: tuple[KafkaDouble, ControlServer], capsys: pytest.CaptureFixture[str]) -> Shell:
    served[0].reset()
    return Shell(served[1].url, capsys)


def test_ctl_commands_of_a_whole_session_succeed(shell: Shell, tmp_path: Path) -> None:
    assert shell("create-topic", "orders", "--partitions", "2", "--config", "retention.ms=-1") == (0, "", "")
    assert shell("produce", "orders", "--value", "two pears", "--partition", "1") == (0, "0\n", "")
    (tmp_path / "o.jsonl").write_text('{"value": "a", "key": "k"}\n\n{"value": "b"}\n')
    assert shell("produce_file", "orders", str(tmp_path / "o.jsonl"), "--partition", "0") == (0, "2\n", "")
    assert shell("end_offsets", "orders") == (0, "0  2\n1  1\n", "")
    _, out, _ = shell("--json", "records", "orders", "--partition", "0")
    assert [(load["key"], load["value"]) for load in json.loads(out)] == [("k", "a"), (None, "b")]
    _, out, _ = shell("topics")
    assert out.splitlines()[1].split()[:2] == ["orders", "orders"]
    _, out, _ = shell("fail", "Produce", "NOT_LEADER_OR_FOLLOWER")
    assert out.splitlines()[0].split() == ["id", "1"]
    assert shell("remove_rule", "1") == (0, "", "")
    assert shell("rules") == (0, "", "")


def test_a_large_file_goes_in_parts(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctl, "PART_BYTES", 50)
    (tmp_path / "lines.txt").write_text("".join(f"line {number}\n" for number in range(100)))
    shell("create_topic", "orders")
    assert shell("produce_file", "orders", str(tmp_path / "lines.txt")) == (0, "100\n", "")
    _, out, _ = shell("--json", "records", "orders")
    assert [load["value"] for load in json.loads(out)] == [f"line {number}" for number in range(100)]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["records", "none"], 1, "UNKNOWN_TOPIC_OR_PARTITION"),
        (["wait_for_topic", "none", "--timeout", "0"], 1, "the topic none: not within 0 s"),
        (["assert_seen", "--apis", "Produce"], 1, "Produce"),
        (["fail"], 2, "fail needs api, the name of an API, or *"),
        (["fail", "Produze", "6"], 2, "did you mean 'Produce'"),
        (["trunkate"], 2, "there is no verb 'trunkate'; did you mean 'truncate'?"),
        (["on", "Produce"], 2, "on takes a function: only a Python program can call it"),
        (["produce_file", "orders", "/no/such/file"], 2, "No such file"),
        (["produce_file", "orders"], 2, "produce_file needs path"),
        (["produce", "orders", "--value", "@/no/such/file"], 2, "No such file"),
        ([], 2, "ctl needs a verb"),
    ],
)
def test_exit_codes(shell: Shell, words: list[str], code: int, message: str) -> None:
    ended, out, err = shell(*words)
    assert (ended, out) == (code, "")
    assert err.startswith("kafkadouble: ")
    assert message in err


def test_help_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        ctl.main(["--help"])
    shown = capsys.readouterr().out
    for verb in usable():
        assert re.search(rf"^  {verb.name} +\w", shown, re.MULTILINE)
    assert max(map(len, shown.splitlines())) <= 100


def test_a_token_is_sent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with KafkaDouble() as kafka, ControlServer(kafka, token="a-token-of-a-test") as control:
        shell = Shell(control.url, capsys)
        assert shell("topics")[0] == 3
        assert "the token is missing or wrong" in shell("--token", "wrong-token", "topics")[2]
        assert shell("--token", "a-token-of-a-test", "topics") == (0, "", "")
        monkeypatch.setenv(ctl.TOKEN, "a-token-of-a-test")
        assert shell("topics") == (0, "", "")


def test_requests_are_followed_in_a_process() -> None:
    with serving("--control-port", "0") as served:
        command = [*KAFKADOUBLE, "ctl", "--url", served.control_url(), "events"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as following:
            assert following.stdout is not None
            asking = threading.Event()

            def ask_until_seen() -> None:
                while not asking.wait(0.05):
                    ask(served.address, MetadataRequest(topics=[]), 12)

            thread = threading.Thread(target=ask_until_seen)
            thread.start()
            line = following.stdout.readline()
            asking.set()
            thread.join()
            assert "Metadata v12" in line
            served.end()
            following.communicate(timeout=30)
            assert following.returncode == 3


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["ctl", "trunc"], "truncate"),
        (["ctl", "truncate", "--part"], "--partition"),
        (["ctl", "--json", "create_topic", "--rep"], "--replication-factor"),
        (["ctl", "--js"], "--json"),
    ],
)
def test_ctl_commands_are_completed_in_bash(typed: list[str], offered: str) -> None:
    words = " ".join(["kafkadouble", *typed])
    asked = f"{script('bash')}\nCOMP_WORDS=({words}) COMP_CWORD={len(typed)}\n_kafkadouble_ctl\necho ${{COMPREPLY[@]}}"
    assert subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True).stdout.split() == [offered]


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_scripts_name_every_verb(shell_name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ctl.main(["--completion", shell_name]) == 0
    shown = capsys.readouterr().out
    assert all(re.search(rf"\b{verb.name}\b", shown) for verb in usable())
