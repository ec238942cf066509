"""The options of the start that errors recommend."""

from __future__ import annotations

from kafkadouble.wire.wording import Caller, StartOption

STEPPED = StartOption(
    "stepped=True",
    ("--stepped",),
    {Caller.JAVA: "stepped()", Caller.GO: "WithStepped()", Caller.NODE: "stepped: true"},
)
TWO_BROKERS = StartOption(
    "brokers=2",
    ("--brokers", "2"),
    {Caller.JAVA: "brokers(2)", Caller.GO: "WithBrokers(2)", Caller.NODE: "brokers: 2"},
)
TELEMETRY = StartOption("telemetry=True", ("--telemetry",))
CONTROLLER_PORT = StartOption("controller_port=0", ("--controller-port", "0"))
DATA_DIR = StartOption("data_dir", ("--data-dir", "DIR"))
SECURITY = StartOption(
    "security=",
    ("--security", "PROTOCOL"),
    {Caller.JAVA: "security(...)", Caller.GO: "WithSecurity(...)", Caller.NODE: "security: ..."},
)
SSL = StartOption(
    "security='SSL' or 'SASL_SSL'",
    ("--security", "SSL"),
    {Caller.JAVA: 'security("SSL")', Caller.GO: 'WithSecurity("SSL")', Caller.NODE: "security: 'SSL'"},
)
OAUTHBEARER = StartOption(
    "security='SASL_PLAINTEXT' or 'SASL_SSL', and oauthbearer='signed'",
    ("--security", "SASL_SSL", "--oauthbearer", "signed"),
    {
        Caller.JAVA: 'security("SASL_SSL") and oauthbearer("signed")',
        Caller.GO: 'WithSecurity("SASL_SSL") and WithOAuthBearer("signed")',
        Caller.NODE: "security: 'SASL_SSL' and oauthbearer: 'signed'",
    },
)
SASL = StartOption(
    "security='SASL_PLAINTEXT' or 'SASL_SSL', and users",
    ("--security", "SASL_SSL", "--user", "NAME"),
    {
        Caller.JAVA: 'security("SASL_SSL") and user(...)',
        Caller.GO: 'WithSecurity("SASL_SSL") and WithUser(...)',
        Caller.NODE: "security: 'SASL_SSL' and users",
    },
)
