"""From documents to a folder of pairs: collect, make, split, ask the product, filter, write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from quelea_evaluation.endpoints.client import Client
from quelea_evaluation.endpoints.work import run_all
from quelea_evaluation.inputs import BadInput
from quelea_evaluation.omni.questions.model import Question
from quelea_evaluation.reports.store import git_commit, hash_file, read_formatted, write_json
from quelea_fintext.text import normalise, words

from quelea_training.pairs import filters
from quelea_training.pairs.importers import Holds, Source
from quelea_training.pairs.model import (
    MANIFEST,
    PAIRS,
    PASSAGES,
    SPLITS,
    Pair,
    Pairs,
    Passage,
    Split,
    held_out,
    write_pairs,
)
from quelea_training.pairs.passages import passage_id
from quelea_training.pairs.splits import split

FORMAT = 1
PEOPLE = "people"


@dataclass(frozen=True)
class Plan:
    """What decides a folder, beside the documents; all of it is in the manifest."""

    seed: int = 0
    dev: float = 0.1
    test: float = 0.2
    teacher_k: int = 10
    """Best passages of the product's search among which a pair's passage must be; 0 asks no teacher."""
    negatives: int = 4
    most_per_document: int = 40
    concurrency: int = 2


@dataclass
class Made:
    """Pairs of one source, and what became of the others."""

    passages: dict[str, Passage]
    pairs: list[Pair]
    right: dict[str, frozenset[str]] = field(default_factory=dict)
    """Query -> ids of every passage that answers it, where more than one does."""
    dropped: Counter[str] = field(default_factory=Counter)
    never_train: bool = False


def pairs_of_source(source: Source, ids: Mapping[str, str], passages: Mapping[str, Passage]) -> Made:
    """Pairs of a set's own questions: the right passage with most of the question's words is the pair's.

    Where the answer is a figure of a table, other passages of the document with that row and figure are right as well;
    and where it has figures of several documents, each of these has its best passage.
    Where the set does not say which passage answers, all of the documents' are right in a set that is never trained on,
    and others give no pair.

    Args:
        source: The set.
        ids: Its keys -> ids of documents.
        passages: Of these documents.
    """
    of_document: dict[str, list[Passage]] = {}
    for one in sorted(passages.values(), key=lambda one: (one.document, one.page, one.start)):
        of_document.setdefault(one.document, []).append(one)
    made = Made(dict(passages), [], never_train=source.never_train)
    for asked in source.asked:
        everything = [one for key in sorted(asked.documents) for one in of_document.get(ids.get(key, ""), ())]
        if asked.holds is None and not source.never_train:
            made.dropped["the set does not say which passage answers"] += 1
            continue
        right = [one for one in everything if asked.holds is None or asked.holds(one)]
        if not right:
            made.dropped["no passage holds the answer"] += 1
            continue
        made.right[asked.query] = made.right.get(asked.query, frozenset()) | {one.id for one in right}
        best = _best(asked.query, right)
        if asked.holds is None:
            also = tuple(one.id for one in right if one.id != best.id)
        else:
            also = _right_as_well(asked.query, asked.holds, best, right) if asked.by_figure else ()
        made.pairs.append(replace(Pair.of(asked.query, best, asked.kind, PEOPLE), also=also))
    return made


def _best(query: str, right: Sequence[Passage]) -> Passage:
    """That with most of the query's runs of three words, then of its words."""
    runs, asked = filters.shingles(query), set(words(normalise(query)))
    return max(
        right,
        key=lambda one: (len(runs & filters.shingles(one.encoded)), len(asked & set(words(normalise(one.encoded))))),
    )


def _right_as_well(query: str, holds: Holds, best: Passage, right: Sequence[Passage]) -> tuple[str, ...]:
    """Beside the best one: those of its document with the same row, and the same of each other document asked about."""
    of_document: dict[str, list[Passage]] = {}
    for one in right:
        of_document.setdefault(one.document, []).append(one)
    found = list(_with_same_row(holds, best, right))
    for document, mine in of_document.items():
        if document != best.document:
            other = _best(query, mine)
            found += [other.id, *_with_same_row(holds, other, mine)]
    return tuple(found)


def _with_same_row(holds: Holds, best: Passage, right: Sequence[Passage]) -> tuple[str, ...]:
    """Other passages of the best one's document that have the figure, and the label of its row there.

    None where the figure stands in prose: there it has no label by which it is the same figure.
    """
    if not best.is_table:
        return ()
    rows = [line for line in best.text.splitlines() if "\t" in line]
    label = next((row.partition("\t")[0] for row in rows if holds(replace(best, head="", text=row))), "")
    wanted = normalise(label).strip(" :")
    if not wanted:
        return ()
    return tuple(
        one.id for one in right if one.document == best.document and one.id != best.id and wanted in normalise(one.text)
    )


def pairs_of_questions(questions: Iterable[Question], passages: Mapping[str, Passage]) -> tuple[list[Pair], int]:
    """Pairs of a file of OmniEval questions, and how many have no stored passage."""
    of_page: dict[tuple[str, int], list[Passage]] = {}
    for one in passages.values():
        of_page.setdefault((one.document, one.page), []).append(one)
    found, lost = [], 0
    for question in questions:
        shared = [
            (min(one.end, cited.end) - max(one.start, cited.start), one.id)
            for cited in question.passages
            for one in of_page.get((cited.document_id, cited.page), ())
        ]
        overlap, name = max(shared, default=(0, ""))
        if overlap <= 0:
            lost += 1
            continue
        by = str(question.source.get("model", "") or PEOPLE)
        found.append(Pair.of(question.turns[-1].question, passages[name], question.task, by))
    return found, lost


async def refine(
    made: Made, gateway: Client, plan: Plan, known: dict[str, Split], say: Callable[[str], None]
) -> list[Pair]:
    """The pairs split, without repeats and leaks, found again by the teacher, and with hard negatives.

    Pairs to test with are never filtered by a search: what it cannot find is what a test is for. Nor are questions of
    people; the teacher judges what was made.

    Args:
        made: Of one source.
        gateway: The product that is asked.
        plan: How.
        known: The splits of companies and documents in the sources before; those of this one are added.
        say: Takes lines about the work.

    Raises:
        EndpointError: The gateway did not answer.
    """
    before = len(made.pairs)
    pairs = filters.without_repeats(made.pairs)
    made.dropped["repeats"] += before - len(pairs)
    pairs = split(
        pairs, made.passages, known, seed=plan.seed, dev=plan.dev, test=plan.test, never_train=made.never_train
    )
    kept = filters.without_leaks(pairs, made.passages)
    made.dropped["nearly what is tested with"] += len(pairs) - len(kept)
    asked = [pair for pair in kept if pair.made_by == PEOPLE]
    sampled = filters.sample_spread(kept, plan.most_per_document, plan.seed, first=asked)
    made.dropped["over the most of a document"] += len(kept) - len(sampled)
    return await _ask_teacher(made, sampled, gateway, plan, say)


async def _ask_teacher(
    made: Made, pairs: Sequence[Pair], gateway: Client, plan: Plan, say: Callable[[str], None]
) -> list[Pair]:
    asked = [pair for pair in pairs if pair.split != "test"] if plan.teacher_k or plan.negatives else []
    ranked: dict[str, list[str]] = {}

    async def ask(pair: Pair) -> None:
        k = max(plan.teacher_k, 2 * plan.negatives + 4)
        answer, _ = await gateway.post("/v1/search", {"query": pair.query, "k": k})
        ranked[pair.id] = [passage_id(one) for one in answer["passages"]]
        if len(ranked) % 100 == 0 or len(ranked) == len(asked):
            say(f"asked the product: {len(ranked)} of {len(asked)} queries")

    await run_all(asked, ask, plan.concurrency)
    refined = []
    for pair in pairs:
        found = ranked.get(pair.id)
        if found is None:
            refined.append(pair)
            continue
        judged = plan.teacher_k and pair.made_by != PEOPLE
        if judged and not filters.is_found(pair, found, made.passages, plan.teacher_k):
            made.dropped["not found again by the teacher"] += 1
            continue
        right = made.right.get(pair.query, frozenset())
        searched = filters.choose_negatives(pair, found, right, made.passages, plan.negatives)
        others = [name for name in searched if name not in pair.negatives]
        refined.append(
            replace(pair, negatives=(*pair.negatives, *others[: max(plan.negatives - len(pair.negatives), 0)]))
        )
    return refined


def write_folder(
    folder: Path, made: Sequence[Made], pairs: Sequence[Pair], plan: Plan, versions: dict[str, str]
) -> None:
    """All files; the manifest last, so that a folder without one is not whole.

    Raises:
        BadInput: No pair is left.
    """
    if not pairs:
        raise BadInput("no pair is left: store more documents, or give --teacher-k 0 to keep what no search finds")
    passages = {name: one for part in made for name, one in part.passages.items()}
    unique = {pair.id: pair for pair in pairs}
    dropped: Counter[str] = Counter()
    for part in made:
        dropped.update(part.dropped)
    found = Pairs(passages, tuple(unique.values()))
    (folder / MANIFEST).unlink(missing_ok=True)
    write_pairs(folder, found)
    write_manifest(folder, found, {"settings": asdict(plan), "dropped": dict(dropped), "versions": versions})


def write_manifest(folder: Path, found: Pairs, about: Mapping[str, Any]) -> None:
    """What the folder holds, from what, by whom, and the hashes of it."""
    write_json(
        folder / MANIFEST,
        {
            "format": FORMAT,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": git_commit(),
            **about,
            "sources": list(_sources(found)),
            "counts": {
                "pairs": len(found.pairs),
                "with hard negatives": sum(bool(pair.negatives) for pair in found.pairs),
                "splits": {one: len(found.of(one)) for one in SPLITS},
                "kinds": dict(Counter(pair.kind for pair in found.pairs).most_common()),
                "languages": dict(Counter(pair.language for pair in found.pairs).most_common()),
                "made_by": dict(Counter(pair.made_by for pair in found.pairs).most_common()),
            },
            "files": {name: hash_file(folder / name) for name in (PASSAGES, PAIRS)},
            "held_out": held_out(found.passages.values(), found.pairs),
        },
    )


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder whose files are as it says.

    Raises:
        BadRun: There is none, or of another format.
        BadInput: A file was changed since.
    """
    advice = "make the folder with `quelea train pairs`"
    manifest = read_formatted(folder / MANIFEST, FORMAT, f"{folder} has no {MANIFEST}; {advice}.", advice)
    for name, wanted in manifest["files"].items():
        if not (folder / name).is_file() or hash_file(folder / name) != wanted:
            raise BadInput(
                f"{folder / name} is not what the manifest says; {advice}, or `quelea train review` to change it"
            )
    return manifest


def _sources(found: Pairs) -> Iterator[dict[str, Any]]:
    documents: dict[tuple[str, str], set[str]] = {}
    for one in found.passages.values():
        documents.setdefault((one.source, one.licence), set()).add(one.document)
    for (name, licence), mine in sorted(documents.items()):
        count = sum(pair.source == name for pair in found.pairs)
        yield {"source": name, "licence": licence, "documents": sorted(mine), "pairs": count}
