"""A folder of samples: what a language model is asked, and what it should answer.

samples.jsonl    a prompt and its answer, where it is from, and how an answer to it is judged
manifest.json    sources with their licences, counts, settings, hashes of the file and of what is held out
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from quelea_evaluation.inputs import BadInput, read_rows
from quelea_evaluation.reports.store import git_commit, hash_file, hash_text, read_formatted, write_json, write_rows

from quelea_training.pairs.model import SPLITS, Split, fingerprint

FORMAT = 1
SAMPLES, MANIFEST = "samples.jsonl", "manifest.json"
Task = Literal[
    "cited", "computed", "declined", "generation", "summarisation", "close-book", "open", "plan", "action", "code",
    "answer",
]  # fmt: skip
TASKS: tuple[Task, ...] = get_args(Task)
"""cited, computed and declined: the product's own, over evidence. The next four: WeaverBird's. The last four:
FinVerse's sub-tasks, as the agent records them."""
PRODUCT: frozenset[Task] = frozenset({"cited", "computed", "declined"})
Message = Mapping[str, str]


@dataclass(frozen=True)
class Shown:
    """A passage of evidence, as the generator takes it."""

    passage: str
    """Its id, which begins with its document's."""
    text: str
    header: str
    table_head: str
    is_table: bool


@dataclass(frozen=True)
class Sample:
    """A prompt and its answer."""

    id: str
    task: Task
    messages: tuple[Message, ...]
    """The prompt as an engine gets it; empty until the generator has written it."""
    output: str
    language: str
    source: str
    licence: str
    split: Split
    documents: tuple[str, ...]
    """That the prompt or the answer is from, by the hashes of their bytes."""
    texts: tuple[str, ...] = ()
    """Fingerprints of the passages that it is from."""
    question: str = ""
    evidence: tuple[Shown, ...] = ()
    """[n] is the n-th; of the product's own tasks."""
    right: tuple[int, ...] = ()
    """Numbers of the passages that answer; empty of one that must be declined."""
    figure: str = ""
    """The figure that answers, as a decimal number; empty where it is none."""

    @staticmethod
    def name(task: Task, source: str, *words: str) -> str:
        """The id of a sample: the hash of what makes it."""
        return hash_text("\0".join((task, source, *words)))[:16]


def write_samples(folder: Path, samples: Sequence[Sample], about: Mapping[str, Any]) -> None:
    """All files; the manifest last, so that a folder without one is not whole.

    Args:
        folder: Made when it is not there.
        samples: All with their messages.
        about: What else the manifest says: settings, versions, what was left out.

    Raises:
        BadInput: There are none.
    """
    if not samples:
        raise BadInput("no sample is left; name more folders of `quelea train pairs`, or more recorded runs")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).unlink(missing_ok=True)
    write_rows(folder / SAMPLES, (asdict(one) for one in samples))
    licences = {one.source: one.licence for one in samples}
    write_json(
        folder / MANIFEST,
        {
            "format": FORMAT,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": git_commit(),
            **about,
            "sources": [{"source": name, "licence": licence} for name, licence in sorted(licences.items())],
            "counts": {
                split: dict(Counter(one.task for one in samples if one.split == split).most_common())
                for split in SPLITS
            },
            "files": {SAMPLES: hash_file(folder / SAMPLES)},
            "held_out": held_out(samples),
        },
    )


def held_out(samples: Iterable[Sample]) -> dict[str, list[str]]:
    """Hashes of what is tested with: documents, and passages that answer. What distracts may be anything."""
    test = [one for one in samples if one.split == "test"]
    return {
        "documents": sorted({name for one in test for name in one.documents}),
        "texts": sorted({name for one in test for name in one.texts}),
    }


def read_samples(folder: Path) -> tuple[list[Sample], dict[str, Any]]:
    """The samples and the manifest, when the file is as it says.

    Raises:
        BadRun: There is no manifest, or one of another format.
        BadInput: The file was changed, or a line is not what it should be.
    """
    advice = "make the folder with `quelea train samples`"
    manifest = read_formatted(folder / MANIFEST, FORMAT, f"{folder} has no {MANIFEST}; {advice}.", advice)
    file = folder / SAMPLES
    if not file.is_file() or hash_file(file) != manifest["files"][SAMPLES]:
        raise BadInput(f"{file} is not what the manifest says; {advice} again")
    names = {one.name for one in fields(Sample)}
    found = []
    for number, row in read_rows(file, f"an object with {', '.join(sorted(names))}"):
        try:
            shown = tuple(Shown(**one) for one in row.pop("evidence"))
            given: dict[str, Any] = {
                name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
            }
            found.append(Sample(evidence=shown, **given))
        except (TypeError, KeyError) as error:
            raise BadInput(f"{file}, line {number}: no sample of this version ({error}); {advice} again") from error
    return found, manifest


def load(
    folders: Sequence[Path], tested: Sequence[Path] = (), held: Sequence[Mapping[str, Sequence[str]]] = ()
) -> tuple[list[Sample], dict[str, dict[str, Any]]]:
    """Samples of several folders, each once; of those in `tested` only what they hold out.

    Args:
        folders: Trained on.
        tested: Only tested with.
        held: `held_out` of further manifests, for example of the pairs that an encoder is tested with.

    Raises:
        BadInput: A sample of training is of a document, or has the words of a passage, that is held out.
        BadRun: A folder has no manifest.
    """
    manifests: dict[str, dict[str, Any]] = {}
    found: dict[str, Sample] = {}
    for folder in (*folders, *tested):
        samples, manifests[str(folder)] = read_samples(folder)
        found |= {one.id: one for one in samples if folder in folders or one.split == "test"}
    refuse_held_out(found.values(), [*(one["held_out"] for one in manifests.values()), *held])
    return list(found.values()), manifests


def refuse_held_out(samples: Iterable[Sample], held: Sequence[Mapping[str, Sequence[str]]]) -> None:
    """See that nothing that is tested with is trained on or chosen by. Raises BadInput."""
    documents = {name for one in held for name in one["documents"]}
    texts = {name for one in held for name in one["texts"]}
    for one in samples:
        if one.split == "test":
            continue
        advice = "make the folder anew with `quelea train samples`, or do not test with what holds it out"
        if mine := documents.intersection(one.documents):
            raise BadInput(
                f"sample {one.id} of {one.split} is of document {min(mine)}, which is held out for testing; {advice}"
            )
        if distracting := documents.intersection(shown.passage.partition(":")[0] for shown in one.evidence):
            raise BadInput(
                f"sample {one.id} of {one.split} shows document {min(distracting)}, which is held out for testing; "
                f"{advice}"
            )
        if texts.intersection(one.texts) or texts.intersection(fingerprint(shown.text) for shown in one.evidence):
            raise BadInput(
                f"sample {one.id} of {one.split} has the words of a passage that is held out for testing; {advice}"
            )
