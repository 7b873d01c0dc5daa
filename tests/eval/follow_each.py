"""Play conversations (follow_ups.jsonl) through the rules of follow-ups, and count the turns understood as wanted.

    .venv/bin/python tests/eval/follow_each.py tests/eval/follow_ups.jsonl

A turn says what its standalone question has to contain (`has`), what not (`lacks`), or that it is a question of its own
(`unchanged`). Asked on November 20, 2023; the companies below stand for the catalogue.
"""

from __future__ import annotations

import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

from quelea_generator.core.dialogue.follow_up import FollowUp, stand_alone
from quelea_generator.core.model import Turn

KNOWN = ("Apple", "Amazon", "Microsoft", "NVIDIA", "Intel", "苹果", "亚马逊", "微软", "英伟达", "英特尔")
DAY = date(2023, 11, 20)


def as_wanted(turn: dict[str, Any], found: FollowUp) -> bool:
    """Whether a turn was understood."""
    if turn.get("unchanged"):
        return not found.leans
    low = found.text.lower()
    return all(one.lower() in low for one in turn["has"]) and not any(one.lower() in low for one in turn["lacks"])


def main(path: str) -> None:
    """Print each turn that was not understood, then the counts."""
    right = asked = 0
    for line in Path(path).read_text("utf-8").splitlines():
        history: tuple[Turn, ...] = ()
        for turn in json.loads(line)["turns"]:
            if history:
                told = " ".join([*(one.text for one in history), turn["question"]])
                known = tuple(name for name in KNOWN if name in told)
                found = stand_alone(turn["question"], history, DAY, known)
                asked += 1
                right += as_wanted(turn, found)
                if not as_wanted(turn, found):
                    print(history[-1].text, turn["question"], found.text, sep=" | ")
            history = (*history, Turn("user", turn["question"]))
    print(f"{right} of {asked} turns")


if __name__ == "__main__":
    main(sys.argv[1])
