"""What `quelea eval binding` makes of passages, and that the fit tells right rivals from wrong ones."""

from __future__ import annotations

import json
from pathlib import Path

import quelea_checker as checking
from quelea_checker.binding import scorer
from quelea_evaluation.figures import binding_fit
from quelea_evaluation.figures.binding_fit import Document, Observed

TABLE = (
    "(in millions)\n\tJune 30, 2024\tJune 30, 2023\nTimber stock\t1,204\t1,377\nPaper stock\t2,451\t1,688\n"
    "Machines and vehicles\t5,310\t4,907\nDeposits of tenants\t3,066\t2,843\nPrepaid rent\t7,128\t6,954"
)
TEXT = "Shipments of pulp came to 48,310 tons in the year. Deliveries of board were 27,940 tons, and scrap 1,350 tons."


def test_the_gateway_makes_true_and_false_sentences_and_tells_the_features_of_their_rivals() -> None:
    document = Document("mill", ({"text": TABLE}, {"text": TEXT}), (("Paper stock was $2,451 million in 2024.", ""),))
    seen = binding_fit.observe([document])
    assert {one.kind for one in seen} >= {"cell", "row", "natural"}
    assert {one.rival for one in seen if one.kind == "row"} == {True}
    assert not any(one.rival for one in seen if one.kind in {"cell", "two", "prose", "natural"})
    assert {len(one.features) for one in seen} == {len(scorer.FEATURES)}
    again = binding_fit.observe([document])
    assert [(one.kind, one.rival) for one in again] == [(one.kind, one.rival) for one in seen]


def test_a_fit_says_what_it_was_told_and_is_judged_on_what_it_has_not_seen() -> None:
    seen = [
        Observed("row" if right else "cell", held, right, (float(right) + n % 3 / 10, float(n % 5), 7.0))
        for right in (False, True) for held in (False, True) for n in range(20)
    ]  # fmt: skip
    fitted = binding_fit.fit(seen, ("tells", "noise", "constant"), 0.5)
    assert fitted["features"]["tells"]["weight"] > abs(fitted["features"]["noise"]["weight"])
    found = binding_fit.figures(fitted, seen)
    assert (found["held_out"], found["auc"], found["caught"], found["flagged"]) == (40, 1.0, 1.0, 0.0)


def test_the_checker_reads_what_is_written_and_has_its_features() -> None:
    path = Path(checking.__file__).parent / "binding" / "weights.json"
    written = json.loads(path.read_text("utf-8"))
    assert tuple(written["features"]) == scorer.FEATURES
    assert "quelea eval binding" in written["note"]
    assert json.loads(binding_fit._format_weights(written)) == written
