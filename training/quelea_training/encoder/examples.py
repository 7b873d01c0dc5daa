"""What is trained on and tested with, out of folders of pairs; a document that is held out is refused by its hash."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from quelea_evaluation.inputs import BadInput
from quelea_fintext.times.periods import find_periods

from quelea_training.encoder.recipe import Recipe
from quelea_training.pairs.filters import HeldTexts
from quelea_training.pairs.making import read_manifest
from quelea_training.pairs.model import Pair, Pairs, Passage, Split, fingerprint, read_pairs

Kind = Literal["query", "passage"]
_ANCHORS, _ANCHOR_LENGTH = 256, 160
"""Texts of each kind that are anchors, and characters of one: short ones hold the vectors as well, and cost less."""
_HELD_OUT: tuple[Split, ...] = ("test",)


@dataclass(frozen=True)
class Material:
    """Folders of pairs, joined."""

    pairs: Pairs
    manifests: Mapping[str, Mapping[str, Any]]
    """Folder's name -> its manifest."""

    def licences(self) -> list[str]:
        """Of the sources."""
        return sorted({one["licence"] for each in self.manifests.values() for one in each["sources"]})


def load(folders: Sequence[Path], tested: Sequence[Path] = (), splits: Collection[Split] = _HELD_OUT) -> Material:
    """Folders of pairs to train on, and others of which only some splits are used, never to train on.

    Raises:
        BadInput: A file was changed since it was made, or a document or passage of training is one that a folder holds
            out.
        BadRun: A folder has no manifest.
    """
    manifests = {str(folder): read_manifest(folder) for folder in (*folders, *tested)}
    passages: dict[str, Passage] = {}
    pairs: list[Pair] = []
    for folder in (*folders, *tested):
        found = read_pairs(folder)
        passages |= found.passages
        pairs += [pair for pair in found.pairs if folder in folders or pair.split in splits]
    refuse_held_out(pairs, passages, [one["held_out"] for one in manifests.values()])
    return Material(Pairs(passages, tuple(pairs)), manifests)


def refuse_held_out(
    pairs: Iterable[Pair], passages: Mapping[str, Passage], held_out: Sequence[Mapping[str, Sequence[str]]]
) -> None:
    """See that nothing that is tested with is trained on or chosen by.

    Raises:
        BadInput: A document, or the text of a passage, is held out.
    """
    documents = {name for one in held_out for name in one["documents"]}
    texts = {name for one in held_out for name in one["texts"]}
    for pair in pairs:
        if pair.split == "test":
            continue
        if pair.document in documents:
            raise BadInput(
                f"pair {pair.id} of {pair.split} is of document {pair.document}, which is held out for testing; make "
                "the folder anew with `quelea train pairs`, or do not test with the folder that holds it out"
            )
        for name in (pair.passage, *pair.negatives):
            if name == pair.passage and fingerprint(passages[name].text) in texts:
                raise BadInput(
                    f"pair {pair.id} of {pair.split} has the words of a passage that is held out for testing "
                    f"({pair.passage}); drop it in the review, or make the folder anew with `quelea train pairs`"
                )


def rows(material: Material, recipe: Recipe) -> dict[str, list[str]]:
    """Columns of the training set: query, passage, negative_1, …; every query has as many negatives as any other.

    Hard negatives that are held out, or that are missing, are replaced by random passages of the same source. The
    random ones of the paper's objective are drawn once, by the seed, of all sources. A passage that answers as well is
    no negative, where there are others. With `swap_headers` the last negative may be a passage that there is not: the
    right one's words under another document's header.

    Raises:
        BadInput: There is no pair to train on.
    """
    pairs, passages = material.pairs.of("train"), material.pairs.passages
    if len(pairs) < 2:
        raise BadInput(
            f"of {len(material.pairs.pairs)} pairs {len(pairs)} are to train on, and two are the least: make pairs of "
            "more documents with `quelea train pairs`, or with a smaller --test and --dev"
        )
    held = {pair.document for pair in material.pairs.pairs if pair.split != "train"}
    pool = [name for name, one in passages.items() if one.document not in held]
    of_source: dict[str, list[str]] = {}
    for name in pool:
        of_source.setdefault(passages[name].source, []).append(name)
    headers = {source: _headers(passages[name] for name in names) for source, names in of_source.items()}
    count = recipe.random if recipe.objective == "weaverbird" else recipe.hard
    chance = np.random.default_rng(recipe.seed)
    columns: dict[str, list[str]] = {"query": [], "passage": []}
    columns |= {f"negative_{at}": [] for at in range(1, count + 1)}
    for pair in pairs:
        columns["query"].append(pair.query)
        columns["passage"].append(passages[pair.passage].encoded)
        hard = [name for name in pair.negatives if passages[name].document not in held]
        chosen = [] if recipe.objective == "weaverbird" else hard[:count]
        right = {pair.passage, *pair.also}
        near = pool if recipe.objective == "weaverbird" else of_source.get(pair.source, pool)
        if len(near) <= len(right):  # else a draw or two finds one that does not answer
            near = [name for name in near if name not in right] or near
        is_all_right = right.issuperset(near)
        while len(chosen) < count:
            name = near[int(chance.integers(len(near)))]
            if name not in right or is_all_right:
                chosen.append(name)
        texts = [passages[name].encoded for name in chosen]
        if recipe.swap_headers:
            others = headers.get(pair.source, {})
            texts[-1] = _under_another_header(pair, passages[pair.passage], others, chance) or texts[-1]
        for at, text in enumerate(texts, 1):
            columns[f"negative_{at}"].append(text)
    return columns


def _headers(passages: Iterable[Passage]) -> dict[str, str]:
    """Each document's header, without the section, and its company."""
    found: dict[str, str] = {}
    for one in passages:
        found.setdefault(one.head.partition("\n")[0].removesuffix(one.section), one.company)
    return found


def _under_another_header(
    pair: Pair, right: Passage, headers: Mapping[str, str], chance: np.random.Generator
) -> str | None:
    """The right passage as another document's, of the same company every second time where there is one.

    None where the query does not name the company: there it would be as right. Where it names no period, the company's
    other documents would be as right.
    """
    if not right.company or right.company.casefold() not in pair.query.casefold():
        return None
    header, _, below = right.head.partition("\n")
    mine = header.removesuffix(right.section)
    names_period = any(True for _ in find_periods(pair.query))
    same = [text for text, company in headers.items() if names_period and company == right.company and text != mine]
    other = [text for text, company in headers.items() if company and company != right.company]
    first, second = (same, other) if chance.integers(2) else (other, same)
    drawn = first or second
    if not drawn:
        return None
    swapped = drawn[int(chance.integers(len(drawn)))] + (right.section if mine != header else "")
    return replace(right, head=f"{swapped}\n{below}" if below else swapped).encoded


def anchors(folders: Sequence[Path], material: Material, count: int, seed: int) -> dict[Kind, list[str]]:
    """Texts that shall keep the vectors of the base: queries to train on, and passages.

    What is held out or developed on, here or in the material, is left out: whole documents and companies of it, and
    passages with nearly its words.

    Args:
        folders: Of pairs.
        material: What is trained on and tested with.
        count: Of each kind; a few hundred are taken again and again.
        seed: Of the choice.

    Raises:
        BadInput: There are no queries or no passages.
    """
    found = [read_pairs(folder) for folder in folders]
    held = {
        (one.passages[pair.passage].group, pair.document)
        for one in (material.pairs, *found)
        for pair in one.pairs
        if pair.split != "train"
    }
    groups, documents = {group for group, _ in held}, {document for _, document in held}
    texts = HeldTexts(one.text for one in material.pairs.passages.values() if one.document in documents)
    passages = [
        one.encoded
        for each in found
        for one in each.passages.values()
        if one.group not in groups and one.document not in documents and not texts.meets(one.text)
    ]
    queries = [pair.query for each in found for pair in each.of("train")]
    chance = np.random.default_rng(seed)
    drawn: dict[Kind, list[str]] = {}
    texts_of: dict[Kind, list[str]] = {"query": queries, "passage": passages}
    for kind, of_kind in texts_of.items():
        if not of_kind:
            raise BadInput(f"--anchor {' '.join(map(str, folders))}: no {kind} is left beside what is held out")
        order = chance.permutation(len(of_kind))[:_ANCHORS]
        drawn[kind] = [of_kind[int(order[at % len(order)])][:_ANCHOR_LENGTH] for at in range(count)]
    return drawn


@dataclass(frozen=True)
class Bench:
    """Queries of one source and the passages that they choose from."""

    source: str
    queries: tuple[Pair, ...]
    passages: tuple[Passage, ...]

    def right(self) -> list[frozenset[str]]:
        """Of each query: its passages, all those with the same words among them."""
        same: dict[str, set[str]] = {}
        prints = {one.id: fingerprint(one.text) for one in self.passages}
        for name, print_ in prints.items():
            same.setdefault(print_, set()).add(name)
        wanted: dict[str, set[str]] = {}
        for pair in self.queries:
            for name in (pair.passage, *pair.also):
                wanted.setdefault(pair.query, set()).update(same[prints[name]])
        return [frozenset(wanted[pair.query]) for pair in self.queries]


def benches(material: Material, split: Split, most: int = 0, seed: int = 0) -> list[Bench]:
    """One for each source that has pairs of the split.

    Args:
        material: What there is.
        split: Whose queries.
        most: Passages to choose from, at most; right ones are among them. 0: all of the source, as in the product.
        seed: Of the choice.
    """
    found = []
    chance = np.random.default_rng(seed)
    for source in sorted({pair.source for pair in material.pairs.of(split)}):
        queries = [pair for pair in material.pairs.of(split) if pair.source == source]
        mine = [one for one in material.pairs.passages.values() if one.source == source]
        if most:
            queries = [queries[at] for at in sorted(chance.permutation(len(queries))[:most].tolist())]
            needed = {name for pair in queries for name in (pair.passage, *pair.also)}
            others = [one for one in mine if one.id not in needed]
            kept = {others[at].id for at in chance.permutation(len(others))[: max(most - len(needed), 0)].tolist()}
            mine = [one for one in mine if one.id in needed | kept]
        found.append(Bench(source, tuple(queries), tuple(mine)))
    return found
