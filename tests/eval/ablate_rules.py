"""What each hand-written rule of the extractive reader changes, on questions of several authors.

python tests/eval/ablate_rules.py --data ../shared/data: reads the questions of TAT-QA and ConvFinQA as `read_quotes.py`
shows them, and those of docugami, FinTextQA, DISC and the analysts' sets as `set_passages.py` does, without one rule at
a time. A rule is an entry of languages/en (questions.toml, passages.toml), a pattern of a module of the reader, a step
of it, a weight, or with --words a word of a list. Each is left out in a process of its own that reads only those
questions in which it says anything.

A line has the rule, in how many questions it says something, and per set how many answers are right, wrong or declined
instead; "away" are questions without their documents, where declining is right.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

READER = "quelea_generator.core.extractive"
FILES = ("questions", "passages")
STEPS: dict[str, Any] = {
    "decline._asks_something": True,
    "decline._unsaid_qualifier": "",
    "decline.lacks_qualifier": False,
    "decline._only_names": False,
    "decline._counts_named": False,
    "decline._is_row_of_place": False,
    "decline._names_known": True,
    "decline._names_quoted": True,
    "decline._has_asked_figure": True,
    "decline._has_counted": True,
    "decline._of_other_years": False,
    "decline._whom_or_when": None,
    "decline._alias_in": False,
    "reader.names_unmentioned_company": False,
    "reader.compute_answer": None,
    "reader.opinion_asked": "",
    "reader.is_caption": False,
    "reader.is_longer": False,
    "question._names_rate": False,
    "question._counted": (),
    "question._topic": "",
    "question._causes": (),
    "question.expand_abbreviations": {},
    "scoring.says_together": False,
    "scoring._causes": 0.0,
    "scoring._explains": False,
    "scoring._exact": False,
    "scoring._right_kind": False,
    "scoring._span": 0.0,
    "scoring._period": 0,
    "scoring.distinguishing_facets": (),
}
"""A step of the reader, and what it says where it has nothing to say."""
PASSES = (
    "reader.keep_topic:1",
    "reader.keep_places:1",
    "reader.keep_named:1",
    "reader.keep_holders:1",
    "reader.separate_parent_company:1",
    "reader.rank_named_first:1",
    "reader._of_the_quarter:1",
    "question._without_kinds:0",
)
"""Steps that give back one of their arguments where they have nothing to say, and which one."""
Rule = tuple[str, str, str]
"""Its kind, its name, and what of it: the number of an entry, or a word."""


@dataclass(frozen=True)
class Case:
    """What the reader was given for a question, and how its answer is judged."""

    set: str
    there: bool
    question: str
    read: Callable[[], list[Any]]
    """The tasks, made in the process that reads them."""
    judge: Callable[[list[Any], list[Any]], str]


def of_sets(names: Sequence[str], data: Path, kept: Path) -> Iterator[Case]:
    """The questions of sets by their names, with the judges of each."""
    from set_passages import ANALYSTS, read_set

    for name in names:
        judges = {} if name in ANALYSTS else JUDGES[name](data)
        for one in read_set(name, data, kept):
            question: Any = one.question
            key = f"{name} {question.part}" if name in ANALYSTS else name
            judge = judges.get(question.id) or _states(question)
            answerable = name not in ANALYSTS or bool(question.answer)
            yield Case(key, answerable, question.text, _evidence(one.there), judge if answerable else _is_declined)
            if one.away and answerable:
                yield Case(key, False, question.text, _evidence(one.away), _is_declined)


def printed(data: Path, every: int) -> Iterator[Case]:
    """The questions of TAT-QA and ConvFinQA."""
    from fit_quotes import convfinqa, tatqa
    from read_quotes import pair

    contexts, asked = tatqa(data)
    for name, (own, some) in {"tatqa": (contexts, asked[::every]), "convfinqa": convfinqa(data)}.items():
        for one in pair(own, some):
            yield Case(name, True, one.question, _evidence(one.there), _of_context(one.key, one.says))
            yield Case(name, False, one.question, _evidence(one.away), _is_declined)


def _evidence(task: Any) -> Callable[[], list[Any]]:
    """The task again, of the classes of the process that reads it."""
    question, as_of, items = task.question, task.as_of, [asdict(one) for one in task.evidence]

    def read() -> list[Any]:
        from quelea_generator.core.model import Evidence, Task

        return [Task(question, tuple(Evidence(**one) for one in items), as_of)]

    return read


def _is_declined(_: list[Any], answers: list[Any]) -> str:
    return "declined" if all(one.decline for one in answers) else "answered"


def _of_context(key: str, says: Callable[[str], bool]) -> Callable[[list[Any], list[Any]], str]:
    def judge(tasks: list[Any], answers: list[Any]) -> str:
        (task,), (found,) = tasks, answers
        if found.decline:
            return "declined"
        said = found.quotes[0].text if not found.by_construction else " ".join(quote.text for quote in found.quotes)
        own = next(item for item in task.evidence if item.number == found.quotes[0].number).header == key
        return "right" if own and says(said) else "wrong"

    return judge


def _states(question: Any) -> Callable[[list[Any], list[Any]], str]:
    """Right: what the key wants is said, a figure in the first statement."""
    from quelea_evaluation.answers.analyst import states

    def judge(_: list[Any], answers: list[Any]) -> str:
        if all(one.decline for one in answers):
            return "declined"
        return "right" if states(question, "\n".join(line for one in answers for line in one.lines)) else "wrong"

    return judge


def _docugami(data: Path) -> dict[str, Any]:
    """Right: the first quote has the figure, rounding allowed; "later": one of three has. Else whether it declines."""
    from quelea_evaluation.judging.figures import holds_rounded
    from quelea_evaluation.sets import SETS

    def judge(question: Any) -> Callable[[list[Any], list[Any]], str]:
        def of(_: list[Any], answers: list[Any]) -> str:
            if all(one.decline for one in answers):
                return "declined"
            quotes = [quote.text for one in answers for quote in one.quotes][:3]
            held = [holds_rounded(quote, question.figures, question.amounts) for quote in quotes]
            return "answered" if not question.figures else "right" if held[0] else "later" if any(held) else "wrong"

        return of

    return {one.id: judge(one) for one in SETS["docugami"](data).questions}


def _fintextqa(data: Path) -> dict[str, Any]:
    """Right: four of five words of a quote stand in the passage that the set quotes as reference."""
    path = data / "fintextqa" / "regulation_qa_aligned.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {str(row["id"]): _quotes({*re.findall(r"\w+", str(row["reference"]).lower())}) for row in rows}


def _quotes(words: set[str]) -> Callable[[list[Any], list[Any]], str]:
    def of(_: list[Any], answers: list[Any]) -> str:
        if all(one.decline for one in answers):
            return "declined"
        said = [{*re.findall(r"\w+", quote.text.lower())} for one in answers for quote in one.quotes]
        return "right" if any(len(one & words) >= max(4, 0.8 * len(one)) for one in said) else "wrong"

    return of


def _disc(data: Path) -> dict[str, Any]:
    """Right: the first quote is of a news item that the set gives as reference."""
    rows = json.loads((data / "disc_finllm" / "retriever_eval.json").read_text("utf-8"))

    def judge(row: Any) -> Callable[[list[Any], list[Any]], str]:
        own = "".join("".join(text.split()) for text, _ in row["reference"])

        def of(_: list[Any], answers: list[Any]) -> str:
            if all(one.decline for one in answers):
                return "declined"
            first = next(quote for one in answers for quote in one.quotes)
            return "right" if "".join(first.text.split()) in own else "wrong"

        return of

    return {str(number): judge(row) for number, row in enumerate(rows)}


JUDGES = {"docugami": _docugami, "fintextqa": _fintextqa, "disc": _disc}


class _Noting:
    """A pattern that notes its name where it finds something."""

    def __init__(self, pattern: re.Pattern[str], names: tuple[str, ...], noted: set[str]) -> None:
        self._pattern, self._names, self._noted = pattern, names, noted

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._pattern, name)
        if name not in {"search", "match", "fullmatch", "finditer", "findall", "sub", "split"}:
            return method

        def note(*args: Any, **kwargs: Any) -> Any:
            if name in {"sub", "split"}:
                if self._pattern.search(args[1] if name == "sub" else args[0]):
                    self._noted.update(self._names)
                return method(*args, **kwargs)
            found = method(*args, **kwargs)
            found = list(found) if name == "finditer" else found
            if found:
                self._noted.update(self._names)
            return iter(found) if name == "finditer" else found

        return note


def _modules() -> dict[str, Any]:
    return {name: module for name, module in sys.modules.items() if name.startswith(READER)}


def _note_patterns(noted: set[str]) -> set[str]:
    """Before the reader is imported: patterns of languages that note which key they are of. Gives the keys read."""
    from quelea_fintext.languages import Languages

    pattern, patterns, grouped, words = Languages.pattern, Languages.patterns, Languages.grouped, Languages.words
    keys: set[str] = set()

    def listed(self: Any, key: str) -> Any:
        keys.add(key)
        return words(self, key)

    def one(self: Any, key: str, *args: Any, **kwargs: Any) -> Any:
        keys.add(key)
        return _Noting(pattern(self, key, *args, **kwargs), (f"entry {key}",), noted)

    def several(of: Any) -> Any:
        def made(self: Any, key: str, *args: Any, **kwargs: Any) -> Any:
            keys.add(key)
            return tuple(_Noting(it, (f"entry {key}",), noted) for it in of(self, key, *args, **kwargs))

        return made

    Languages.pattern = one  # type: ignore[method-assign]  # to look on
    Languages.patterns = several(patterns)  # type: ignore[method-assign]  # to look on
    Languages.grouped = several(grouped)  # type: ignore[method-assign]  # to look on
    Languages.words = listed  # type: ignore[method-assign]  # to look on
    return keys


def _note_modules(noted: set[str]) -> list[str]:
    """After it: those of its modules, and its steps. Gives the names of the patterns."""
    found = []
    for name, module in _modules().items():
        for attribute, value in list(vars(module).items()):
            if isinstance(value, re.Pattern):
                rule = f"{name.removeprefix(READER + '.')}.{attribute}"
                setattr(module, attribute, _Noting(value, (f"pattern {rule}",), noted))
                found.append(rule)
    for step in (*STEPS, *PASSES):
        place, _, at = step.partition(":")
        module, attribute = _place(place)
        setattr(module, attribute, _noting(getattr(module, attribute), step, at, noted))
    return found


def _noting(step: Callable[..., Any], name: str, at: str, noted: set[str]) -> Callable[..., Any]:
    def note(*args: Any, **kwargs: Any) -> Any:
        given = step(*args, **kwargs)
        same = given == STEPS[name] if not at else list(given) == list(args[int(at)])
        if not same:
            noted.add(f"step {name}")
        return given

    return note


def _place(name: str) -> tuple[Any, str]:
    module, _, attribute = name.rpartition(".")
    return sys.modules[f"{READER}.{module}"], attribute


def _cut(rule: Rule) -> None:
    """Leave an entry out, before the reader is imported."""
    from quelea_fintext.languages import LANGUAGES

    kind, key, of = rule
    if kind not in {"entry", "word"}:
        return
    file, *path, last = key.split(".")
    table = LANGUAGES._file("en", file)
    for step in path:
        table = table[step]
    if kind == "word":
        table[last] = " ".join(word for word in table[last].split() if word != of)
    elif isinstance(table[last], str):
        table[last] = "(?!)"
    else:
        table[last] = [one for at, one in enumerate(table[last]) if at != int(of)]


def _switch_off(rule: Rule) -> None:
    """Switch a pattern, step or weight off, after the reader is imported."""
    kind, name, _ = rule
    if kind == "pattern":
        module, attribute = _place(name)
        old = getattr(module, attribute)
        for other in _modules().values():
            for held, value in list(vars(other).items()):
                if value is old:
                    setattr(other, held, re.compile("(?!)"))
    elif kind == "step":
        place, _, at = name.partition(":")
        module, attribute = _place(place)
        given = (lambda *args, **_: args[int(at)]) if at else (lambda *_, **__: STEPS[name])
        setattr(module, attribute, given)
    elif kind == "weight":
        module, _ = _place("scoring.WEIGHTS")
        module.score_candidates.__defaults__ = (MappingProxyType({**module.WEIGHTS, name: 0.0}),)


CASES: list[Case] = []


def _read(case: Case) -> tuple[str, str]:
    from quelea_generator.core.extractive.reader import answer

    tasks = case.read()
    answers = [answer(task) for task in tasks]
    return case.judge(tasks, answers), "\n".join(quote.text for one in answers for quote in one.quotes)


def without(job: tuple[Rule, Sequence[int]]) -> list[tuple[int, str, str]]:
    """The outcomes of some cases without a rule: in a process that has not imported the reader."""
    rule, some = job
    _cut(rule)
    import quelea_generator.core.extractive.reader  # noqa: F401  # so that there is something to switch off

    _switch_off(rule)
    return [(at, *_read(CASES[at])) for at in some]


def as_it_is(_: None) -> tuple[list[tuple[str, str]], list[frozenset[str]], list[str], set[str]]:
    """Every outcome, what said something in it, the names of all patterns, and the keys of the languages' data."""
    noted: set[str] = set()
    keys = _note_patterns(noted)
    import quelea_generator.core.extractive.reader  # noqa: F401  # so that there is something to look on

    patterns = _note_modules(noted)
    outcomes, touched = [], []
    for case in CASES:
        noted.clear()
        outcomes.append(_read(case))
        touched.append(frozenset(noted))
    return outcomes, touched, patterns, keys


def entries(keys: set[str], words: bool) -> Iterator[Rule]:
    """Every entry that the reader takes its patterns from, or every word of its lists."""
    from quelea_fintext.languages import LANGUAGES

    for file in FILES:
        for key, value in LANGUAGES._file("en", file).items():
            name = f"{file}.{key}"
            if name not in keys:
                continue
            if key in LISTS:
                yield from (("word", name, word) for word in (value.split() if words else ()))
            elif isinstance(value, str) and not words:
                yield "entry", name, ""
            elif isinstance(value, list) and not words:
                yield from (("entry", name, str(at)) for at in range(len(value)))


LISTS = {"asking", "weak", "general", "kinds", "of_companies"}
"""Keys of words: all others are patterns."""


def _named(rule: Rule, case: Case, touched: frozenset[str]) -> bool:
    kind, name, of = rule
    if kind == "word":
        return re.search(rf"\b{re.escape(of[:4])}", case.question, re.IGNORECASE) is not None
    return kind == "weight" or f"{kind} {name}" in touched


def compare(before: Sequence[Sequence[str]], after: Sequence[tuple[int, str, str]]) -> str:
    """What changed, per set; empty where nothing did."""
    moved: dict[str, Counter[str]] = {}
    for at, outcome, text in after:
        was, said = before[at]
        if outcome != was or text != said:
            case = CASES[at]
            change = f"{was}→{outcome}" if outcome != was else "other quotes"
            moved.setdefault(f"{case.set}{'' if case.there else ' away'}", Counter())[change] += 1
    return "; ".join(f"{name}: {', '.join(f'{n} {c}' for c, n in of.items())}" for name, of in sorted(moved.items()))


def main() -> None:
    """Print the counts of every set, then a line for each rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--kept", type=Path, default=Path(".quelea/passages"), help="Where passages are kept.")
    parser.add_argument("--sets", nargs="*", default=["docugami", "fintextqa", "disc", "direction", "fresh", "analyst"])
    parser.add_argument(
        "--every", type=int, default=6, help="Read every so many-th question of TAT-QA; 0: neither it nor ConvFinQA."
    )
    parser.add_argument("--only", default="", help="Rules whose line begins so, as in “step decline”.")
    parser.add_argument("--words", action="store_true", help="The words of lists, one by one, instead.")
    parser.add_argument("--weights", action="store_true", help="Weights as well, each of which reads everything.")
    parser.add_argument("--counts", action="store_true", help="Only the counts of the reader as it is.")
    parser.add_argument("--most", type=int, default=0, help="Read at most so many questions for a rule; 0: all.")
    parser.add_argument("--save", type=Path, help="Only write the outcomes of the reader as it is to this file.")
    parser.add_argument("--against", type=Path, help="Only say what has changed since such a file was written.")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    CASES.extend(of_sets(options.sets, options.data, options.kept))
    if options.every:
        CASES.extend(printed(options.data, options.every))
    from quelea_generator.core.extractive.scoring import WEIGHTS

    weights = [("weight", name, "") for name in WEIGHTS] if options.weights else []
    for name in [name for name in sys.modules if name.startswith(("quelea_generator", "quelea_fintext"))]:
        del sys.modules[name]
    # A process for each rule, of which none has imported the reader: its patterns are made as it is.
    with multiprocessing.get_context("fork").Pool(options.processes, maxtasksperchild=1) as pool:
        if options.save or options.against:
            now = pool.apply(without, ((("nothing", "", ""), range(len(CASES))),))
            tell([outcome for _, *outcome in now])
            if options.save:
                options.save.write_text(json.dumps([outcome for _, *outcome in now]), encoding="utf-8")
            else:
                print(compare(json.loads(options.against.read_text(encoding="utf-8")), now) or "nothing")
            return
        (before, touched, patterns, keys), *_ = pool.map(as_it_is, [None])
        tell(before)
        if options.counts:
            return
        steps = [("step", name, "") for name in (*STEPS, *PASSES)]
        own = [
            *entries(keys, options.words),
            *([] if options.words else [*(("pattern", p, "") for p in patterns), *steps]),
        ]
        rules = [rule for rule in (*own, *weights) if " ".join(rule).startswith(options.only)]
        jobs = [(rule, [at for at, c in enumerate(CASES) if _named(rule, c, touched[at])]) for rule in rules]
        if options.most:
            jobs = [(rule, some[:: max(1, len(some) // options.most)]) for rule, some in jobs]
        for rule, some in jobs:
            if not some:
                print(" ".join(rule).strip(), 0, "nothing", sep="\t")
        jobs = [job for job in jobs if job[1]]
        for (rule, some), after in zip(jobs, pool.imap(without, jobs), strict=True):
            print(" ".join(rule).strip(), len(some), compare(before, after) or "nothing", sep="\t", flush=True)


def tell(outcomes: Sequence[Sequence[str]]) -> None:
    """The outcomes by set."""
    counts: dict[str, Counter[str]] = {}
    for case, (outcome, _) in zip(CASES, outcomes, strict=True):
        counts.setdefault(f"{case.set}{'' if case.there else ' away'}", Counter())[outcome] += 1
    for name, of in sorted(counts.items()):
        print(f"{name}, {of.total()}: {', '.join(f'{n} {outcome}' for outcome, n in sorted(of.items()))}", flush=True)


if __name__ == "__main__":
    main()
