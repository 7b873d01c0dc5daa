"""What an operator sees of the checks: verdicts, refusals by reason, time and load."""

import re

from prometheus_client import REGISTRY
from support.written import written

QUESTION = "What were Apple's total net sales?"
TEXT = "Total net sales were $81,797 million [1]. Net income was $19,991 million [1]."


def value(name, **labels):
    return REGISTRY.get_sample_value(name, labels) or 0.0


def verdicts(of):
    """Figures by verdict."""
    return {
        v: value("quelea_checked_figures_total", of=of, verdict=v) for v in ("supported", "contradicted", "not_found")
    }


async def ask(web, **more):
    return (await web.post("/v1/ask", json={"question": QUESTION, **more})).raise_for_status().json()


async def test_figures_of_answers_and_of_callers_are_counted_apart(stand, web):
    stand.world.events = written(TEXT)
    before, seconds = verdicts("answer"), value("quelea_check_seconds_count", size="small", end="done")
    found = (await ask(web))["grounding"]["figures"]
    told = [figure["verdict"] for figure in found]
    assert verdicts("answer") == {name: before[name] + told.count(name) for name in before}
    assert value("quelea_check_seconds_count", size="small", end="done") == seconds + 1
    before = verdicts("check")
    passages = ["Total net sales were $81,797 million."]
    (await web.post("/v1/check", json={"answer": TEXT, "passages": passages})).raise_for_status()
    assert verdicts("check")["not_found"] == before["not_found"] + 1
    assert value("quelea_checks_under_way", size="small") == 0


async def test_withheld_sentences_and_refusals_are_counted_and_logged_by_reason(stand, web, capsys):
    withheld = value("quelea_withheld_sentences_total")
    stand.world.events = written(TEXT)
    await ask(web, strict=True)
    assert value("quelea_withheld_sentences_total") == withheld + 1
    for text, end, reason in (
        ("Net income was $19,991 million [1].", "stop", "all_withheld"),
        ("Unable to answer the question based on the information provided", "declined", "model_refused"),
    ):
        before = value("quelea_answers_declined_total", reason=reason)
        stand.world.events = written(text, reason=end)
        capsys.readouterr()
        assert (await ask(web, strict=True))["declined"]["reason"] == reason
        assert value("quelea_answers_declined_total", reason=reason) == before + 1
        assert f"decline_reason={reason}" in re.sub(r"\x1b\[\d+m", "", capsys.readouterr().out)
    before = value("quelea_answers_declined_total", reason="no_such_period")
    assert (await ask(web, question="What were Apple's total net sales in the fifth quarter of 2023?"))["declined"]
    assert value("quelea_answers_declined_total", reason="no_such_period") == before + 1
