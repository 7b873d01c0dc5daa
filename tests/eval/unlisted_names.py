"""Questions whose documents are stored, and taken away: how many are told that nobody of that name is stored.

    python tests/eval/unlisted_names.py --data ../shared/data

Without a stack: documents are read by the search service's own code, a question by the retriever's, and its candidates
are the 200 passages that each of two scores finds, the store's sparse one and TF-IDF of Chinese letters and English
words in place of the encoder's. Only counts are printed, of held questions too, unless --show names a set.

"stored" are the analysts' Chinese questions, those in FinGLM's wording, FinGLM's own and DISC's, with the documents of
their sets, titles of AlphaFin's news and analysts' notes with their texts, and docugami's in Chinese, whose documents
are in English; right is not to be told so. "away" are the same without the documents of the company asked about, where
right is to be told; "away abroad" without any Chinese document. Every fourth question of FinGLM's list B is of a
company that is not stored; those of them that name none, and DISC's of general knowledge, are asked of the same
documents, and right is not to be told so.
"""

from __future__ import annotations

import argparse
import json
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import date
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from quelea_evaluation.sets import SETS
from quelea_evaluation.sets.analyst import load
from quelea_evaluation.sets.model import SourceDocument
from quelea_retriever.core import sparse_vectors
from quelea_retriever.core.header import contextual_header
from quelea_retriever.core.model import Candidate, DocumentFacts, PassageRecord
from quelea_retriever.core.question import reading as question_reading
from quelea_retriever.core.question import unknown_companies
from quelea_retriever.core.question.catalogue import Catalogue
from quelea_retriever.core.question.reading import read_query, settle_subject
from quelea_search.adapters.formats import parse
from quelea_search.core.chunk import chunk
from quelea_search.core.metadata.read import read_metadata
from quelea_search.core.model import ParseLimits
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]  # no stubs are published
from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]  # no stubs are published

AS_OF = date(2026, 1, 1)
CANDIDATES, EVERY = 200, 4
HERE = Path(__file__).parent
PARTS: dict[str, tuple[Any, str, Any]] = {
    "list": (unknown_companies, "listed_names", dict),
    "new words": (question_reading, "new_names", lambda _: []),
    "patterns": (unknown_companies, "find_all", lambda *_: ()),
}
"""What is left out by a name: the list of companies, words of no dictionary, patterns of what stands behind a name."""
NAMES = ["analysts", "wording", "finglm", "disc", "docugami-zh", "list", "titles", "reports"]


@dataclass(frozen=True)
class Asked:
    """A question, and the documents of which it is asked."""

    text: str
    own: frozenset[str] = frozenset()
    names_somebody: bool = True


class Base:
    """Documents, and the passages that each of two scores finds in them."""

    def __init__(self, documents: Iterable[SourceDocument], kept: Path) -> None:
        self.passages: list[tuple[DocumentFacts, PassageRecord]] = []
        for document in documents:
            self.passages += _read(document, kept)
        headed = [
            (contextual_header(facts, one.section), one.section, one.table_head, one.text)
            for facts, one in self.passages
        ]
        self._finder = TfidfVectorizer(sublinear_tf=True, token_pattern=r"[A-Za-z0-9]+|[\u3400-\u9fff]")
        self._dense = self._finder.fit_transform(" ".join(parts) for parts in headed)
        rows = [sparse_vectors.sparse_document(*parts) for parts in headed]
        self._columns = {index: at for at, index in enumerate(sorted({i for ids, _ in rows for i in ids.tolist()}))}
        columns = [self._columns[index] for ids, _ in rows for index in ids.tolist()]
        starts = np.cumsum([0, *(len(ids) for ids, _ in rows)])
        weights = np.concatenate([weights for _, weights in rows])
        self._sparse = csr_matrix((weights, columns, starts), shape=(len(rows), len(self._columns)))
        having = np.bincount(columns, minlength=len(self._columns))
        self._idf = np.log(1 + (len(rows) - having + 0.5) / (having + 0.5))

    def is_told(self, question: str, without: frozenset[str]) -> tuple[bool, tuple[str, ...], int]:
        """(whether the question is told that its company is not stored, which, how many candidates are left)."""
        stored = [at for at, (facts, _) in enumerate(self.passages) if facts.id not in without]
        documents = {self.passages[at][0].id: self.passages[at][0] for at in stored}
        reading = read_query(question, Catalogue.build(list(documents.values())), AS_OF)
        groups = [set(group) for group in reading.groups] or [set(documents)]
        found: dict[int, Candidate] = {}
        dense = np.asarray((self._dense @ self._finder.transform([question]).T).todense()).ravel()
        sparse = self._sparse @ self._asked(question)
        for group in groups:
            of = np.array([at for at in stored if self.passages[at][0].id in group], dtype=int)
            for scores in (dense, sparse):
                for at in of[np.argsort(-scores[of], kind="stable")[:CANDIDATES]].tolist():
                    facts, passage = self.passages[at]
                    found.setdefault(at, Candidate(passage, facts, float(dense[at]), float(sparse[at])))
        settled, kept = settle_subject(question, reading, list(found.values()))
        return settled.company_missing, settled.companies, len(kept)

    def _asked(self, question: str) -> Any:
        asked = np.zeros(len(self._columns))
        for index, weight in zip(*(part.tolist() for part in sparse_vectors.sparse_query(question)), strict=True):
            if (at := self._columns.get(index)) is not None:
                asked[at] = weight * self._idf[at]
        return asked


def _read(document: SourceDocument, kept: Path) -> list[tuple[DocumentFacts, PassageRecord]]:
    path = kept / f"{sha256(document.data).hexdigest()[:24]}.pickle"
    if not path.exists():
        kept.mkdir(parents=True, exist_ok=True)
        parsed = parse(document.data, document.filename, limits=ParseLimits(), on_progress=lambda _done, _total: None)
        said = read_metadata(parsed, document.filename, None)
        rows = [(one.text, one.section, one.table_head, one.is_table) for one in chunk(parsed)]
        path.write_bytes(pickle.dumps(({one.name: getattr(said, one.name) for one in fields(said)}, rows)))
    said, rows = pickle.loads(path.read_bytes())  # noqa: S301 - written above
    facts = DocumentFacts(document.key, **said)
    return [
        (
            facts,
            PassageRecord(f"{document.key} {n}", document.key, n, 1, 0, len(text), text, is_table, section, head),
        )
        for n, (text, section, head, is_table) in enumerate(rows)
    ]


def _of_set(name: str, data: Path) -> tuple[Sequence[SourceDocument], list[Asked]]:
    if name == "analysts":
        one = load(HERE / "analyst_zh.jsonl", data)
        return one.documents, [Asked(q.text, q.documents) for q in one.questions if not q.after and q.documents]
    if name == "wording":
        with TemporaryDirectory() as folder:
            path = Path(folder) / "wording.jsonl"
            made = subprocess.run([sys.executable, HERE / "finglm_wording.py", data], check=True, capture_output=True)
            path.write_bytes(made.stdout)
            wording = load(path, data)
        return wording.documents, [Asked(q.text, q.documents) for q in wording.questions]
    if name in ("titles", "reports"):
        return _titles(data, named=name == "reports")
    of = SETS[name.removesuffix("-zh")](data)
    if name == "docugami-zh":
        rows = map(json.loads, (HERE / "cross_language.jsonl").read_text("utf-8").splitlines())
        own = {q.id: q.documents for q in of.questions}
        return of.documents, [Asked(r["question"], own[r["id"]]) for r in rows if r["language"] == "zh"]
    return of.documents, [Asked(q.text, q.documents) for q in of.questions]


def _titles(data: Path, *, named: bool) -> tuple[Sequence[SourceDocument], list[Asked]]:
    """AlphaFin's news and analysts' notes, asked by their titles, which the stored text has not; of notes it has the
    name, and the title is asked with it, or without and the news too."""
    documents, asked = [], []
    notes: dict[str, set[str]] = {}
    for kind in ("news", "reports"):
        for number, row in enumerate(json.loads((data / "alphafin" / f"{kind}.json").read_text("utf-8"))):
            title = row["summary"].removeprefix("这是以").split("为题目,在20")[0]
            company, _, rest = title.partition("：") if kind == "reports" else ("", "", title)
            body = row["content"].split("研报摘要:" if kind == "reports" else "新闻内容如下:")[-1]
            key = f"{kind}-{number}"
            if not body.strip():
                continue
            documents.append(SourceDocument(key, f"{key}.txt", f"{company}\n\n{body}".strip().encode()))
            if rest and (kind == "reports" or not named):
                short = company.split("（")[0]
                notes.setdefault(short, set()).add(key)
                asked.append((title if named else rest, short))
    return documents, [Asked(text, frozenset(notes[short])) for text, short in asked]


def _listed(data: Path) -> list[Asked]:
    """FinGLM's list B and DISC's questions of general knowledge."""
    found: list[Asked] = []
    for line in (data / "finglm" / "B-list-answer.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        names = [str(row["prompt"].get(key, "")) for key in ("ent_name", "ent_short_name")]
        named = any(name and name in row["question"] for name in names)
        found.append(Asked(row["question"], names_somebody=named))
    general = json.loads((data / "disc_finllm" / "consulting_part.json").read_text("utf-8"))
    return found[::EVERY] + [Asked(row["instruction"], names_somebody=False) for row in general]


def _count(base: Base, asked: Sequence[Asked], without: Any, label: str, show: bool) -> None:
    counts: Counter[str] = Counter()
    for question in asked:
        told, companies, left = base.is_told(question.text, without(question))
        counts["told" if told else "not told"] += 1
        counts["left with nothing"] += not told and not left
        if show:
            print("   ", "told" if told else "-", ", ".join(companies), question.text[:90], sep="\t")
    print(label, f"{counts.total() - counts['left with nothing']} questions", dict(counts), sep="\t", flush=True)


def _without_company(base: Base, own: frozenset[str]) -> frozenset[str]:
    companies = {facts.company for facts, _ in base.passages if facts.id in own and facts.company}
    return own | {facts.id for facts, _ in base.passages if facts.company in companies}


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", nargs="+", default=NAMES, choices=NAMES, help="All where none is named.")
    parser.add_argument("--show", nargs="*", default=[], help="Sets of which each question is printed.")
    parser.add_argument("--kept", type=Path, default=Path(".quelea/named"), help="Where passages are kept.")
    parser.add_argument("--leave-out", nargs="*", default=[], choices=list(PARTS), help="Parts to measure without.")
    options = parser.parse_args()
    for part in options.leave_out:
        setattr(*PARTS[part])
    for name in options.sets:
        show = name in options.show
        if name == "list":
            base = Base(_of_set("analysts", options.data)[0], options.kept)
            for somebody, label in ((True, "list, names a company"), (False, "list, names none")):
                some = [one for one in _listed(options.data) if one.names_somebody is somebody]
                _count(base, some, lambda _: frozenset[str](), label, show)
            continue
        documents, asked = _of_set(name, options.data)
        base = Base(documents, options.kept)
        _count(base, asked, lambda _: frozenset[str](), f"{name}, stored", show)
        if name in ("disc", "titles"):
            continue  # of no company
        _count(base, asked, lambda one, of=base: _without_company(of, one.own), f"{name}, away", show)
        chinese = frozenset(facts.id for facts, _ in base.passages if facts.language == "zh")
        if 0 < len(chinese) < len({facts.id for facts, _ in base.passages}):
            _count(base, asked, lambda _, gone=chinese: gone, f"{name}, away abroad", show)


if __name__ == "__main__":
    main()
