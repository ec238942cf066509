"""DeleteTopics: topics by name or, since version 6, by id (KIP-516).

A topic that is named twice is not deleted but INVALID_REQUEST: once per repeated name or id, and
also for a name and an id of the same topic. An entry with neither name nor id is answered as often
as it appears.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from kafkadouble.messages.generated.remove_topic_record import RemoveTopicRecord
from kafkadouble.messages.uuid import Uuid

from ..metadata.image import Image
from ..quotas.controller_mutation_quota import ApplyQuota, without_quota
from ..requests.request import Refusal
from ..requests.slices import counted
from ..requests.waiting import OTHERS_FIRST, Slices, Wait, sliced
from .controller_result import ControllerResult

DeleteTopicState = DeleteTopicsRequest.DeleteTopicState
Result = DeleteTopicsResponse.DeletableTopicResult


def delete_topics(
    image: Image, states: Sequence[DeleteTopicState], apply_quota: ApplyQuota = without_quota
) -> Wait[ControllerResult[Result]]:
    """Handles DeleteTopics, in slices."""
    times = yield from counted((state.name, state.topic_id) for state in states)
    results: list[Result] = []
    times_named: dict[Uuid, int] = {}
    slices = Slices()
    for (name, topic_id), count in times.items():
        if slices.end():
            yield OTHERS_FIRST
        try:
            found = _checked_topic_id(image, name, topic_id, count)
        except Refusal as refusal:
            answers = 1 if name or topic_id != Uuid.ZERO else count
            results += [failed_result(name, topic_id, refusal.code, refusal.message)] * answers
        else:
            times_named[found] = times_named.get(found, times[None, found] > 1) + 1
    found_results = yield from sliced(lambda named: _result(image, *named, apply_quota), times_named.items())
    records = [RemoveTopicRecord(topic_id=result.topic_id) for result in found_results if not result.error_code]
    return ControllerResult(records, results + found_results).checked()


def _checked_topic_id(image: Image, name: str | None, topic_id: Uuid, times: int) -> Uuid:
    by_id = topic_id != Uuid.ZERO
    if name is None and not by_id:
        raise Refusal(error_codes.INVALID_REQUEST, "Neither topic name nor id were specified.")
    if name is not None and by_id:
        raise Refusal(error_codes.INVALID_REQUEST, "You may not specify both topic name and topic id.")
    if times > 1:
        raise Refusal(error_codes.INVALID_REQUEST, f"Duplicate topic {'id' if by_id else 'name'}.")
    found = image.topic(topic_id) if name is None else image.topic_named(name)
    if found is None:
        code = error_codes.UNKNOWN_TOPIC_ID if by_id else error_codes.UNKNOWN_TOPIC_OR_PARTITION
        raise Refusal(code, error_codes.meaning(code))
    return found.id


def _result(image: Image, topic_id: Uuid, ways: int, apply_quota: ApplyQuota) -> Result:
    """The result for a topic that is named in so many ways."""
    topic = image.topics[topic_id]
    if ways > 1:
        message = "The provided topic name maps to an ID that was already supplied."
        return failed_result(topic.name, topic_id, error_codes.INVALID_REQUEST, message)
    try:
        apply_quota(len(topic.partitions))
    except Refusal as refusal:
        return failed_result(topic.name, topic_id, refusal.code, refusal.message)
    return Result(name=topic.name, topic_id=topic_id)


def failed_result(name: str | None, topic_id: Uuid, code: int, message: str | None) -> Result:
    """The result for a topic that was not deleted."""
    return Result(name=name, topic_id=topic_id, error_code=code, error_message=message)
