"""The log line of a call of a verb: who calls what, without values, which may be secrets."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafkadouble.wire.client_log import ClientLog

if TYPE_CHECKING:
    from starlette.requests import Request

log = ClientLog("kafkadouble.control")

READS = frozenset(
    (
        *(
            "acls",
            "assert_not_seen",
            "assert_seen",
            "bearer_token",
            "bootstrap",
            "bootstrap_on_broker",
            "client_config",
        ),
        *("describe_cluster", "end_offsets", "epochs", "groups", "isr", "leader", "leader_epoch", "lint", "metrics"),
        *("partition", "records", "report", "requests", "rules", "scenario_steps", "snapshots", "telemetry", "topics"),
        *("transactions", "unused_rules"),
    )
)
"""The verbs that change nothing, besides those that wait. They are logged as details are: tests
call them again and again."""

WAIT = "wait_for_"


def log_call(request: Request, parameters: Mapping[str, Any]) -> None:
    verb = request.path_params["name"]
    level = logging.DEBUG if verb in READS or verb.startswith(WAIT) else logging.INFO
    at = "?" if request.client is None else f"{request.client.host}:{request.client.port}"
    program = request.headers.get("user-agent", "a program without a name")
    log.log(level, "%s (%s) calls %s(%s)", at, program, verb, ", ".join(parameters))
