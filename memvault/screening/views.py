"""Views of a text: what a disguised text says, with the way back to the original characters.

A view is a string and, for each of its characters, the offset of the original character that it came from; one disguise
is lifted per view, or an instruction could hide behind the next one (R-40).
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from urllib.parse import unquote

import disarm

from memvault.text.folding import compatible, simplified

_TAGS = range(0xE0020, 0xE007F)
_LEET = str.maketrans("013457@$!|+", "oieastasiit")
_LEET_WORD = re.compile(r"(?<![a-z])[a-z]*+[0134578@$!|+][a-z0134578@$!|+]*")
_LETTER = re.compile(r"[a-z]")
_SPELLED = re.compile(r"(?<![^\W_])(?:[^\W\d_][\W_]{1,2}){5,}[^\W\d_](?![^\W_])")
_STOPS = {"。": "。", "！": "！", "？": "？", "!": "！", "?": "？"}
_PAUSE = "，"
_PAUSES = dict.fromkeys(",，、;；:：\n", _PAUSE)
_KEPT = re.compile(f"[\\w{''.join(_STOPS)}]+")
_KEPT_WITH_PAUSES = re.compile(f"[\\w{''.join(_STOPS | _PAUSES)}]+")
_KEPT_JOINED = re.compile(f"[\\w{''.join(_STOPS | _PAUSES)}\0]+")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_ROT13 = bytes.maketrans(_ALPHABET.encode(), (_ALPHABET[13:] + _ALPHABET[:13]).encode())
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[\s:]?){12,}")
_BASE32 = re.compile(r"[A-Z2-7]{24,}={0,6}")
_BINARY = re.compile(r"(?:[01]{8}[\s,]?){8,}")
_PERCENT = re.compile(r"(?:[\w.~-]{0,20}%[0-9A-Fa-f]{2}){3,}[\w.~%-]*")
_READABLE_SHARE = 0.9


class TextView:
    """A form of a text."""

    def __init__(self, text: str, trace: Callable[[], Sequence[int]]) -> None:
        """`text`: the folded or decoded text. `trace` finds the origins of its characters, should they be wanted."""
        self.text = text
        self._trace = trace

    @cached_property
    def origins(self) -> Sequence[int]:
        """For each character of `text` the offset of its origin; found late, since most texts hide nothing."""
        return self._trace()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original span `[start, end)` of a non-empty span of this view."""
        covered = self.origins[start:end]
        return min(covered), max(covered) + 1


@lru_cache(maxsize=16384)
def _folded(character: str) -> str:
    """Return what one character reads as: nothing, or a few lower-case letters without accents."""
    code = ord(character)
    if code in _TAGS:
        return chr(code - 0xE0000).lower()
    plain = compatible(character)
    if not plain:
        return ""
    if not plain.isascii():
        plain = simplified(_latin(plain))
    bare = "".join(c for c in unicodedata.normalize("NFKD", plain.casefold()) if not unicodedata.combining(c))
    return bare if bare or plain.isspace() else ""


def _latin(plain: str) -> str:
    return disarm.normalize_confusables(plain) if not plain[0].isspace() else plain


def folded(text: str) -> TextView:
    """Return the text without case, width, accents, invisible characters, look-alike letters and Traditional script."""
    if text.isascii():
        return TextView(text.lower(), lambda: range(len(text)))
    return TextView(
        text.translate(_READS), lambda: [at for at, character in enumerate(text) for _ in _READS[ord(character)]]
    )


class _Reads(dict[int, str]):
    """What each character reads as, by its code; filled as characters turn up."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        return self.setdefault(code, character.lower() if character.isascii() else _folded(character))


_READS = _Reads()


def compact(view: TextView) -> TextView:
    """Return the view without blanks and punctuation, apart from the ends of sentences and clauses."""
    return _packed(view, _STOPS | _PAUSES, _KEPT_WITH_PAUSES)


def solid(view: TextView) -> TextView:
    """Return the view without blanks and punctuation, apart from the ends of sentences."""
    return _packed(view, _STOPS, _KEPT)


def packed_texts(joined: str) -> tuple[str, str]:
    """Return the texts of `compact` and `solid` of folded texts that are joined by NUL characters, joined as they were.

    Both are made from one reading: `solid` is `compact` without its pauses.
    """
    texts = _read("".join(_KEPT_JOINED.findall(joined)), _STOPS | _PAUSES)
    return texts, texts.replace(_PAUSE, "")


def _read(text: str, signs: dict[str, str]) -> str:
    text = text.replace("_", "")
    for sign, read in signs.items():
        text = text.replace(sign, read)
    return text


def _packed(view: TextView, signs: dict[str, str], kept: re.Pattern[str]) -> TextView:
    """Return what is `kept` of the view, its `signs` as they are to be read."""

    def trace() -> list[int]:
        return [view.origins[at] for at, c in enumerate(view.text) if c.isalnum() or c in signs]

    return TextView(_read("".join(kept.findall(view.text)), signs), trace)


def leet(view: TextView) -> TextView | None:
    """Return the view with digits and signs inside words read as letters, or None if there are none."""
    text = _LEET_WORD.sub(_as_letters, view.text)
    return TextView(text, lambda: view.origins) if text != view.text else None


def _as_letters(match: re.Match[str]) -> str:
    word = match.group()
    return word.translate(_LEET) if _LETTER.search(word) else word


def spelled_at(view: TextView) -> Iterator[int]:
    """Yield where in the view each run of single letters begins."""
    return (match.start() for match in _SPELLED.finditer(view.text))


def spelled(view: TextView) -> Iterator[TextView]:
    """Yield each run of single letters ("i g n o r e") without what stands between them."""
    for match in _SPELLED.finditer(view.text):
        kept = [at for at in range(match.start(), match.end()) if view.text[at].isalnum()]
        origins = [view.origins[at] for at in kept]
        yield TextView("".join(view.text[at] for at in kept), partial(list, origins))


def rotated(view: TextView) -> TextView:
    """Return the view with each Latin letter moved by 13 places."""
    # of bytes, because a str that is not all ASCII is translated character by character
    text = view.text.encode("utf-8", "surrogatepass").translate(_ROT13).decode("utf-8", "surrogatepass")
    return TextView(text, lambda: view.origins)


def reversed_(view: TextView) -> TextView:
    """Return the view from its end to its beginning."""
    return TextView(view.text[::-1], lambda: view.origins[::-1])


def decoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and content of each piece in base64, base32, hexadecimal, binary or percent code that reads."""
    for sign, pattern, decode in _ENCODINGS:
        for match in pattern.finditer(text) if sign in text else ():
            content = decode(match.group())
            if content and _readable(content):
                yield match.start(), match.end(), content


def _from_base64(piece: str) -> str:
    body = piece.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(body + "=" * (-len(body) % 4)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""  # not base64 of a text: there is nothing to read


def _from_hex(piece: str) -> str:
    try:
        return bytes.fromhex(re.sub(r"[\s:]", "", piece)).decode("utf-8")
    except ValueError:
        return ""  # not the digits of a text: there is nothing to read


def _from_base32(piece: str) -> str:
    body = piece.rstrip("=")
    try:
        return base64.b32decode(body[: len(body) - len(body) % 8]).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""  # not base32 of a text: there is nothing to read


def _from_binary(piece: str) -> str:
    digits = re.sub(r"[\s,]", "", piece)
    try:
        return int(digits, 2).to_bytes(len(digits) // 8, "big").decode("utf-8")
    except UnicodeDecodeError:
        return ""  # not the bits of a text: there is nothing to read


_ENCODINGS: tuple[tuple[str, re.Pattern[str], Callable[[str], str]], ...] = (
    ("", _BASE64, _from_base64),
    ("", _BASE32, _from_base32),
    ("", _HEX, _from_hex),
    ("", _BINARY, _from_binary),
    ("%", _PERCENT, unquote),
)
"""What a piece in code cannot do without, its form, and how it is read."""


def _readable(content: str) -> bool:
    printable = sum(c.isprintable() or c.isspace() for c in content)
    return printable >= _READABLE_SHARE * len(content)
