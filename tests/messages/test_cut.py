"""Texts that are too long are cut, and nothing else is changed."""

from kafkadouble.messages import CreateTopicsResponse, FetchRequest
from kafkadouble.messages.cut import cut_texts


def test_a_message_with_a_text_that_is_too_long_can_be_written_again() -> None:
    topics = [
        CreateTopicsResponse.CreatableTopicResult(name="a", error_message="ü" * 20_000),
        CreateTopicsResponse.CreatableTopicResult(name="b", error_message=None),
        CreateTopicsResponse.CreatableTopicResult(name="c" * 32767, error_message="short"),
    ]
    response = CreateTopicsResponse(topics=topics)
    assert cut_texts(response)
    read = CreateTopicsResponse.decode(response.encode(7), 7)
    assert read.topics[0].error_message == "ü" * ((32767 - 3) // 2) + "..."
    assert [topic.error_message for topic in read.topics[1:]] == [None, "short"]
    assert read.topics[2].name == "c" * 32767


def test_a_message_that_fits_is_left_alone() -> None:
    request = FetchRequest(rack_id="x" * 32767)
    assert not cut_texts(request)
    assert request == FetchRequest(rack_id="x" * 32767)
