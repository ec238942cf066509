"""DescribeConfigs: the configurations of resources, and where each value comes from.

Resources are topics, brokers, groups (KIP-1043), client metrics subscriptions (KIP-1000) and
loggers. From version 1 on the response has synonyms (KIP-226), from 3 on types and documentation
(KIP-569). Null or empty keys mean all. A broker describes itself and, under the empty name, the
cluster-wide defaults. As in Kafka, the message of a resource without an error, and of a missing
topic, is empty and not null; an unknown resource type fails the whole request.

Differences from Apache Kafka: a request for many resources lets other requests run in between, and
describes a resource again up to a bound in bytes (Kafka has none: a request of 100 KB can ask for a
gigabyte). Then it is INVALID_REQUEST (`repeats`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse

from ..broker import broker_loggers
from ..configs import describe
from ..configs.alter import Resource
from ..configs.definition import ConfigType
from ..configs.describe import ConfigEntry, ConfigSource
from ..metadata.topic_names import problem_with_name
from ..requests.repeats import Repeats
from ..requests.request import Refusal, Request
from ..requests.waiting import OTHERS_FIRST, Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

FEW_RESOURCES = 10
"""The most resources of a request that is answered without a pause."""

TURN_ENTRIES = 1000
"""How many entries are described before other requests run: about 20 ms."""

FEWEST_ENTRIES = 4
"""A resource costs as much as so many entries, also without any."""

RequestResource = DescribeConfigsRequest.DescribeConfigsResource
Result = DescribeConfigsResponse.DescribeConfigsResult


def answer(
    node: HandlerContext, request: Request[DescribeConfigsRequest]
) -> DescribeConfigsResponse | Wait[DescribeConfigsResponse]:
    body = request.body
    if any(requested.resource_type not in DESCRIBED for requested in body.resources):
        raise Refusal(error_codes.INVALID_REQUEST)
    if len(body.resources) > FEW_RESOURCES:
        return _in_turns(node, body)
    made = _Entries()
    return DescribeConfigsResponse(results=[_described(node, body, requested, made) for requested in body.resources])


def _in_turns(node: HandlerContext, body: DescribeConfigsRequest) -> Wait[DescribeConfigsResponse]:
    results: list[Result] = []
    made, repeats, turn = _Entries(), Repeats[Result](), 0
    for requested in body.resources:
        keys = requested.configuration_keys
        name = requested.resource_type, requested.resource_name, None if keys is None else tuple(keys)
        result = repeats.answer(name, partial(_described, node, body, requested, made))
        if result is None:
            result = _failed(requested, error_codes.INVALID_REQUEST, None)
        results.append(result)
        turn += FEWEST_ENTRIES + len(result.configs)
        if turn >= TURN_ENTRIES:
            turn = 0
            yield OTHERS_FIRST
    return DescribeConfigsResponse(results=results)


class _Entries(dict[ConfigEntry, DescribeConfigsResponse.DescribeConfigsResourceResult]):
    """The entries of one response. Resources share most of them, and a message is only read."""

    def __missing__(self, entry: ConfigEntry) -> DescribeConfigsResponse.DescribeConfigsResourceResult:
        self[entry] = made = DescribeConfigsResponse.DescribeConfigsResourceResult(
            name=entry.name,
            value=entry.value,
            read_only=entry.read_only,
            config_source=entry.source,
            is_sensitive=entry.sensitive,
            config_type=entry.type,
            documentation=entry.documentation,
            synonyms=[
                DescribeConfigsResponse.DescribeConfigsSynonym(
                    name=synonym.name, value=synonym.value, source=synonym.source
                )
                for synonym in entry.synonyms
            ],
        )
        return made


def _described(
    node: HandlerContext, body: DescribeConfigsRequest, requested: RequestResource, made: _Entries
) -> Result:
    try:
        entries = DESCRIBED[requested.resource_type](node, requested.resource_name)
    except Refusal as refusal:
        return _failed(requested, refusal.code, refusal.message)
    answered = describe.answered(
        entries,
        requested.configuration_keys,
        synonyms=body.include_synonyms,
        documentation=body.include_documentation,
    )
    return Result(
        resource_type=requested.resource_type,
        resource_name=requested.resource_name,
        configs=[made[entry] for entry in answered],
    )


def _topic(node: HandlerContext, name: str) -> list[ConfigEntry]:
    problem = problem_with_name(name)
    if problem is not None:
        raise Refusal(error_codes.INVALID_TOPIC_EXCEPTION, problem)
    if name not in node.image.topic_ids:
        raise Refusal(error_codes.UNKNOWN_TOPIC_OR_PARTITION, "")
    return describe.describe_topic(node.image.config_overrides(Resource.TOPIC, name), node.settings)


def _broker(node: HandlerContext, name: str) -> list[ConfigEntry]:
    if not name:
        return describe.describe_all_brokers(node.settings)
    if _broker_id(name) != node.id:
        text = f"Unexpected broker id, expected {node.id} or empty string, but received {name}"
        raise Refusal(error_codes.INVALID_REQUEST, text)
    return describe.describe_broker(node.settings)


def _loggers(node: HandlerContext, name: str) -> list[ConfigEntry]:
    if not name:
        raise Refusal(error_codes.INVALID_REQUEST, "Broker id must not be empty")
    if _broker_id(name) != node.id:
        text = f"Unexpected broker id, expected {node.id} but received {name}"
        raise Refusal(error_codes.INVALID_REQUEST, text)
    source = ConfigSource.DYNAMIC_BROKER_LOGGER
    return [
        ConfigEntry(logger, level, source, False, False, ConfigType.UNKNOWN, (), "")
        for logger, level in broker_loggers.logger_levels().items()
    ]


def _broker_id(name: str) -> int:
    try:
        return int(name)
    except ValueError:
        raise Refusal(error_codes.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name}") from None


def _client_metrics(node: HandlerContext, name: str) -> list[ConfigEntry]:
    if not name:
        raise Refusal(error_codes.INVALID_REQUEST, "Client metrics subscription name must not be empty")
    return describe.describe_client_metrics(node.image.config_overrides(Resource.CLIENT_METRICS, name))


def _group(node: HandlerContext, name: str) -> list[ConfigEntry]:
    if not name:
        raise Refusal(error_codes.INVALID_REQUEST, "Group name must not be empty")
    return describe.describe_group(node.image.config_overrides(Resource.GROUP, name), node.settings)


DESCRIBED: dict[int, Callable[[HandlerContext, str], list[ConfigEntry]]] = {
    Resource.TOPIC: _topic,
    Resource.BROKER: _broker,
    Resource.BROKER_LOGGER: _loggers,
    Resource.CLIENT_METRICS: _client_metrics,
    Resource.GROUP: _group,
}


def _failed(requested: RequestResource, code: int, message: str | None) -> Result:
    return Result(
        error_code=code,
        error_message=message,
        resource_type=requested.resource_type,
        resource_name=requested.resource_name,
    )


def refuse(request: Request[DescribeConfigsRequest], code: int, message: str | None) -> DescribeConfigsResponse:
    text = message or error_codes.meaning(code)
    return DescribeConfigsResponse(results=[_failed(requested, code, text) for requested in request.body.resources])
