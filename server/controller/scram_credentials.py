"""SCRAM credentials: altered and described (KIP-554, RFC 5802).

A client sends the salted password; only the salt and two keys are stored, and only the mechanism
and the iterations are ever described. A user that appears twice in a request fails, even with two
mechanisms; other users are not affected. Credentials are stored and described; no listener
authenticates with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from kafkadouble.messages.generated.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kafkadouble.messages.message import Message

from ..metadata.features import METADATA_VERSION
from ..metadata.image import Image
from ..metadata.record_versions import NEWEST, SCRAM
from ..requests.request import Refusal
from ..requests.waiting import OTHERS_FIRST, Slices, Wait, counted, ordered, sliced
from ..security.scram import MAX_ITERATIONS, MECHANISMS, ScramMechanism, record_of
from .controller_result import ControllerResult

ALTERED_TWICE = "A user credential cannot be altered twice in the same request"

BY_TYPE = {mechanism.type: mechanism for mechanism in MECHANISMS.values()}

Deletion = AlterUserScramCredentialsRequest.ScramCredentialDeletion
Upsertion = AlterUserScramCredentialsRequest.ScramCredentialUpsertion


class ScramUserResult(NamedTuple):
    """The result for one user."""

    user: str
    error_code: int = error_codes.NONE
    error_message: str | None = None


def alter_scram_credentials(
    image: Image, deletions: Sequence[Deletion], upsertions: Sequence[Upsertion]
) -> Wait[ControllerResult[ScramUserResult]]:
    """Handles AlterUserScramCredentials, in slices. Successful users come first, as in Kafka."""
    succeeded: dict[str, Message] = {}
    failed: dict[str, ScramUserResult] = {}
    slices = Slices()
    for user, decide in _requested_changes(image, deletions, upsertions):
        if slices.end():
            yield OTHERS_FIRST
        if user in failed:
            continue
        try:
            if succeeded.pop(user, None) is not None:
                raise Refusal(error_codes.DUPLICATE_RESOURCE, ALTERED_TWICE)
            succeeded[user] = decide()
        except Refusal as refusal:
            failed[user] = ScramUserResult(user, refusal.code, refusal.message)
    return ControllerResult(list(succeeded.values()), [*map(ScramUserResult, succeeded), *failed.values()])


def _requested_changes(
    image: Image, deletions: Iterable[Deletion], upsertions: Iterable[Upsertion]
) -> Iterator[tuple[str, Callable[[], Message]]]:
    for deletion in deletions:
        yield deletion.name, partial(_deletion_record, image, deletion)
    for upsertion in upsertions:
        yield upsertion.name, partial(_upsertion_record, image, upsertion)


def _deletion_record(image: Image, requested: Deletion) -> Message:
    _checked_mechanism(image, requested.name, requested.mechanism)
    if (requested.name, requested.mechanism) not in image.scram:
        raise Refusal(error_codes.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist")
    return RemoveUserScramCredentialRecord(name=requested.name, mechanism=requested.mechanism)


def _upsertion_record(image: Image, requested: Upsertion) -> Message:
    mechanism = _checked_mechanism(image, requested.name, requested.mechanism)
    if requested.iterations < mechanism.least:
        raise Refusal(error_codes.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if requested.iterations > MAX_ITERATIONS:
        raise Refusal(error_codes.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
    if not requested.salted_password:
        # Java has no empty HMAC key; Kafka fails with an unexpected exception
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    return record_of(
        requested.name, mechanism, bytes(requested.salt), bytes(requested.salted_password), requested.iterations
    )


def _checked_mechanism(image: Image, user: str, mechanism: int) -> ScramMechanism:
    if image.features.get(METADATA_VERSION, NEWEST) < SCRAM:
        raise Refusal(error_codes.UNSUPPORTED_VERSION, "The current metadata.version does not support SCRAM")
    if not user:
        raise Refusal(error_codes.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if mechanism not in BY_TYPE:
        raise Refusal(error_codes.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    return BY_TYPE[mechanism]


class ScramUserDescription(NamedTuple):
    """A user's mechanisms, each with its iterations, or an error."""

    user: str
    credentials: Sequence[tuple[int, int]] = ()
    error_code: int = error_codes.NONE
    error_message: str = ""


def describe_scram_credentials(image: Image, users: Sequence[str]) -> Wait[list[ScramUserDescription]]:
    """Handles DescribeUserScramCredentials, in slices: these users, or all if none is named."""
    times = yield from counted(users or dict.fromkeys(user for user, _ in (yield from ordered(image.scram))))
    return (yield from sliced(lambda named: _user_description(image, *named), times.items()))


def _user_description(image: Image, user: str, times: int) -> ScramUserDescription:
    if times > 1:
        message = f"Cannot describe SCRAM credentials for the same user twice in a single request: {user}"
        return ScramUserDescription(user, [], error_codes.DUPLICATE_RESOURCE, message)
    found = [(type, image.scram[user, type].iterations) for type in sorted(BY_TYPE) if (user, type) in image.scram]
    if not found:
        message = f"Attempt to describe a user credential that does not exist: {user}"
        return ScramUserDescription(user, [], error_codes.RESOURCE_NOT_FOUND, message)
    return ScramUserDescription(user, found)
