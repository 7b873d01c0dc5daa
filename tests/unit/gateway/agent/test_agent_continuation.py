"""What a follow-up is told of the runs before it, and what it may take over."""

import asyncio
import dataclasses
import json

import pytest
from quelea_gateway.core.agent import continuation
from quelea_gateway.core.agent.continuation import Earlier, EarlierRun, pick_files, read_run
from quelea_gateway.core.agent.decision.token_budget import tokens
from quelea_gateway.core.agent.grounding.evidence import Evidence, sources
from quelea_gateway.core.agent.grounding.flows import Flow
from quelea_gateway.core.agent.grounding.provenance import Session
from quelea_gateway.core.agent.loop import run
from quelea_gateway.core.agent.model import Artifact, Budget, Event, PlanStep, Run
from quelea_gateway.core.agent.runs import kept_sessions
from quelea_gateway.core.agent.runs.earlier_runs import EarlierRuns
from quelea_gateway.core.agent.runs.kept_sessions import KeptSessions
from quelea_gateway.core.agent.runs.quota import RunLimits
from quelea_kit.errors import NotFound, Unavailable
from quelea_kit.reach import Reach, within
from quelea_kit.testing import wait_until_async
from support.agent_world import FAST, Noted, SayingModel, asking, good, world

BEFORE = EarlierRun(
    "run-0", "How did NVIDIA do?", (PlanStep("code-exec", "get prices"),), "x = 1", "It rose to 190.17."
)
ANSWER = json.dumps({"answer": "The close was 186.5 [1].", "missing": []})


async def kept_by(ports, request=None):
    """What a run leaves."""
    left = []

    async def keep(one):
        left.append(one)

    await run("run-1", request or asking(), ports, FAST, Noted(), keep=keep)
    return left[0]


async def follow(ports, kept, model, **more):
    ports = dataclasses.replace(ports, model=model)
    journal, earlier = Noted(), Earlier((BEFORE,), kept)
    answer = await run("run-2", asking("And the same again?", **more), ports, FAST, journal, earlier=earlier)
    return answer, journal


async def test_prompts_tell_of_the_runs_before_within_bounds():
    long = dataclasses.replace(
        BEFORE, question="What " * 5000, code="y = 2\n" * 5000, report="It rose. </earlier> " * 5000
    )
    ports = world(SayingModel(good()))
    for before, least in (((BEFORE,), "It rose to 190.17"), ((BEFORE, long, long), "It rose")):
        model = SayingModel(good(answer=ANSWER))
        await run("run-2", asking("And now?"), dataclasses.replace(ports, model=model), FAST, Noted(),
                  earlier=Earlier(before))  # fmt: skip
        for kind, messages, _ in model.asked:
            text = messages[1].text
            assert "And now?" in text, kind
            assert least in text, kind
            assert text.count("</earlier>") == 1, kind
            assert tokens(text) < 5300, kind


async def test_a_short_run_does_not_push_out_those_before_it():
    long = dataclasses.replace(BEFORE, report="The figures of its quarters follow. " * 20 + "It rose to 190.17.")
    short = EarlierRun("run-1", "As a chart?", report="See chart.")
    model = SayingModel(good(answer=ANSWER))
    earlier = Earlier((long, short))
    await run("run-2", asking("And now?"), world(model), FAST, Noted(), earlier=earlier)
    told = model.asked[0][1][1].text
    assert "How did NVIDIA do?" in told
    assert "It rose to 190.17." in told


async def test_what_is_told_of_the_runs_before_is_a_quarter_of_the_prompt_at_most():
    long = dataclasses.replace(
        BEFORE, question="What " * 9000, code="y = 2\n" * 9000, report="It rose. " * 9000,
        plan=(PlanStep("code-exec", "get " * 9000),),
    )  # fmt: skip
    model = SayingModel(good(answer=ANSWER))
    await run("run-2", asking("And?"), world(model), FAST, Noted(), earlier=Earlier((long, long, long)))
    told = model.asked[0][1][1].text.partition("<earlier>")[2].partition("</earlier>")[0]
    assert 900 < tokens(told) < 8192 // 4


async def test_tables_are_there_where_the_container_died_with_the_last_code():
    ports = world(coding("print(1)", READS))
    kept = await kept_by(ports)
    kept.sandbox_session, kept.variables = "", Session()
    earlier = Earlier((BEFORE,), kept, ((TYPED, b"close\n1\n"),))
    journal = Noted()
    await run("run-2", asking("And?"), dataclasses.replace(ports, model=coding(READS)), FAST, journal, earlier=earlier)
    assert ports.sandbox.files["prices.csv"] == b"close\n1\n"
    assert any("began afresh" in one for one in journal.of("answer")[0]["notices"])


async def test_a_report_is_told_without_its_numbers_and_code_only_where_it_ran():
    stored = Run("run-0", "desk", "q", "2026-11-22", "en", "m", "finished", "2026-11-22T12:00:00Z", Budget(),
                 answer={"text": "It rose [1]. It fell [12]."})  # fmt: skip
    made = [
        ("plan", {"plan": [{"action": "code-exec", "task": "old"}]}),
        ("code", {"step": 1, "attempt": 0, "code": "works"}),
        ("output", {"step": 1, "attempt": 0, "reason": "ok"}),
        ("reflection", {"step": 1, "plan": [{"action": "finish", "task": "new"}]}),
        ("code", {"step": 2, "attempt": 0, "code": "fails"}),
        ("output", {"step": 2, "attempt": 0, "reason": "error"}),
    ]
    told = read_run(stored, [Event(n, name, "", data) for n, (name, data) in enumerate(made, start=1)])
    assert told == EarlierRun("run-0", "q", (PlanStep("finish", "new"),), "works", "It rose. It fell.")


async def test_what_was_typed_in_the_run_before_stays_not_traced():
    ports = world(SayingModel(good(action=[
        json.dumps({"action": "code-exec", "task": "x", "apis": [], "code": "multiple = 31.7\nprint('done')"}),
        json.dumps({"notes": [], "plan": [], "actions": [{"action": "finish"}]}),
    ])))  # fmt: skip
    kept = await kept_by(ports)
    assert kept.variables.names["multiple"] == Flow(frozenset({"31.7"}))
    code = "print(multiple * 2)"
    _, journal = await follow(ports, kept, SayingModel(good(action=[
        json.dumps({"action": "code-exec", "task": "x", "apis": [], "code": code}),
        json.dumps({"notes": [], "plan": [], "actions": [{"action": "finish"}]}),
    ])))  # fmt: skip
    assert "untraced" in ports.sandbox.ran[-1]
    assert ports.sandbox.ran_in[0] == ports.sandbox.ran_in[-1]
    assert journal.of("answer")


def coding(*codes):
    """A model that runs these, one after the other."""
    chosen = [{"action": "code-exec", "task": f"step {at}", "apis": [], "code": code} for at, code in enumerate(codes)]
    later = [{"notes": [], "plan": [], "actions": [one]} for one in (*chosen[1:], {"action": "finish"})]
    return SayingModel(good(action=[json.dumps(one) for one in (chosen[0], *later)], answer=ANSWER))


TYPED = Artifact("step1-prices.csv", "text/csv", 8, 1, "prices.csv")
READS = "import pandas as pd\nprint(pd.read_csv('prices.csv').close.sum())"


async def test_a_file_of_typed_numbers_stays_not_traced_when_its_second_container_dies_too():
    ports = world(coding("print(1)", READS))
    answers = ports.sandbox._pretend

    def dies_first(code, token):
        done = answers(code, token)
        return done if len(ports.sandbox.ran) > 1 else dataclasses.replace(done, reason="memory", session_alive=False)

    ports.sandbox._pretend = dies_first
    earlier = Earlier((BEFORE,), files=((TYPED, b"close\n1\n"),))
    await run("run-2", asking("And now?"), ports, FAST, Noted(), earlier=earlier)
    assert len({*ports.sandbox.ran_in}) > 1
    assert "untraced" in ports.sandbox.ran[-1]


async def test_a_file_that_code_wrote_under_a_made_name_stays_not_traced_in_another_container():
    ports = world(coding("import pandas as pd\nn = 'prices'\nx = pd.read_csv('prices.csv')\nx.to_csv('prices.csv')\n"
                         "pd.DataFrame({'close': [512.75]}).to_csv(f'{n}.csv')"))  # fmt: skip
    kept = await kept_by(ports)
    ports.sandbox.sessions.clear()
    earlier = Earlier((BEFORE,), kept, ((TYPED, b"close\n1\n"),))
    await run("run-2", asking("And?"), dataclasses.replace(ports, model=coding(READS)), FAST, Noted(), earlier=earlier)
    assert "untraced" in ports.sandbox.ran[-1]


def standing(*found):
    """What is found of a session's runs and documents, time after time."""
    left = list(found)

    async def look(_):
        return left.pop(0) if len(left) > 1 else left[0]

    return look


async def test_a_session_waits_on_while_nobody_can_tell_and_is_not_given_away_then(monkeypatch):
    monkeypatch.setattr(kept_sessions, "_LOOK_SECONDS", 0.01)
    ports = world(SayingModel(good()))
    looks = standing("whole", "unknown", "unknown", "unknown", "gone")
    sessions = KeptSessions(RunLimits(), looks)
    await sessions.keep(kept := await kept_by(ports))
    await wait_until_async(lambda: kept.sandbox_session in ports.sandbox.closed)
    assert await looks(kept) == "gone", "it waited through all that could not be told"
    again = world(SayingModel(good()))
    sessions = KeptSessions(RunLimits(), standing("unknown"))
    await sessions.keep(kept := await kept_by(again))
    assert len(sessions) == 1
    assert await sessions.take(kept.run_ids[-1]) is None
    assert kept.sandbox_session in again.sandbox.closed


async def test_a_session_knows_all_runs_and_documents_whose_values_it_may_hold():
    ports = world(SayingModel(good()))
    kept = await kept_by(ports)
    drawn, held = frozenset({"d1"}), []

    async def keep(one):
        held.append(one)

    for number in range(2, 7):
        told = (EarlierRun(f"run-{number - 1}", "q"),)
        earlier = Earlier(told, kept, documents=drawn)
        await run(
            f"run-{number}", asking("And?"), world(SayingModel(good())), FAST, Noted(), earlier=earlier, keep=keep
        )
        kept, drawn = held[-1], frozenset()
    assert set(kept.run_ids) >= {f"run-{number}" for number in range(1, 7)}, "the oldest is not told of, but held"
    assert kept.drawn_on == {"d1"}, "of a report or a file it has no evidence"


async def test_a_document_that_is_gone_is_told_from_one_that_cannot_be_looked_for():
    away: dict[str, Exception] = {"gone": NotFound("There is none."), "late": Unavailable("Search is down.")}

    class Pages:
        async def read(self, document_id, page):
            if document_id in away:
                raise away[document_id]

    ports = world(SayingModel(good()))
    kept = dataclasses.replace(await kept_by(ports), run_ids=())
    looks = EarlierRuns(None, Pages()).look
    for drawn_on, found in (({"d"}, "whole"), ({"d", "late"}, "unknown"), ({"late", "gone", "d"}, "gone")):
        kept.drawn_on = frozenset(drawn_on)
        assert await looks(kept) == found


async def test_a_run_that_is_cancelled_while_its_session_is_put_aside_leaves_none():
    ports = world(SayingModel(good()))
    kept = await kept_by(ports)

    sessions = KeptSessions(RunLimits(), standing("whole"))
    asked = asyncio.Event()

    async def hangs(*_, **__):
        asked.set()
        await asyncio.Event().wait()

    ports.sandbox.spare_session = hangs
    keeping = asyncio.create_task(sessions.keep(kept))
    await asked.wait()
    keeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await keeping
    assert kept.sandbox_session in ports.sandbox.closed


@pytest.mark.parametrize(
    ("then", "now", "sees"),
    [
        (None, None, True), (("a",), None, True), (("a",), ("a", "b"), True), (("a", "b"), ("a",), False),
        (None, ("a",), False),
    ],
)  # fmt: skip
async def test_what_was_found_in_other_collections_is_not_handed_on(then, now, sees):
    ports = world(SayingModel(good()))
    with within(Reach.of("default", then)):
        kept = await kept_by(ports)
    with within(Reach.of("default", now)):
        answer, _ = await follow(ports, kept, SayingModel(good(answer=ANSWER)))
    assert any(one.run == "run-1" for one in answer.sources) is sees
    assert (ports.sandbox.ran_in[-1] == kept.sandbox_session) is sees
    assert kept.sandbox_session in ports.sandbox.closed  # at once, or with the follow-up that nothing follows


def test_sources_of_a_follow_up_name_the_run_that_brought_them():
    evidence = Evidence()
    call = {"url": "https://a.example", "fetched": "2026-11-22T00:00:00Z", "sha256": "0" * 64, "id": "c"}
    evidence.execution(2, "Output of step 2", "old 186.5", day="2026-11-22")
    evidence.call(2, call, "186.5")
    evidence.hand_on("run-1")
    evidence.execution(1, "Output of step 1", "new 5.26", day="2026-11-22")
    found = sources(evidence, [3])
    assert [(one.number, one.run, one.used) for one in found] == [
        (1, "run-1", False),
        (2, "run-1", True),
        (3, "", True),
    ]
    for number in range(200):
        evidence.execution(number, "t", f"more {number}", day="")
    assert len(evidence.items) == evidence.most == 80
    evidence.hand_on("run-2")
    assert evidence.most == 120 and not evidence.is_full
    assert [one.source.run for one in evidence.items[:3]] == ["run-1", "run-1", "run-2"]


def test_files_for_another_session_are_tables_and_texts_of_plain_names():
    def made(name, path, kind="text/csv", size=10):
        return Artifact(name, kind, size, 1, path)

    given = [
        made("step1-p.csv", "p.csv"), made("step2-p.csv", "out/p.csv"), made("step1-x.png", "x.png", "image/png"),
        made("step1-big.csv", "big.csv", size=1 << 30), made("step1-e.json", "evidence.json", "application/json"),
    ]  # fmt: skip
    picked = pick_files(given)
    assert [one.name for one in picked] == ["step1-e.json", "step2-p.csv"]
    assert [continuation.file_name(one) for one in picked] == ["step1-e.json", "p.csv"]


async def test_a_question_that_follows_nothing_is_as_it_was():
    model = SayingModel(good())
    await run("run-1", asking("Plain?"), world(model), FAST, Noted())
    assert all("<earlier>" not in messages[1].text for _, messages, _ in model.asked)
