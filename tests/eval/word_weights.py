"""What a stranger learns of another tenant's words from the scores of his own documents.

    python tests/eval/word_weights.py

He stores two documents that differ in one word, one with the word he wonders about and one with a word that he made up,
and searches for both words: the two scores are equal as long as nobody else uses the first one. Printed: the scores,
while the other tenant stores more and more documents with the word. Store and ranking are the real ones, the encoder is
a fake, so that nothing but words tells the two apart.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.tenant_stack import BONDS, DEFAULT, tenant_stack

WORD, MADE_UP = "kestrel", "zzvorquil"
OTHERS = (0, 1, 3, 10)
"""Documents of the other tenant that have the word."""


def page(text: str) -> str:
    return f"<html><body><p>{text}</p></body></html>"


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with tenant_stack(Path(folder), store="qdrant_edge") as stack:
            for number in range(30):  # so that a word is rare
                text = f"Orchard number {number} sold apples and pears."
                await stack.upload(f"{DEFAULT} all", f"o{number}.html", page(text))
            for word in (WORD, MADE_UP):
                await stack.upload(f"{BONDS} all", f"{word}.html", page(f"The plan {word} goes ahead in spring."))
            stored = 0
            for count in OTHERS:
                for number in range(stored, count):
                    await stack.upload(f"{DEFAULT} all", f"s{number}.html", page(f"Memo {number} on {WORD}: secret."))
                stored = count
                async with stack.client(f"{BONDS} all") as http:
                    found = (await http.post("/v1/search", json={"query": f"{WORD} {MADE_UP}"})).json()["passages"]
                scores = {name: one["score"] for one in found for name in (WORD, MADE_UP) if name in one["text"]}
                print(f"{count:3d} documents elsewhere: {scores}")


asyncio.run(main())
