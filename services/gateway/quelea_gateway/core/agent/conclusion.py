"""The end of a run: a conclusion from its evidence, checked; what cannot be concluded is said."""

from __future__ import annotations

from dataclasses import replace

from quelea_gateway.core.agent.continuation import write_question
from quelea_gateway.core.agent.decision import model_call
from quelea_gateway.core.agent.decision.decisions import Conclusion, answer_schema, read_answer
from quelea_gateway.core.agent.decision.model_call import ModelAway
from quelea_gateway.core.agent.decision.token_budget import Section, recall
from quelea_gateway.core.agent.grounding.conclusion_figures import Checked, check, marked, without_unsupported
from quelea_gateway.core.agent.grounding.evidence import sources
from quelea_gateway.core.agent.model import RunAnswer, Why
from quelea_gateway.core.agent.texts import say
from quelea_gateway.core.agent.work import Work
from quelea_gateway.core.answers.numbering import Numbering
from quelea_gateway.core.grounding import marks

_MOST_FIGURES = 12
_OUTPUT_SHOWN = 1_200


async def conclude(work: Work, why: str, ended_by: Why = "") -> RunAnswer:
    """The answer of the run, whatever happened. Raises nothing but what the journal raises.

    Args:
        why: Empty when the model chose to finish; else why it has to, one sentence in the question's language.
        ended_by: The same as a word.
    """
    work.observation = ""
    found = None
    try:
        found = await _write(work, why)
    except ModelAway as away:
        why = why or say("model_away", work.language) + f" ({away})"
        ended_by = ended_by or "model_away"
    if found is None:
        answer = await _fallback(work, why or say("no_answer", work.language))
        return replace(answer, ended_by=ended_by or "no_answer")
    conclusion, checked = found
    checked, withheld = await _enforce_strict(work, checked)
    missing = (*conclusion.missing, *((why,) if why else ()))
    answer = _answer(work, checked, missing=missing, withheld=withheld, complete=not missing)
    return replace(answer, ended_by=ended_by)


def _answer(
    work: Work, checked: Checked, *, missing: tuple[str, ...], withheld: tuple[str, ...], complete: bool
) -> RunAnswer:
    notices = list(work.notices)
    if withheld:
        notices.append(say("withheld", work.language, n=len(withheld)))
    if checked.untraced:
        notices.append(say("untraced", work.language, n=len(checked.untraced)))
        checked = marked(checked, say("not_traced", work.language))
    cited = [mark.number for mark in marks(checked.text)]
    numbering = Numbering(len(work.evidence.items), (*cited, *checked.used))
    text, found = numbering.of_text(checked.text), sources(work.evidence, checked.used)
    numbered = [replace(one, number=numbering[one.number]) for one in found]
    return RunAnswer(
        text=text.text,
        complete=complete and not withheld,
        sources=tuple(sorted(numbered, key=lambda one: one.number)),
        figures=tuple(
            replace(one, start=text.at(one.start), end=text.until(one.end), source=numbering[one.source])
            for one in checked.figures
        ),
        missing=missing,
        withheld=withheld,
        artifacts=tuple(work.artifacts),
        results=tuple(
            replace(
                one,
                source=numbering[one.source],
                inputs=tuple(_renumbered(given, numbering) for given in one.inputs),
            )
            for one in work.results
        ),
        notices=tuple(notices),
    )


def _renumbered(given: str, numbering: Numbering) -> str:
    """An input of a result under the number that its source has in the answer."""
    kind, _, number = given.partition(" ")
    if kind in ("passage", "call") and number.isascii() and number.isdigit():
        return f"{kind} {numbering[int(number)]}"
    return given


async def _enforce_strict(work: Work, checked: Checked) -> tuple[Checked, tuple[str, ...]]:
    """(the text without sentences whose figures nothing supports, those sentences)."""
    withheld: list[str] = []
    for _ in range(3):  # a text with a sentence less may be cut into other sentences
        text, out = without_unsupported(checked)
        if not out:
            return checked, tuple(withheld)
        withheld += out
        checked = await check(text or say("all_withheld", work.language), work.evidence, work.asked, work.ports.checks)
    if checked.unsupported:
        withheld.append(checked.text)
        checked = await check(say("all_withheld", work.language), work.evidence, work.asked, work.ports.checks)
    return checked, tuple(withheld)


async def _write(work: Work, why: str) -> tuple[Conclusion, Checked] | None:
    """The model's conclusion; asked for once more when figures of it have no source. The better of the two."""
    situation = say("last_step", work.language, why=why) if why else ""
    best: tuple[Conclusion, Checked] | None = None
    for attempt in range(2):
        answered = await _ask(work, situation)
        if answered is None:
            break
        checked = await check(answered.answer, work.evidence, work.asked, work.ports.checks)
        bad = (*checked.unsupported, *checked.untraced)
        if best is None or len(bad) < len(best[1].unsupported) + len(best[1].untraced):
            best = (answered, checked)
        if not bad or attempt:
            break
        figures = ", ".join(dict.fromkeys(one.text for one in bad[:_MOST_FIGURES]))
        situation = (situation + "\n" + say("unsupported", work.language, figures=figures)).strip()
    return best


async def _ask(work: Work, situation: str) -> Conclusion | None:
    request = work.request
    memory = recall(work.insights, work.asked, work.prompt_tokens // 4)
    fixed = {
        "current_date": request.as_of,
        "profile": work.profile,
        "situation": situation,
        "files": ", ".join(one.name for one in work.artifacts[:20]) or "-",
    }
    sections = [
        Section("question", write_question(work), 2),
        Section("memory", "\n".join(f"- {one}" for one in memory) or "-", 2),
        Section("evidence", work.evidence.shown(work.prompt_tokens), 6),
    ]
    left = request.budget.seconds - work.elapsed
    answered = await model_call.ask(
        work,
        model_call.SubTask("answer", fixed, sections, answer_schema()),
        read_answer,
        concluding=True,
        seconds=max(0.0, min(work.rules.model_seconds, left / 2)),
    )
    if answered is None:
        return None
    conclusion, example = answered
    checked = await check(conclusion.answer, work.evidence, work.asked, work.ports.checks)
    await model_call.example(work, example, "ungrounded" if checked.unsupported or checked.untraced else "grounded")
    return conclusion


async def _fallback(work: Work, why: str) -> RunAnswer:
    """A conclusion without the model: what was found, as it was found."""
    language = work.language
    # A figure of our own words ("all 10 steps") has no source and would be withheld; `missing` says it.
    counted = any(char.isdigit() for char in why)
    lines = [say("ended_early", language) if counted else say("no_conclusion", language, why=why)]
    body: list[str] = []
    for insight in recall(work.insights, work.asked, 400):
        found = await check(insight, work.evidence, work.asked, work.ports.checks)
        body += [] if found.unsupported or found.untraced else [f"- {insight}"]
    last = work.evidence.last_output()
    if last is not None:
        body.append(say("output_of", language, step=last.source.step, number=last.source.number))
        body.append(last.text[:_OUTPUT_SHOWN].rstrip())
    lines += [say("found", language), *body] if body else [say("nothing", language)]
    checked, _ = await _enforce_strict(work, await check("\n".join(lines), work.evidence, "", work.ports.checks))
    steps = [step for step in work.plan[work.usage.steps :] if step.action != "finish"]
    missing = (why, *(say("not_done", language, task=step.task or step.action) for step in steps[:5]))
    return _answer(work, checked, missing=missing, withheld=(), complete=False)
