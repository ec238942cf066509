"""Which modules are imported, and when: the package and the plugin import next to nothing, and the
server is imported only when it is used."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import kafkadouble

ROOT = Path(__file__).parents[2]


def imported_by(program: str) -> set[str]:
    """The modules that a fresh interpreter has imported after it ran a program."""
    outcome = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print(*sys.modules)"],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(outcome.stdout.split())


def test_the_package_imports_nothing() -> None:
    ours = {name for name in imported_by("import kafkadouble") if name.startswith("kafkadouble")}
    assert ours == {"kafkadouble"}


def test_the_plugin_imports_no_server() -> None:
    before = imported_by("import pytest")
    after = imported_by("import pytest, kafkadouble.pytest_plugin")
    modules = ("", ".options", ".isolation", ".markers", ".real_arguments", ".report")
    plugin = {f"kafkadouble.pytest_plugin{module}" for module in modules}
    lazily = {"kafkadouble.common", "kafkadouble.common.on_first_use"}
    assert {name for name in after - before if name.startswith("kafkadouble")} == {"kafkadouble", *plugin, *lazily}


@pytest.mark.parametrize(
    "module",
    [
        "coordinators.group_upkeep",
        "topics.partition_state",
        "topics.placement",
        "brokers.snapshot",
        "topics.topic_description",
    ],
)
def test_a_module_of_the_front_door_may_be_the_first(module: str) -> None:
    assert f"kafkadouble.{module}" in imported_by(f"import kafkadouble.{module}")


def test_a_broker_imports_no_message_before_it_is_used() -> None:
    modules = imported_by("import kafkadouble.double")
    unasked = {
        "api_versions",
        "produce",
        "metadata",
        "offset_fetch",
        "describe_groups",
        "consumer_group_describe",
        "delete_topics",
    }
    assert {f"kafkadouble.messages.generated.{name}" for name in unasked} & modules == set()
    assert {"crc32c", "zstandard", "cramjam", "difflib", "importlib.metadata", "argparse"} & modules == set()


STARTS = """
from kafkadouble.server.configs.listener_specs import listener_specs
from kafkadouble.server.node import Node
from kafkadouble.server.configs.settings import Settings
settings = Settings()
listeners = [each._replace(advertised=None if each.bind is None else ("localhost", 9092)) for each in listener_specs(settings)]
node = Node(settings, listeners=listeners, now=1_700_000_000_000, seed=1)
assert node.controller.leads
"""

SELDOM = {
    "messages.generated": """add_raft_voter alter_configs begin_quorum_epoch create_topics describe_quorum end_quorum_epoch fetch_snapshot
        incremental_alter_configs join_group kraft_version_record offset_delete remove_raft_voter snapshot_footer_record
        snapshot_header_record sync_group update_features update_raft_voter vote voters_record""",
    "server.groups": "classic group_coordinator_shard",
    "server.groups.service": "deletion replay",
    "server.log.formats": "names quorum_state",
    "server.controller": """acl_control auto_topic_creation broker_heartbeat broker_heartbeat_manager broker_registration configuration_control
        create_partitions create_topics feature_control partition_reassignment_replicas replica_placement scram_credentials
        striped_replica_placer""",
    "server.metadata": "image_records image_snapshots snapshot_generator",
    "server.raft": """begin_quorum_epoch describe_quorum election_polls end_quorum_epoch fetch_handler
        follower_actions follower_state leader_discovery messages pending_voter_change
        prospective_state quorum_state_file reconfiguration request_handlers resigned_state
        response_handlers routing vote voter_updates""",
    "server.security": "acls",
    "server.raft.snapshots": """cleaner download fetch_snapshot_handler fetch_snapshot_response fetch_snapshot_sender
        file_store metrics retention snapshot_header snapshot_reader snapshot_writer triggers""",
}
"""What a single node in memory does not import at its start, until a request needs it."""


def test_a_node_that_is_alone_imports_nothing_of_what_only_others_ask_for() -> None:
    modules = imported_by(STARTS)
    assert "kafkadouble.server.raft.leader_actions" in modules
    seldom = {f"kafkadouble.{package}.{name}" for package, names in SELDOM.items() for name in names.split()}
    assert seldom & modules == set()


def test_node_starts_without_modules_that_exist() -> None:
    for package, names in SELDOM.items():
        folder = ROOT / package.replace(".", "/")
        for name in names.split():
            assert (folder / name).is_dir() or (folder / f"{name}.py").is_file(), f"{package}.{name}"


def test_serve_imports_only_listed_modules_before_it_listens() -> None:
    program = "import kafkadouble.cli.serve as serve; serve._places(serve.parser().parse_args(['--port', '0']), None)"
    modules = imported_by(program)
    assert {
        "asyncio",
        "logging",
        "shutil",
        "kafkadouble.server",
        "kafkadouble.messages",
        "kafkadouble.wire",
    } & modules == set()


NOT_IMPORTED = {
    "from kafkadouble import KafkaDouble\nwith KafkaDouble() as kafka: kafka.reset()": (
        "pyarrow",
        "yaml",
        "tomllib",
        "kafkadouble.scenario",
    ),
    "from kafkadouble import KafkaDouble; KafkaDouble()": ("kafkadouble.verbs.collecting", "kafkadouble.verbs.verb"),
    "import kafkadouble.expected_offset": ("kafka", "aiokafka", "confluent_kafka", "asyncio", "socket"),
}


@pytest.mark.parametrize("program", NOT_IMPORTED, ids=("a reset", "a double", "expected offsets"))
def test_a_program_imports_no_package_that_it_does_not_use(program: str) -> None:
    assert imported_by(program).isdisjoint(NOT_IMPORTED[program])


def test_public_names_of_the_package_are_imported_on_first_use() -> None:
    for name in kafkadouble.__all__:
        assert getattr(kafkadouble, name) is not None
        assert name in dir(kafkadouble)
    with pytest.raises(AttributeError, match="no attribute 'Kafka'"):
        kafkadouble.Kafka  # noqa: B018  # the access is the test


def test_the_version_is_that_of_the_distribution() -> None:
    version = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None
    assert version[1] == kafkadouble.__version__


RECORDS = """
from kafkadouble import KafkaDouble
with KafkaDouble() as kafka:
    kafka.create_topic("orders")
    kafka.produce("orders", "two pears")
    kafka.wait_for_records("orders")
"""

CLIENT = """
from confluent_kafka import Consumer, Producer, TopicPartition
from kafkadouble import KafkaDouble
with KafkaDouble() as kafka:
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    producer.produce("orders", "two pears")
    assert producer.flush(30) == 0
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": "shop"})
    consumer.assign([TopicPartition("orders", 0, 0)])
    assert consumer.poll(30).value() == b"two pears"
    consumer.close()
"""

MOST = {
    "from kafkadouble import KafkaDouble\nwith KafkaDouble(): pass": 288,
    CLIENT: 377,
    RECORDS: 346,
    f"{RECORDS}    kafka.reset()": 348,
    f"{RECORDS}    kafka.groups()": 369,
}
"""So many modules of the product a program imports, at most. Each costs a start up to a
millisecond: a larger figure needs a reason."""


@pytest.mark.parametrize("program", MOST, ids=("a start", "a client", "records", "a reset", "groups"))
def test_a_program_imports_what_it_uses_and_no_more(program: str) -> None:
    if program == CLIENT:
        pytest.importorskip("confluent_kafka")
    ours = {name for name in imported_by(program) if name.partition(".")[0] == "kafkadouble"}
    assert len(ours) <= MOST[program], sorted(ours)
