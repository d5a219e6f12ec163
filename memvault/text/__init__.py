"""Reading text: folding, segmentation, index tokens, sentences, normal form, summaries, token counts.

Everything here is pure and works for Traditional Chinese, Simplified Chinese, English and any mixture of them.
Folded text is for matching only: it is never stored and never shown.
"""

from memvault.text.counting import QWEN, TokenCounter, clip_tokens, count_tokens
from memvault.text.folding import fold, is_chinese
from memvault.text.normal_form import normal_form, query_hash
from memvault.text.segmentation import segment
from memvault.text.sentences import sentences
from memvault.text.summary import extractive_summary
from memvault.text.tokens import search_tokens

__all__ = [
    "QWEN",
    "TokenCounter",
    "clip_tokens",
    "count_tokens",
    "extractive_summary",
    "fold",
    "is_chinese",
    "normal_form",
    "query_hash",
    "search_tokens",
    "segment",
    "sentences",
]
