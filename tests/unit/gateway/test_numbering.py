"""Numbers in the order in which a text cites, streamed in whatever pieces and checked."""

import pytest
from quelea_gateway.core.answers.numbering import Numbering, StreamedMarkers, as_streamed, by_appearance
from quelea_gateway.core.model import Citation, Delta, Finished, Quote, Quoted, Retrieved
from quelea_gateway.core.review.verdicts import FigureVerdict, Grounding, SentenceVerdict
from support.pipeline import FakeGenerator, FakeRetriever, Pipeline, passages, question, run

EVIDENCE = passages(12)


def streamed(*pieces):
    markers = StreamedMarkers(EVIDENCE)
    taken = [markers.feed(piece) for piece in pieces] + [markers.finish()]
    return "".join(text for text, _ in taken), [one for _, found in taken for one in found], markers.order


def test_what_is_cited_first_is_one():
    numbering = by_appearance("Up [5]. Down [2, 5]. Flat [11].", EVIDENCE)
    assert numbering.order[:4] == (5, 2, 11, 1)
    assert numbering.of_text("Up [5]. Down [2, 5]. Flat [11].").text == "Up [1]. Down [2, 1]. Flat [3]."
    assert sorted(numbering.order) == list(range(1, 13))


def test_a_number_of_no_passage_stays():
    numbering = Numbering(3, [99, 2])
    assert numbering.order == (2, 1, 3)
    assert (numbering[99], numbering[0]) == (99, 0)


def test_spans_of_verdicts_follow_the_text():
    text = "Up 5 [11]. Down 7 [2]."
    found = Grounding(
        text,
        (SentenceVerdict("Up 5 [11].", 0, 10, "supported", (11, 3)), SentenceVerdict("Down 7 [2].", 11, 22, "partly")),
        (FigureVerdict("5", 3, 4, "supported", 11), FigureVerdict("7", 16, 17, "not_found")),
        removed_markers=("[3]",),
    )
    moved = by_appearance(text, EVIDENCE).of_grounding(found)
    assert moved.text == "Up 5 [1]. Down 7 [2]."
    assert [moved.text[one.start : one.end] for one in moved.sentences] == ["Up 5 [1].", "Down 7 [2]."]
    assert [one.text for one in moved.sentences] == ["Up 5 [1].", "Down 7 [2]."]
    assert [moved.text[one.start : one.end] for one in moved.figures] == ["5", "7"]
    assert moved.sentences[0].passages == (1, 4)
    assert [one.passage for one in moved.figures] == [1, 0]
    assert moved.removed_markers == ("[4]",)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_stream_in_pieces_of_any_size(size):
    text = "Up 【5】. Down [Source 2] and [5], [1-3](x) [12](https://a.test/b), `[4]` in code; [no marker] [7"
    text, cited, order = streamed(*(text[at : at + size] for at in range(0, len(text), size)))
    assert text == "Up [1]. Down [2] and [1], [3, 2, 4](x) [5], `[4]` in code; [no marker] [7"
    assert order == [5, 2, 1, 3, 12]
    assert [(one.number, one.document_id) for one in cited] == list(enumerate(("d5", "d2", "d1", "d3", "d12"), start=1))


def test_a_stream_waits_for_a_bracket_and_not_for_ever():
    markers = StreamedMarkers(EVIDENCE)
    assert markers.feed("It rose [")[0] == "It rose "
    assert markers.feed("3")[0] == ""
    assert markers.feed("].")[0] == "[1]."
    long = "[" + "x" * 200
    assert markers.feed(long)[0] == long


def test_brackets_of_the_evidence_stay():
    own = "Selling, general and other fees [2] of note [3] apply"
    evidence = [*EVIDENCE[:3], type(EVIDENCE[0])(**{**vars(EVIDENCE[0]), "text": own})]
    markers = StreamedMarkers(evidence)
    assert markers.feed(f"“{own}” [4] ")[0] == f"“{own}” [1] "


async def test_the_answer_is_numbered_as_it_cites():
    second = passages(2)[1].text
    events = [Quote(2, 0, len(second), second), Delta(f"{second} "), Delta("[2]"), Finished("stop", "extractive", "m")]
    items = await run(Pipeline(FakeRetriever(Retrieved(passages(5))), FakeGenerator(events)), question(j=3))
    deltas, answer = [item for item in items if isinstance(item, Delta)], items[-1]
    assert "".join(delta.text for delta in deltas) == answer.answer == f"{second} [1]"
    assert [(one.number, one.document_id) for delta in deltas for one in delta.citations] == [(1, "d2")]
    assert [(one.number, one.document_id) for one in answer.citations] == [(1, "d2")]
    assert [(one.number, one.document_id) for one in answer.evidence] == [(1, "d2"), (2, "d1"), (3, "d3")]
    assert answer.grounding.text == answer.answer
    assert {number for one in answer.grounding.sentences for number in one.passages} == {1}
    assert answer.streamed == (1,)


async def test_a_marker_that_the_checks_took_away_leaves_no_gap_and_the_stream_keeps_its_numbers():
    wrote = [Delta("Net sales of part 2 were 100 units [3]. "), Delta("Net sales of part 1 were 100 units [1].")]
    generator = FakeGenerator([*wrote, Finished("stop", "openai", "m")])
    items = await run(Pipeline(FakeRetriever(Retrieved(passages(5))), generator), question(j=3))
    answer = items[-1]
    shown = "".join(item.text for item in items if isinstance(item, Delta))
    assert shown == "Net sales of part 2 were 100 units [1]. Net sales of part 1 were 100 units [2]."
    numbers = [one.number for one in answer.citations]
    assert sorted(set(numbers)) == list(range(1, len(set(numbers)) + 1))
    again = as_streamed(answer)
    assert {one.number: one.document_id for one in again.evidence}[2] == "d1"
    assert {one.number: one.document_id for one in again.evidence}[1] == "d3"


def test_quotes_have_numbers_of_their_own():
    cited = Citation(4, "d4", "t", "u", 1, "", "q", 1.0, 0, 1, "", "")
    found = by_appearance("a [4]", EVIDENCE).of_quoted(Quoted("a [4]", (cited,)))
    assert (found.text, found.citations[0].number) == ("a [1]", 1)
