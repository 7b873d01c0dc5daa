"""WeaverBird's four kinds (arXiv 2308.05361, 3.2), from documents as they are.

generation       title and subject → the document's first paragraphs, which say what it is about
summarisation    the document's beginning → its title
close-book QA    a question with the document → the answer's words
open QA          a question alone → an answer, from a file of the operator's own
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from quelea_evaluation.inputs import BadInput, read_rows
from quelea_fintext.text import language_of

from quelea_training.own_questions import STORED
from quelea_training.pairs.model import Pairs, Passage, Split, fingerprint
from quelea_training.pairs.splits import split_of
from quelea_training.writer.model import Message, Sample, Task
from quelea_training.writer.questions import Answered

_LEAST, _MOST = 200, 1500
"""Characters of a text that says what a document is about, and of what is shown of one."""
_LONGEST_TITLE = 120


def samples_of(pairs: Pairs, answered: Mapping[tuple[str, str], Answered]) -> Iterator[Sample]:
    """Generation and summarisation of each document with a title and prose; close-book QA of each answered question."""
    splits = {pair.document: pair.split for pair in pairs.pairs}
    leads: dict[str, Passage] = {}
    for one in sorted(pairs.passages.values(), key=lambda one: (one.document, one.page, one.start)):
        if not one.is_table and "\t" not in one.text and len(one.text) >= _LEAST:
            leads.setdefault(one.document, one)
    for document, passage in leads.items():
        # Documents of question sets have names that their loaders gave them.
        if document in splits and passage.source == STORED and 0 < len(passage.title) <= _LONGEST_TITLE:
            yield _generation(passage, splits[document])
            yield _summarisation(passage, splits[document])
    for pair in pairs.pairs:
        asked = answered.get((pair.document, pair.query))
        if asked is None or asked.derivation or len(asked.answers) != 1:
            continue
        passage = pairs.passages[pair.passage]
        shown = passage.encoded[:_MOST]
        if asked.answers[0].casefold() in shown.removeprefix(passage.head).casefold():
            yield _of_passage("close-book", passage, pair.split, f"{shown}\n\n{pair.query}", asked.answers[0])


def open_questions(file: Path, licence: str, *, seed: int, dev: float, test: float) -> Iterator[Sample]:
    """Questions with answers that stand alone: objects with `question` and `answer`, one a line, or a table of these.

    Raises:
        BadInput: The file cannot be read, or a line lacks one of the two.
    """
    for number, row in read_rows(file, "an object with question and answer"):
        question, answer = (str(row.get(name, "")).strip() for name in ("question", "answer"))
        if not question or not answer:
            raise BadInput(f"{file}, line {number}: question and answer must both have words")
        yield Sample(
            id=Sample.name("open", file.name, question),
            task="open",
            messages=({"role": "user", "content": question},),
            output=answer,
            language=language_of(question),
            source=file.name,
            licence=licence,
            split=split_of(f"question {fingerprint(question)}", seed, dev, test),
            documents=(),
        )


def _generation(passage: Passage, split: Split) -> Sample:
    subject = passage.company or passage.section.split(" › ")[0]
    if passage.language == "zh":
        about = f"关于{subject}的" if subject and subject != passage.title else ""
        prompt = f"请写一篇{about}文章，标题为《{passage.title}》。"
    else:
        about = f" on {subject}" if subject and subject != passage.title else ""
        prompt = f"Please write an article{about} with the title “{passage.title}”."
    return _of_passage("generation", passage, split, prompt, passage.text[:_MOST])


def _summarisation(passage: Passage, split: Split) -> Sample:
    asked = "请为以下文章拟一个标题：" if passage.language == "zh" else "Write a title for this text:"
    return _of_passage("summarisation", passage, split, f"{asked}\n\n{passage.text[:_MOST]}", passage.title)


def _of_passage(task: Task, passage: Passage, split: Split, prompt: str, output: str) -> Sample:
    messages: tuple[Message, ...] = ({"role": "user", "content": prompt},)
    return Sample(
        id=Sample.name(task, passage.source, passage.id, prompt),
        task=task,
        messages=messages,
        output=output,
        language=passage.language,
        source=passage.source,
        licence=passage.licence,
        split=split,
        documents=(passage.document,),
        texts=(fingerprint(passage.text),),
    )
