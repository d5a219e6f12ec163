from pathlib import Path

import pytest

from memvault.bus import subjects
from memvault.bus.consume import pause_before


def test_durable_names_are_unique_have_no_dots_and_name_their_service():
    names = [durable.name for durable in subjects.DURABLES]
    assert len(set(names)) == len(names)
    assert all("." not in name and "__" in name for name in names)


def test_every_durable_listens_to_a_subject_that_its_stream_stores():
    for durable in subjects.DURABLES:
        if not durable.name.startswith("bus__"):
            assert subjects.stream_of(durable.subject).name == durable.stream


def test_every_subject_is_stored_by_exactly_one_stream():
    stored = [subject for stream in subjects.STREAMS for subject in stream.subjects]
    assert len(set(stored)) == len(stored)
    own = {
        value for name, value in vars(subjects).items() if name.isupper() and isinstance(value, str) and "." in value
    }
    assert own - {subjects.DEAD_LETTER_PREFIX} <= set(stored)


def test_all_durables_are_listed():
    named = {value for value in vars(subjects).values() if isinstance(value, subjects.Durable)}
    assert named == set(subjects.DURABLES)


def test_a_subject_that_nothing_stores_names_the_file_to_change():
    with pytest.raises(KeyError, match=r"memvault/bus/subjects\.py"):
        subjects.stream_of("memory.block.painted")


@pytest.mark.r("R-62")
def test_blocks_and_triples_are_kept_until_acknowledged_and_utterances_at_most_a_day():
    for subject in (subjects.BLOCK_UPSERTED, subjects.BLOCK_INDEXED, subjects.TRIPLE_UPSERTED):
        assert subjects.stream_of(subject).retention is subjects.Retention.UNTIL_ACKNOWLEDGED
    assert subjects.stream_of(subjects.UTTERANCE_APPENDED).max_age == "utterance_max_age_s"


def test_pauses_follow_the_schedule_and_stay_at_its_end():
    for delivery, planned in ((1, 0.2), (2, 1.0), (3, 5.0), (9, 5.0)):
        assert planned * 0.8 <= pause_before(delivery, (0.2, 1.0, 5.0)) <= planned * 1.2


def test_every_declared_durable_is_subscribed_by_its_service():
    services = Path(__file__).parents[3] / "services"
    for name, durable in vars(subjects).items():
        if isinstance(durable, subjects.Durable) and not durable.name.startswith("bus__"):
            service = durable.name.partition("__")[0]
            sources = (services / service / f"memvault_{service}").rglob("*.py")
            assert any(name in source.read_text(encoding="utf-8") for source in sources), f"nobody reads {durable.name}"
