"""Rows of tools that log in over SASL_SSL with --command-config: as an administrator, and as a user
who is made by the first of them, with a password and with ACLs.

`{topic}` is also the name of the user. `admin.properties` is written by the test.
"""

from __future__ import annotations

from ..parse import columns, everything, principals
from ..row import Row, Scenario, has

ADMIN, USER, WRONG = (f"--command-config {name}.properties" for name in ("admin", "user", "wrong"))
CLIENT = """\
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="{topic}" password="%s";
ssl.truststore.type=PEM
ssl.truststore.location={authority}
default.api.timeout.ms=20000
request.timeout.ms=10000
"""
FILES = {"user.properties": CLIENT % "secret", "wrong.properties": CLIENT % "wrong"}
CONFIGS, ACLS, TOKENS, GROUPS = "kafka-configs", "kafka-acls", "kafka-delegation-tokens", "kafka-consumer-groups"
AS_USER = "--entity-type users --entity-name {topic}"

SECURED = (
    Row("kafka-topics", "create over SASL_SSL", f"--create --topic {{topic}} {ADMIN}", ["Created topic {topic}."]),
    Row(
        CONFIGS,
        "alter a password over SASL_SSL",
        f"{AS_USER} --alter --add-config SCRAM-SHA-512=[iterations=4096,password=secret] {ADMIN}",
        ["Completed updating config for user {topic}."],
    ),
    Row(
        CONFIGS,
        "describe a password over SASL_SSL",
        f"{AS_USER} --describe {ADMIN}",
        ["SCRAM credential configs for user-principal '{topic}' are SCRAM-SHA-512=iterations=4096"],
    ),
    Row("kafka-topics", "list nothing without a right", f"--list {USER}", [], files=FILES),
    Row(
        "kafka-topics",
        "list with a wrong password (refused)",
        f"--list {WRONG}",
        lambda found: "SaslAuthenticationException: Authentication failed" in found,
        everything,
        code=1,
        files=FILES,
    ),
    Row(
        "kafka-topics",
        "create without a right (refused)",
        f"--create --topic {{topic}}-no {USER}",
        lambda found: "TopicAuthorizationException" in found,
        everything,
        code=1,
        files=FILES,
    ),
    Row(
        ACLS,
        "list without a right (refused)",
        f"--list {USER}",
        lambda found: "ClusterAuthorizationException" in found,
        everything,
        code=1,
        files=FILES,
    ),
    Row(
        ACLS,
        "add over SASL_SSL",
        f"--add --allow-principal User:{{topic}} --producer --consumer --topic {{topic}} --group {{topic}} {ADMIN}",
        has("Adding ACLs for resource `ResourcePattern(resourceType=TOPIC, name={topic}, patternType=LITERAL)`:"),
    ),
    Row(
        ACLS,
        "list of a topic over SASL_SSL",
        f"--list --topic {{topic}} {ADMIN}",
        has("Current ACLs for resource `ResourcePattern(resourceType=TOPIC, name={topic}, patternType=LITERAL)`:"),
    ),
    Row("kafka-topics", "list with a right", f"--list {USER}", ["{topic}"], files=FILES),
    Row(
        "kafka-console-producer",
        "writes over SASL_SSL",
        f"--topic {{topic}} {USER}",
        stdin="one\ntwo\n",
        files=FILES,
    ),
    Row(
        "kafka-console-consumer",
        "reads in a group over SASL_SSL",
        f"--topic {{topic}} --group {{topic}} --from-beginning --max-messages 2 {USER}",
        ["one", "two"],
        files=FILES,
    ),
    Row(
        "kafka-console-consumer",
        "in a group without a right (refused)",
        f"--topic {{topic}} --group {{topic}}-no --max-messages 1 {USER}",
        lambda found: "GroupAuthorizationException: Not authorized to access group" in found,
        everything,
        files=FILES,
    ),
    Row(
        GROUPS,
        "describe over SASL_SSL",
        f"--describe --group {{topic}} {USER}",
        [{"GROUP": "{topic}", "TOPIC": "{topic}", "CURRENT-OFFSET": "2", "LAG": "0"}],
        columns,
        files=FILES,
    ),
    Row(
        TOKENS,
        "create over SASL_SSL",
        f"--create --max-life-time-period -1 {USER}",
        has("User:{topic}"),
        principals,
        files=FILES,
    ),
    Row(
        TOKENS,
        "describe over SASL_SSL",
        f"--describe --owner-principal User:{{topic}} {USER}",
        has("User:{topic}"),
        principals,
        files=FILES,
    ),
    Row(
        ACLS,
        "remove over SASL_SSL",
        f"--remove --topic {{topic}} --force {ADMIN}",
    ),
    Row("kafka-topics", "", f"--list {USER}", [], files=FILES),
    Row(
        "kafka-console-producer",
        "writes without a right (refused)",
        f"--topic {{topic}} {USER}",
        lambda found: "TopicAuthorizationException" in found,
        everything,
        stdin="three\n",
        files=FILES,
    ),
    Row(CONFIGS, "", f"{AS_USER} --alter --delete-config SCRAM-SHA-512 {ADMIN}"),
)

SCENARIOS = (Scenario("security", SECURED),)
"""For servers whose clients log in; see `interop/secured_servers.py`."""
