"""Whether the encoder finds the line of a statement that a question means in words of its own.

python tests/eval/line_match.py --data ../shared/data: for each filing in filings_ixbrl, the labels of its facts, read
without its tags, are ordered by their cosine to each phrase of line_words.json. Right: the first label's fact has the
concept. `no_line` is what no statement has: the cosine of its best label says where one would have to decline.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

import numpy as np
from quelea_embedder.adapters.openvino_encoder import OpenVinoEncoder
from quelea_embedder.core.model import Kind
from quelea_evaluation.statements.key import without_tags
from quelea_fintext.asked_lines import read_asked_lines
from quelea_search.adapters.formats import parse
from quelea_search.core.metadata.read import read_metadata
from quelea_search.core.model import ParseLimits
from quelea_search.core.statements.read import read_statements


def labels_of(path: Path) -> dict[str, set[str]]:
    """Label → concepts of the facts that have it."""
    html = without_tags(gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))
    name = path.name.removesuffix(".gz")
    parsed = parse(html.encode(), name, limits=ParseLimits(), on_progress=lambda *_: None)
    found: dict[str, set[str]] = {}
    for fact in read_statements(parsed, read_metadata(parsed, name, None)):
        found.setdefault(fact.label, set()).add(fact.concept)
    return found


def main() -> None:
    """Print shares by part, and how well the best cosine tells a line that is there from one that is not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--model", default=".cache/models/multilingual-e5-small")
    options = parser.parse_args()
    words = json.loads(Path(__file__).with_name("line_words.json").read_text(encoding="utf-8"))
    encoder = OpenVinoEncoder(options.model, options.model, precision="fp32")
    asked = {
        part: [(concept, phrase) for concept, phrases in words[part].items() for phrase in phrases]
        for part in ("direction", "held")
    }
    vectors = {phrase: encoder.encode([phrase], Kind.QUERY)[0] for some in asked.values() for _, phrase in some}
    nowhere = [encoder.encode([phrase], Kind.QUERY)[0] for phrase in words["no_line"]]
    ranks: dict[str, list[int]] = {part: [] for part in asked}
    by_list: dict[str, list[bool]] = {part: [] for part in asked}
    there: list[tuple[float, bool]] = []
    absent: list[float] = []
    for path in sorted((options.data / "filings_ixbrl").glob("*.html.gz")):
        concepts = labels_of(path)
        if not concepts:
            continue
        labels = list(concepts)
        matrix = np.concatenate([encoder.encode([label], Kind.QUERY) for label in labels])
        for part, some in asked.items():
            for concept, phrase in some:
                if not any(concept in one for one in concepts.values()):
                    continue
                cosines = matrix @ vectors[phrase]
                order = np.argsort(-cosines)
                rank = next(i for i, at in enumerate(order, 1) if concept in concepts[labels[at]])
                ranks[part].append(rank)
                there.append((float(cosines.max()), rank == 1))
                lines = read_asked_lines(f"What was the {phrase}?").lines
                by_list[part].append(any(line.id == concept for line in lines))
        absent += [float((matrix @ vector).max()) for vector in nowhere]
    for part, found in ranks.items():
        first, three = (sum(rank <= most for rank in found) / len(found) for most in (1, 3))
        lists = np.mean(by_list[part])
        print(f"{part:10} {len(found):4} asked  first {first:.3f}  in three {three:.3f}  by the lists {lists:.3f}")
    auc = np.mean([[(a > b) + (a == b) / 2 for b in absent] for a, _ in there])
    print(
        f"a line that is there against one that is not, by the best cosine: AUC {auc:.3f} ({len(there)}, {len(absent)})"
    )
    for wanted in (0.95, 0.9):
        level = float(np.quantile(absent, wanted))
        kept = [right for cosine, right in there if cosine > level]
        right = sum(kept)
        wrong = len(kept) - right + round((1 - wanted) * len(absent))
        print(
            f"declining {wanted:.0%} of {len(absent)} that are not there (cosine over {level:.3f}): answered "
            f"{len(kept)} of {len(there)}, right {right}; of all answers {right / max(right + wrong, 1):.3f} are right"
        )


if __name__ == "__main__":
    main()
