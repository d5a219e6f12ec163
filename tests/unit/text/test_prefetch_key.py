"""The keys that writer and readers of the prefetch cache share (R-53, R-54)."""

from __future__ import annotations

import pytest

from memvault.prefetch_key import (
    conditions_fingerprint,
    entry_key,
    figures_key,
    index_key,
    pack_index_value,
    prefetch_key,
    unpack_index_value,
    used_key,
)
from memvault.text import query_hash


@pytest.mark.r("R-53")
def test_an_entry_lies_under_user_and_query_hash() -> None:
    assert prefetch_key("ann", "OCR 做到哪了？") == f"memvault:prefetch:ann:{query_hash('OCR 做到哪了？')}"
    assert prefetch_key("ann", "ocr  做到哪了?") == prefetch_key("ann", "OCR 做到哪了？")


def test_no_two_kinds_of_key_collide_for_any_user() -> None:
    hashed = query_hash("x")
    keys = {entry_key("ann", hashed), index_key("ann"), figures_key("ann"), used_key("ann", hashed), figures_key("")}
    assert len(keys) == 5


def test_an_index_value_comes_back_as_it_was_packed() -> None:
    expires_at, vector = unpack_index_value(pack_index_value(1_790_000_000.25, [0.5, -1.0, 0.0]))
    assert (expires_at, vector) == (1_790_000_000.25, [0.5, -1.0, 0.0])


@pytest.mark.parametrize("damaged", [b"", b"1234567", b"123456789"])
def test_a_damaged_index_value_is_refused(damaged: bytes) -> None:
    with pytest.raises(ValueError, match="index value"):
        unpack_index_value(damaged)


@pytest.mark.r("R-54")
def test_other_filters_time_profile_or_zone_are_other_conditions() -> None:
    made = {
        conditions_fingerprint(),
        conditions_fingerprint(filters=b"a"),
        conditions_fingerprint(as_of="a"),
        conditions_fingerprint(profile="a"),
        conditions_fingerprint(time_zone="a"),
    }
    assert len(made) == 5
    assert conditions_fingerprint(b"", "", "", "") == conditions_fingerprint()
