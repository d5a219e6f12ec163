"""Qwen's tokenizer as it comes with a model, with the care that texts of strangers need."""

import re
from collections.abc import Sequence
from pathlib import Path

from memvault.faults import Fault, Reason
from memvault.text.folding import without_surrogates


class QwenTokenizer:
    """Text to token ids; safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        """Read `tokenizer.json`.

        Raises:
            Fault: NO_MODEL when the library is missing or the file is none.

        """
        try:
            from tokenizers import Tokenizer  # noqa: PLC0415 - importing this module does no work
        except ImportError as error:
            raise Fault(Reason.NO_MODEL, "the package tokenizers is missing: run `pip install mlx-lm`") from error
        path = folder / "tokenizer.json"
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception
            raise Fault(Reason.NO_MODEL, f"{path} is no tokenizer ({error}): fetch the model again") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        added = self._tokenizer.get_added_tokens_decoder().values()
        special = sorted((token.content for token in added if token.special), key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, special)) or r"(?!)")

    def ids(self, text: str) -> list[int]:
        """Return the ids of a text; nothing is put before or after it, special tokens in it count as such."""
        ids: list[int] = self._tokenizer.encode(without_surrogates(text), add_special_tokens=False).ids
        return ids

    def id_of(self, token: str) -> int:
        """Return the id of a token that must exist as one.

        Raises:
            Fault: NO_MODEL when the vocabulary has no such token.

        """
        found: int | None = self._tokenizer.token_to_id(token)
        if found is None:
            message = f"the tokenizer has no token {token}: this is another model than the setting says"
            raise Fault(Reason.NO_MODEL, message, token=token)
        return found

    def plain(self, text: str) -> str:
        """Take special tokens out of a text, so that what somebody wrote never steers the model.

        Taking one out may join what stood around it into another: such a one becomes a blank, and none is left.
        """
        without = self._special.sub("", text)
        return self._special.sub(" ", without)

    def clipped(self, text: str, limit: int) -> tuple[str, int]:
        """Cut a text after `limit` tokens, at least 1, never inside a character.

        Returns:
            The text and the number of tokens it was counted as, at most `limit`.

        """
        clean = without_surrogates(text)
        encoding = self._tokenizer.encode(clean, add_special_tokens=False)
        offsets: Sequence[tuple[int, int]] = encoding.offsets
        if len(offsets) <= limit:
            return clean, len(offsets)
        return clean[: offsets[limit][0]], limit
