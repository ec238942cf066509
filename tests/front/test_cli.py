"""The command line: what `serve` prints and where, how it ends, and what the other commands
print."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from benchmarks.start import request
from kafkadouble import __version__
from kafkadouble.__main__ import VERBS, main
from kafkadouble.messages import error_codes, registry
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.describe_configs import DescribeConfigsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from kafkadouble.messages.generated.sasl_handshake import SaslHandshakeRequest
from kafkadouble.server.apis.served import TABLE
from tests.support.serving import KAFKADOUBLE, run, serving

HOUSE = Path(__file__).parents[2]

SSL = "-c", "listeners=SSL://:9092"
SASL = "--security", "SASL_PLAINTEXT"
CONTROL = "--control-port", "0"
TWO = (
    *("-c", "listeners=INSIDE://:0,OUTSIDE://:0", "-c", "inter.broker.listener.name=INSIDE"),
    *("-c", "listener.security.protocol.map=INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT"),
)


class TestServe:
    def test_serve_prints_its_address_and_answers_there(self) -> None:
        with serving() as broker:
            assert list(broker.startup) == ["bootstrap.servers", "cluster.id", "node.id", "pid", "version"]
            assert broker.startup["bootstrap.servers"].startswith("127.0.0.1:")
            assert (broker.startup["pid"], broker.startup["version"]) == (str(broker.process.pid), __version__)
            metadata = broker.ask(MetadataRequest(topics=[]), 12)
            assert (metadata.cluster_id, metadata.brokers[0].node_id) == (
                broker.startup["cluster.id"],
                int(broker.startup["node.id"]),
            )
            assert (metadata.brokers[0].host, metadata.brokers[0].port) == broker.address

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_ends_cleanly_also_with_a_client_that_stays(self, number: signal.Signals) -> None:
        with serving() as broker, socket.create_connection(broker.address) as sock:
            sock.sendall(request())
            assert sock.recv(4)
            code, stderr = broker.end(number)
            assert code == 0
            assert "Traceback" not in stderr
            assert stderr.splitlines()[-1].endswith("INFO ended")
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(broker.address)

    def test_a_signal_before_it_serves_ends_it_too(self) -> None:
        command = [*KAFKADOUBLE, "serve", "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            while not _catches(process.pid, signal.SIGTERM):
                assert process.poll() is None
            process.terminate()
            stdout, stderr = process.communicate(timeout=30)
        assert process.returncode == 0
        assert "Traceback" not in stderr, stdout

    def test_a_signal_with_an_ignored_exception_ends_it_too(self) -> None:
        script = """
            import asyncio, os, signal
            from kafkadouble.cli import serve
            from kafkadouble.cli.serving import serving

            class Lost:
                def __del__(self):
                    os.kill(os.getpid(), signal.SIGTERM)

            async def ended():
                return serving._on_signals().is_set()

            assert not asyncio.run(ended())
            signal.signal(signal.SIGTERM, serve._leave)
            Lost()
            assert asyncio.run(ended())
            print("went on until then")
        """
        done = subprocess.run([sys.executable, "-c", dedent(script)], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "went on until then\n"), done.stderr

    @pytest.mark.parametrize(("options", "connections"), [((), 0), (("-v",), 2)])
    def test_logs_errors_and_if_it_is_verbose_connections(self, options: tuple[str, ...], connections: int) -> None:
        with serving(*options) as broker:
            broker.ask(ApiVersionsRequest(client_software_name="x", client_software_version="1"), 3)
            with socket.create_connection(broker.address) as sock:
                sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
                assert sock.recv(1) == b""
            _, stderr = broker.end()
        assert re.search(r"INFO serving at 127\.0\.0\.1:\d+\n", stderr)
        assert len(re.findall(r"DEBUG 127\.0\.0\.1:\d+ connected\n", stderr)) == connections
        assert re.search(r"WARNING 127\.0\.0\.1:\d+ sent bytes that are no request: .*: closing", stderr)
        assert ("DEBUG" in stderr) == bool(options)

    def test_a_client_with_sasl_is_recognized(self) -> None:
        with serving() as broker:
            assert broker.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1).error_code == error_codes.ILLEGAL_SASL_STATE
            _, stderr = broker.end()
        hint = r"this listener has no SASL \(security.protocol=PLAINTEXT or SSL in the client\?\)"
        assert len(re.findall(rf"WARNING 127\.0\.0\.1:\d+ sends SaslHandshake, and {hint}\n", stderr)) == 1

    def test_verbose_serve_logs_requests_of_clients_and_of_other_nodes(self) -> None:
        with serving("-v") as broker:
            broker.ask(ApiVersionsRequest(client_software_name="x", client_software_version="1"), 3)
            broker.ask(OffsetForLeaderEpochRequest(replica_id=2, topics=[]), 4)
            _, stderr = broker.end()
        assert re.search(r"DEBUG 127\.0\.0\.1:\d+: [\d:.]+ OffsetForLeaderEpoch v4 #1 of 'test'", stderr)
        assert re.search(
            r"DEBUG 127\.0\.0\.1:\d+: [\d:.]+ ApiVersions v3 #1 of 'test' at broker 1, answered in \d+ ms", stderr
        )

    def test_quiet_logs_only_errors(self) -> None:
        with serving("--quiet") as broker:
            broker.ask(ApiVersionsRequest(client_software_name="x", client_software_version="1"), 3)
            assert broker.end() == (0, "")

    def test_begins_with_topics_and_settings(self, tmp_path: Path) -> None:
        file = tmp_path / "server.properties"
        file.write_text("# a comment\nnum.partitions = 5\nlog.dirs=/nowhere\nnode.id=7\n")
        words = ["--port", "0", "--topic", "a:3", "--topic", "b", "-c", "num.partitions=4", "--seed", "1"]
        with serving("--config", str(file), *words) as broker:
            assert broker.startup["node.id"] == "7"
            metadata = broker.ask(MetadataRequest(topics=None), 12)
            assert {topic.name: len(topic.partitions) for topic in metadata.topics} == {"a": 3, "b": 1}
            resource = DescribeConfigsRequest.DescribeConfigsResource(resource_type=4, resource_name="7")
            described = broker.ask(DescribeConfigsRequest(resources=[resource]), 4)
            assert {one.name: one.value for one in described.results[0].configs}["num.partitions"] == "4"
            first = broker.startup["cluster.id"]
            _, stderr = broker.end()
            assert "everything stays in memory: /nowhere is not formatted" in stderr
        with serving("--seed", "1") as again:
            assert again.startup["cluster.id"] == first

    @pytest.mark.parametrize(
        ("words", "warnings"),
        [
            (
                ["--host", "0.0.0.0"],
                ["listening at 0.0.0.0: every client", "clients will connect to 127.0.0.1:"],
            ),
            (["--host", "0.0.0.0", "--advertised", "there:9092"], ["listening at 0.0.0.0: every client"]),
            (
                ["--host", "0.0.0.0", "--brokers", "2"],
                ["listening at 0.0.0.0: every client", "clients will connect"],
            ),
            (["--host", "127.0.0.1"], []),
        ],
    )
    def test_warns_of_a_listener_that_others_reach(self, words: list[str], warnings: list[str]) -> None:
        with serving(*words) as broker:
            code, stderr = broker.end()
        logged = [line.partition(" WARNING ")[2] for line in stderr.splitlines() if " WARNING " in line]
        assert code == 0
        assert len(logged) == len(warnings), stderr
        assert all(map(str.startswith, logged, warnings))

    def test_a_port_that_is_taken_is_one_sentence(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as sock:
            port = sock.getsockname()[1]
            ended = run("serve", "--port", str(port))
        assert (ended.returncode, ended.stdout) == (1, "")
        assert (
            ended.stderr
            == f"kafkadouble: 127.0.0.1:{port} is taken: something listens there already; --port 0 takes any free port\n"
        )

    def test_serve_refuses_an_address_of_another_host(self) -> None:
        ended = run("serve", "--host", "203.0.113.7", "--port", "0")
        assert (ended.returncode, ended.stdout) == (1, "")
        assert ended.stderr.startswith("kafkadouble: cannot listen on 203.0.113.7:0: ")

    @pytest.mark.parametrize(
        ("words", "problem"),
        [
            (("-c", "num.partitons=3"), "kafkadouble: -c num.partitons=3: unknown setting"),
            (("-c", "num.partitions"), "kafkadouble: -c num.partitions: a setting is given as name=value"),
            (("-c", "num.partitions=x"), "kafkadouble: -c num.partitions=x: "),
            (("--config", "no/such/file"), "No such file or directory: 'no/such/file'"),
            (("--topic", "a:0"), "argument --topic: 'a:0' is not NAME or NAME:PARTITIONS"),
            (("--topic", ":3"), "argument --topic: ':3' is not NAME or NAME:PARTITIONS"),
            (("--topic", "no spaces"), "kafkadouble: INVALID_TOPIC_EXCEPTION"),
            (("--port", "70000"), "argument --port: 70000 is no port"),
            (("--port", "x"), "argument --port: invalid"),
            (("--advertised", "here"), "argument --advertised: 'here' is not HOST:PORT"),
            (SSL, "inter.broker.listener.name must be a listener name defined in advertised.listeners"),
            (
                (*SSL, "-c", "security.inter.broker.protocol=SSL"),
                "kafkadouble: ssl.keystore.location (listener SSL) is not set: a listener with TLS needs a key",
            ),
            (("--security", "SSH"), "security is 'SSH': there are SSL, SASL_PLAINTEXT, SASL_SSL"),
            (("--security", "SSL", "--certificate", "old"), "certificate is 'old': there are valid, expired"),
            (("--certificate", "expired"), "certificate needs security='SSL' or 'SASL_SSL', not 'PLAINTEXT'"),
            (("--security", "SSL", *SSL), "--security gives the broker its listener, and listeners does so, too"),
            (("-c", "listeners=CONTROLLER://:9092"), "There must be at least one broker advertised listener"),
            (("--user", "a:hidden"), "users need security='SASL_PLAINTEXT' or 'SASL_SSL', not 'PLAINTEXT'"),
            (("--security", "SASL_PLAINTEXT"), "users has a password for each name"),
            ((*SASL, "--user", "a"), "--user a: give NAME:PASSWORD, or the password in KAFKADOUBLE_PASSWORD"),
            ((*SASL, "--users-file", os.devnull + "/x"), "Not a directory"),
            (("--colour",), "unrecognized arguments: --colour"),
            (("--acl", "User:a allow EAT topic:t"), "no operation 'EAT'"),
            (("--control-host", "127.0.0.1"), "--control-token and --control-allowed-hosts need --control-port"),
            ((*CONTROL, "--control-allowed-hosts", "a.example,b:9"), "'b:9' is no host name"),
            ((*CONTROL, "--control-host", "0.0.0.0"), "would obey every machine that reaches it: give a token"),
            ((*CONTROL, "--control-token", "short"), "a token has at least 8 printable ASCII characters"),
            (("--control-port", "65536"), "65536 is no port"),
            (("--brokers", "0"), "argument --brokers: 0 brokers: there may be 1 to 100"),
            (("--brokers", "x"), "argument --brokers: invalid"),
            ((*TWO, "--advertised", "a:1"), "a:1 is the address of one listener, and there are INSIDE, OUTSIDE"),
            ((*TWO, "--port", "9092"), "port 9092 is that of one listener, and there are INSIDE, OUTSIDE"),
            (("--brokers", "3", "-c", "node.id=7"), "-c node.id=7: node.id is that of one node"),
            (("--brokers", "3", "--port", "65534"), "port 65534 leaves no 3 ports"),
        ],
    )
    def test_serve_with_wrong_arguments_is_refused_before_the_start(self, words: tuple[str, ...], problem: str) -> None:
        ended = run("serve", "--port", "0", *words)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert problem in ended.stderr
        assert "Traceback" not in ended.stderr
        assert "hidden" not in ended.stderr

    @pytest.mark.parametrize(
        ("words", "line", "problem"),
        [
            ((), "num.partitions=none", "Invalid value none for configuration num.partitions"),
            (("--strict",), "num.partitons=4", "unknown setting 'num.partitons'"),
        ],
    )
    def test_a_wrong_line_of_a_file_is_named(
        self, tmp_path: Path, words: tuple[str, ...], line: str, problem: str
    ) -> None:
        file = tmp_path / "server.properties"
        file.write_text(f"num.partitions=3\n{line}\n")
        ended = run("serve", "--port", "0", *words, "--config", str(file))
        assert ended.returncode == 2
        assert f"{file} line 2: {problem}" in ended.stderr

    def test_an_unknown_setting_of_a_file_is_a_warning_and_shown_as_by_kafka(self, tmp_path: Path) -> None:
        file = tmp_path / "server.properties"
        file.write_text("zookeeper.connect=localhost:2181\nnum.partitions=3\nnum.partitons=4\n")
        with serving("--config", str(file), "--port", "0") as broker:
            resource = DescribeConfigsRequest.DescribeConfigsResource(resource_type=4, resource_name="1")
            described = broker.ask(DescribeConfigsRequest(resources=[resource]), 4).results[0].configs
            _, stderr = broker.end()
        shown = {one.name: (one.value, one.is_sensitive, one.config_type) for one in described}
        assert shown["num.partitions"] == ("3", False, 3)
        assert shown["num.partitons"] == (None, True, 0)
        warnings = [line.partition(" WARNING ")[2] for line in stderr.splitlines() if " WARNING " in line]
        unknown = "unknown setting {!r}; Kafka 4.4 has none of this name{}; it is ignored, and --strict refuses it"
        assert warnings[:2] == [
            f"{file} line 1: " + unknown.format("zookeeper.connect", ""),
            f"{file} line 3: " + unknown.format("num.partitons", "; did you mean 'num.partitions'?"),
        ]
        assert "change nothing" not in stderr


class TestOtherVerbs:
    def test_help_names_every_verb(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit, match="0"):
            main(["--help"])
        output = capsys.readouterr().out
        assert all(f"  {verb} " in output for verb in VERBS)

    @pytest.mark.parametrize("verb", VERBS)
    def test_verb_of_the_command_line_has_help(self, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit, match="0"):
            main([verb, "--help"])
        assert f"usage: kafkadouble {verb}" in capsys.readouterr().out

    def test_command_line_without_a_verb_lists_the_verbs(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([]) == 2
        assert "verbs:" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("verb", "problem"),
        [
            ("serv", "there is no verb 'serv'; did you mean 'serve'?"),
            ("dance", "there is no verb 'dance': choose from serve"),
        ],
    )
    def test_an_unknown_verb_is_refused(self, verb: str, problem: str, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit, match="2"):
            main([verb])
        assert problem in capsys.readouterr().err

    def test_a_folder_without_kafkas_files_is_a_wrong_call(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for verb in ("dump", "check"):
            with pytest.raises(SystemExit, match="2"):
                main([verb, str(tmp_path)])
        (tmp_path / "notes.txt").write_text("none of Kafka's")
        with pytest.raises(SystemExit):
            main(["dump", str(tmp_path)])
        assert f"{tmp_path} holds no file of a name that Kafka gives to files" in capsys.readouterr().err

    def test_a_version_that_there_is_not_is_a_wrong_call(self, capsys: pytest.CaptureFixture[str]) -> None:
        for words in (
            ["--as", "response", "--api", "Fetch"],
            ["--as", "FetchRequest"],
            ["--as", "request", "--no-header", "--api", "1"],
        ):
            with pytest.raises(SystemExit, match="2"):
                main(["inspect", "--hex", "00", "--version", "99", *words])
            assert "--version is 4 to 18, not 99" in capsys.readouterr().err

    def test_version_of_the_command_is_that_of_the_package(self) -> None:
        assert run("--version").stdout == f"kafkadouble {__version__}\n"

    def test_messages_command_lists_the_messages(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["messages"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == len(registry.entries())
        assert any(re.fullmatch(r" +1  FetchRequest +request +4-18", line) for line in lines)
        assert main(["messages", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)

    def test_messages_with_their_fields(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["messages", "--json"]) == 0
        by_name = {load["name"]: load for load in json.loads(capsys.readouterr().out)}
        assert len(by_name) == 286
        assert by_name["StopReplicaRequest"]["fields"] == []
        assert [field["name"] for field in by_name["ListGroupsRequest"]["fields"]] == ["StatesFilter", "TypesFilter"]
        assert main(["messages", "ListGroupsRequest"]) == 0
        assert "     TypesFilter: []string  (versions 5+)" in capsys.readouterr().out
        with pytest.raises(SystemExit):
            main(["messages", "ListGroupRequest"])
        assert "no message is named 'ListGroupRequest'; did you mean 'ListGroupsRequest'?" in capsys.readouterr().err

    def test_supported_command_lists_the_served_apis(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["supported", "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert [row["key"] for row in rows] == sorted(served.api.key for served in TABLE)
        produce = rows[0]
        assert (produce["name"], produce["versions"], produce["advertised"]) == ("Produce", [3, 13], [0, 13])
        assert "KAFKA-18659" in produce["reason"]
        assert main(["supported"]) == 0
        assert "ApiVersions" in capsys.readouterr().out


def _catches(pid: int, number: int) -> bool:
    """Whether a process has a handler for a signal; from /proc, so on Linux only."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        pytest.skip("no /proc")
    mask = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("SigCgt"))
    return bool(int(mask, 16) >> (number - 1) & 1)
