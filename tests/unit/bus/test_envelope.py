from datetime import UTC, datetime, timedelta, timezone

import pytest

from memvault.bus import envelope
from memvault.bus.envelope import Event, Reject
from memvault.events.v1.events_pb2 import UtteranceAppended

NOW = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def event(**changes: object) -> Event[UtteranceAppended]:
    fields = {
        "id": "e-1",
        "subject": "conversation.utterance.appended",
        "source": "memvault/test",
        "time": NOW,
        "message": UtteranceAppended(user_id="ada", text="茶"),
    }
    return Event(**(fields | changes))


def parse(headers: dict[str, str], data: bytes = b"{}", **known: object) -> Event[UtteranceAppended]:
    return envelope.parse(headers, data, UtteranceAppended, subject="s", stored_at=NOW, **known)


def test_an_event_comes_back_as_it_was_sent():
    sent = event(id="ü\n1", traceparent="00-ab-cd-01")
    received = parse(envelope.headers(sent), envelope.body(sent.message))
    assert received == event(id="ü\n1", traceparent="00-ab-cd-01", subject="s")


def test_headers_are_cloudevents_in_binary_mode_with_the_message_id_equal_to_the_event_id():
    headers = envelope.headers(event(time=NOW.astimezone(timezone(timedelta(hours=8)))))
    assert headers == {
        "Nats-Msg-Id": "e-1",
        "ce-id": "e-1",
        "ce-specversion": "1.0",
        "ce-type": "conversation.utterance.appended",
        "ce-source": "memvault/test",
        "ce-time": "2026-03-01T09:30:00Z",
        "content-type": "application/json",
    }


def test_no_header_can_be_smuggled_in_through_an_id():
    assert all("\n" not in value and "\r" not in value for value in envelope.headers(event(id="a\r\nx: y")).values())


def test_the_body_is_readable_json_with_the_names_of_the_contract():
    assert envelope.body(UtteranceAppended(user_id="ada", text="茶")) == '{"user_id": "ada", "text": "茶"}'.encode()


def test_without_headers_the_stream_gives_id_and_time():
    found = parse({}, stream="UTTERANCES", sequence=7)
    assert (found.id, found.time, found.source) == ("UTTERANCES:7", NOW, "unknown")


def test_header_names_are_read_in_any_case():
    assert parse({"CE-ID": "x", "Ce-Time": "2026-03-01T10:00:00+08:00"}).time == datetime(2026, 3, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize("data", [b"", b"null", b"[]", b"7", b"{", b"\xff", b'{"text": 7}', b"{" * 100_000])
def test_a_body_that_is_no_such_message_is_rejected_with_its_name(data):
    with pytest.raises(Reject, match=r"is not a memvault\.events\.v1\.UtteranceAppended in JSON"):
        parse({}, data)


@pytest.mark.parametrize("value", ["yesterday", "2026-03-01T09:30:00"])
def test_a_time_without_a_zone_or_sense_is_rejected_with_an_example(value):
    with pytest.raises(Reject, match="ce-time"):
        parse({"ce-time": value})


def test_an_endless_id_is_rejected():
    with pytest.raises(Reject, match="longer than 300"):
        parse({"ce-id": "x" * 301})


@pytest.mark.parametrize(
    ("headers", "sequence"),
    [
        ({"Memvault-Replay-For": "search__blocks", "Memvault-Original-Sequence": "7"}, 7),
        ({"memvault-replay-for": "search__blocks", "memvault-original-sequence": "seven"}, 99),
        ({"memvault-replay-for": "search__blocks"}, 99),
        ({"memvault-original-sequence": "7"}, 99),
    ],
)
def test_a_replayed_event_keeps_the_place_it_had_at_first(headers, sequence):
    assert parse(headers, sequence=99).sequence == sequence
