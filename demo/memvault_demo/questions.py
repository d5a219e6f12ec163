"""The questions the demo asks: one per intent and facet, and a few that only work with both ways of searching."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A question with the reason for asking it."""

    text: str
    shows: str


QUESTIONS = (
    Question("上週那個 OCR 做到哪了？", "progress, from a new conversation: what is recent and about the work"),
    Question("最近聊什麼？", "recollection: conversations, newest first"),
    Question("我在想要不要換成 Rust 寫，你覺得？", "advice: slow, walks the graph to what was done and said before"),
    Question("你覺得我下一步該怎麼走", "advice without a subject: goals, open tasks, offers"),
    Question("什麼是 PPR？", "definition"),
    Question("誰是芷寧？", "entity lookup"),
    Question("INC-4827", "an exact code, found by its letters among near-copies"),
    Question("BlueMagpie 例會是什麼時候？", "factual, with a newer fact that contradicts an older one"),
    Question("為什麼直排收據會辨識失敗？", "conceptual: slow, with summaries written ahead"),
    Question("關於記憶系統，我最近有哪些想法？", "exploratory: what is new weighs more"),
    Question("咖啡店的收據和 OCR 的準確率有什麼關聯？", "cross-domain: two subjects and what joins them"),
    Question("Which doctor looked at my wrist?", "an English question about a Chinese memory"),
    Question("收據掃描 App 的比較", "a memory that holds an attack: the instruction is cut out on delivery"),
    Question("量子色動力學的漸近自由", "nothing relevant: says so instead of dressing up the best of a bad lot"),
)

CONVERSATION = (
    ("user", "隱私權政策的草稿還卡在法務那裡"),
    ("assistant", "要我去提醒他們嗎？"),
    ("user", "先不用，隱私權政策等他們有空再說"),
)
PREDICTED = "隱私權政策最近怎麼樣？"
"""What the Slow Thinker expects next: nobody asked it; the subject is in the graph and was just talked about."""
NEXT_QUESTION = "隱私權政策最近怎麼樣了"
"""What is then asked, in words of one's own: near enough to the predicted question to be given its answer."""
