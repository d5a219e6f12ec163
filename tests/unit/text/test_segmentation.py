import subprocess
import sys

from memvault.text import fold
from memvault.text.segmentation import parts_of_speech


def test_words_come_with_their_part_of_speech_and_nothing_is_lost():
    folded = fold("芷寧在台北比較 two OCR")
    words = parts_of_speech(folded)
    assert "".join(word for word, _ in words) == folded
    assert ("台北", "ns") in words


def test_reading_the_dictionaries_waits_until_they_are_needed():
    code = (
        "import sys, memvault.text, memvault.screening; print(sorted({'rjieba', 'snowballstemmer'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
