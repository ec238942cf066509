"""Short samples of what the loggers of other products write."""

from __future__ import annotations

import json
from typing import Any

OFFERED = [{"apiKey": 1, "minVersion": 0, "maxVersion": 17}, {"apiKey": 18, "minVersion": 0, "maxVersion": 4}]


def kafka(
    key: int = 1,
    version: int = 4,
    *,
    name: str = "FETCH",
    correlation_id: int = 5,
    client_id: str | None = "app",
    software: tuple[str, str] = ("unknown", "unknown"),
    request: Any = None,
    response: Any = None,
    at: str = "2026-11-22 03:06:14,601",
    took_ms: float = 117.113,
    deprecated: bool = False,
    forwarded: bool = False,
) -> str:
    """A line of Kafka's request log, with the layout of its own log4j2 configuration."""
    head: dict[str, Any] = {"requestApiKey": key, "requestApiVersion": version, "correlationId": correlation_id}
    head |= {"clientId": client_id, "requestApiKeyName": name}
    if deprecated:
        head["requestApiVersionDeprecated"] = True
    entry = {
        "isForwarded": forwarded,
        "requestHeader": head,
        "request": {} if request is None else request,
        "response": {"throttleTimeMs": 0, "errorCode": 0} if response is None else response,
        "connection": "127.0.0.1:9092-10.0.0.7:36390-0-1",
        "totalTimeMs": took_ms,
        "requestQueueTimeMs": 16.317,
        "securityProtocol": "PLAINTEXT",
        "principal": "User:ANONYMOUS",
        "listener": "PLAINTEXT",
        "clientInformation": {"softwareName": software[0], "softwareVersion": software[1]},
    }
    return f"[{at}] DEBUG Completed request:{json.dumps(entry, separators=(',', ':'))} (kafka.request.logger)\n"


def entry(kind: str, api: str, version: int, correlation_id: int, payload: Any, client_id: str | None = None) -> str:
    """What Kroxylicious' ProtocolLogger logs, in Jackson's pretty form."""
    head: dict[str, Any] = {"type": kind, "apiKey": api, "apiVersion": version, "correlationId": correlation_id}
    if kind == "REQUEST":
        head["clientId"] = client_id
    found: dict[str, Any] = {"header": head, "payload": payload}
    if payload is None:
        found["payloadWithheld"] = "credential-bearing API"
    return json.dumps(found, indent=2, separators=(",", " : "))


def kroxylicious(pretty: str, *, at: str = "2026-11-22 03:06:14", session: str | None = "s1") -> str:
    """The line or lines of Kroxylicious' default layout, which puts the structured fields at the
    end."""
    fields = (
        "" if session is None else f" {{apiKey=METADATA, apiVersion=13, clientCorrelationId=1, sessionId={session}}}"
    )
    return f"{at} DEBUG <Thread[#42]> i.k.f.p.ProtocolLoggerFilter - {pretty}{fields}\n"


def kroxylicious_json(pretty: str, at: str, session: str) -> str:
    """The line of Kroxylicious' JSON layout (`KROXYLICIOUS_LOG_FORMAT=json`)."""
    mdc = {"apiKey": "METADATA", "sessionId": session}
    return json.dumps({"mdc": mdc, "@version": 1, "message": pretty, "@timestamp": at, "level": "DEBUG"}) + "\n"
