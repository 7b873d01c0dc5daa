"""Passages: exact spans, whole sentences and rows, heads repeated, sections."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from quelea_fintext.sentences import sentence_spans
from quelea_search.core.chunk import CRUMB, PROSE_CHARACTERS, TABLE_CHARACTERS, chunk
from quelea_search.core.layout.page_assembly import Block, build_page
from quelea_search.core.model import CELL, LineKind, ParsedDocument

H, T, R, U = LineKind.HEADING, LineKind.TEXT, LineKind.ROW, LineKind.HEAD


def document(*pages: list[Block]) -> ParsedDocument:
    return ParsedDocument(tuple(build_page(page) for page in pages), "text")


sentence = st.lists(
    st.sampled_from("net sales rose to 3.5 billion in the U.S. while costs fell".split()), min_size=1, max_size=40
).map(lambda words: " ".join(words).capitalize() + ".")
chinese = st.text(alphabet="公司营业收入同比增长净利润下降", min_size=2, max_size=120).map(lambda s: s + "。")
prose = st.lists(sentence | chinese, min_size=1, max_size=12).map(lambda parts: Block(T, " ".join(parts)))
table_row = st.tuples(
    st.sampled_from(["Net sales", "Cost of sales", "营业收入", "Other"]), st.integers(0, 10**7), st.integers(0, 10**7)
).map(lambda r: Block(R, f"{r[0]}{CELL}{r[1]:,}{CELL}{r[2]:,}"))
a_table = st.tuples(st.booleans(), st.lists(table_row, min_size=1, max_size=80)).map(
    lambda t: ([Block(U, "(in millions)"), Block(U, f"2023{CELL}2022")] if t[0] else []) + t[1]
)
heading = st.tuples(st.sampled_from(["Revenue", "Item 2. MD&A", "第三节 公司业务概要"]), st.integers(1, 4)).map(
    lambda h: [Block(H, h[0], h[1])]
)
page = st.lists(prose.map(lambda b: [b]) | a_table | heading, min_size=0, max_size=8).map(
    lambda runs: [b for run in runs for b in run]
)


@settings(max_examples=30, deadline=None)
@given(st.lists(page, min_size=1, max_size=3))
def test_spans_are_exact_complete_and_never_cut(pages: list[list[Block]]) -> None:
    parsed = document(*pages)
    chunks = chunk(parsed)
    assert [c.ordinal for c in chunks] == list(range(len(chunks)))
    said = ["" for _ in parsed.pages]
    for c in chunks:
        text = parsed.pages[c.page - 1].text
        assert c.text == text[c.start : c.end] and c.text.strip() == c.text != ""
        said[c.page - 1] += "".join(c.text.split())
    assert said == ["".join(p.text.split()) for p in parsed.pages]  # in order, nothing twice, nothing lost
    for number, p in enumerate(parsed.pages, start=1):
        cuts = {edge for c in chunks if c.page == number for edge in (c.start, c.end)}
        for line in p.lines:
            whole = [(line.start, line.end)] if line.kind is not T else sentence_spans(p.text, line.start, line.end)
            for start, end in whole:
                assert not any(start < cut < end for cut in cuts), p.text[start:end]


@settings(max_examples=30, deadline=None)
@given(st.lists(page, min_size=1, max_size=2))
def test_sizes(pages: list[list[Block]]) -> None:
    for c in chunk(document(*pages)):
        limit = (TABLE_CHARACTERS if c.is_table else PROSE_CHARACTERS) + 2 * CRUMB
        assert len(c.text) <= limit or len(sentence_spans(c.text)) == 1


def test_a_small_table_stays_whole_with_its_title_and_units() -> None:
    parsed = document(
        [
            Block(H, "Segment Operating Performance", 3),
            Block(T, "The following table shows net sales by segment (dollars in millions):"),
            Block(U, f"July 1, 2023{CELL}June 25, 2022"),
            Block(R, f"Americas{CELL}$ 35,383{CELL}$ 37,472"),
            Block(R, f"Europe{CELL}20,205{CELL}19,287"),
        ]
    )
    (only,) = chunk(parsed)
    assert only.is_table and only.table_head == ""
    assert only.text == parsed.pages[0].text
    assert only.section == "Segment Operating Performance"


def test_a_long_table_repeats_its_head() -> None:
    rows = [Block(R, f"Country number {i}{CELL}{i * 1000:,}{CELL}{i * 900:,}") for i in range(120)]
    parsed = document(
        [Block(T, "Sales by country were as follows:"), Block(U, "(In millions)"), Block(U, f"2023{CELL}2022"), *rows]
    )
    first, *rest = chunk(parsed)
    assert first.text.startswith("Sales by country") and first.table_head == ""
    assert rest and all(
        c.table_head == f"Sales by country were as follows:\n(In millions)\n2023{CELL}2022" for c in rest
    )
    assert all(c.is_table and c.text.split("\n")[0].startswith("Country number") for c in rest)


def test_parts_of_a_table_repeat_the_names_that_are_in_force_where_they_begin() -> None:
    def rows(name: str, columns: int) -> list[Block]:
        return [Block(R, CELL.join([f"{name} {i}", *[f"{i + 1},000"] * columns])) for i in range(40)]

    parsed = document(
        [
            Block(H, "Note 8. Segments", 2),
            Block(U, CELL.join(["(millions of dollars)", "Upstream", "Segment Total"])),
            Block(R, CELL.join(["U.S.", "Non-U.S.", "U.S."])),
            Block(R, "Three Months Ended June 30, 2025"),
            *rows("Income", 3),
            Block(R, "As of June 30, 2025"),
            *rows("Assets", 3),
            Block(R, CELL.join(["Reconciliation", "Segment Total", "Corporate Total"])),
            Block(R, "Six Months Ended June 30, 2025"),
            *rows("Reconciled", 2),
        ]
    )
    first, *rest = chunk(parsed)
    upper = (
        CELL.join(["(millions of dollars)", "Upstream", "Segment Total"])
        + "\n"
        + CELL.join(["U.S.", "Non-U.S.", "U.S."])
    )
    lower = CELL.join(["Reconciliation", "Segment Total", "Corporate Total"])
    heads = {
        "Income": f"{upper}\nThree Months Ended June 30, 2025",
        "Assets": f"{upper}\nAs of June 30, 2025",
        "Reconciled": f"{lower}\nSix Months Ended June 30, 2025",
    }
    for name, head in heads.items():
        assert any(c.text.startswith(name) for c in rest), name
        assert all(c.table_head == f"Note 8. Segments\n{head}" for c in rest if c.text.startswith(name)), name
    last_lines = [c.text.rsplit("\n", 1)[-1] for c in (first, *rest)]
    assert not any(said.endswith("2025") or said == lower for said in last_lines)


def test_a_period_is_not_repeated_below_columns_that_are_periods() -> None:
    rows = [Block(R, f"Country number {i}{CELL}{i * 1000:,}{CELL}{i * 900:,}") for i in range(60)]
    head = [Block(U, "(In millions)"), Block(U, f"2025{CELL}2024")]
    _, *rest = chunk(document([*head, Block(R, "As of June 30, 2025"), *rows]))
    assert rest and all(c.table_head == f"(In millions)\n2025{CELL}2024" for c in rest)


def test_a_table_is_led_in_by_the_last_sentence_of_a_long_paragraph() -> None:
    before = "Net sales include product and service sales. " * 12
    parsed = document(
        [
            Block(T, f"{before}Net sales information is as follows (in millions):"),
            Block(U, f"2023{CELL}2022"),
            *[Block(R, f"Country number {i}{CELL}{i * 1000:,}{CELL}{i * 900:,}") for i in range(60)],
        ]
    )
    words, *tables = chunk(parsed)
    assert not words.is_table and words.text == before.strip()
    assert tables[0].text.startswith("Net sales information is as follows (in millions):")
    assert len(tables) > 1 and all(c.table_head.startswith("Net sales information is as") for c in tables[1:])


def test_section_path_pops_and_crosses_pages() -> None:
    parsed = document(
        [
            Block(H, "Item 1. Financial Statements", 1),
            Block(H, "Note 2 – Revenue", 2),
            Block(H, "Disaggregation", 3),
            Block(T, "Text a. " * 40),
        ],
        [Block(T, "Still the same section. " * 10), Block(H, "Note 3 – Leases", 2), Block(T, "Leases are long. " * 20)],
    )
    sections = [c.section for c in chunk(parsed)]
    assert sections[0] == "Item 1. Financial Statements › Note 2 – Revenue › Disaggregation"
    assert sections[1] == sections[0]
    assert sections[-1] == "Item 1. Financial Statements › Note 3 – Leases"


def test_long_mda_heading_is_shortened_in_the_path_only() -> None:
    heading = "Item 2. Management’s Discussion and Analysis of Financial Condition and Results of Operations"
    (only,) = chunk(document([Block(H, heading, 1), Block(T, "Sales grew. " * 20)]))
    assert only.section == "Item 2. MD&A" and only.text.startswith(heading)


def test_crumbs_join_their_neighbour() -> None:
    chunks = chunk(
        document(
            [
                Block(H, "Europe", 3),
                Block(T, "Short."),
                Block(H, "Japan", 3),
                Block(T, "A longer text about Japan. " * 10),
            ]
        )
    )
    assert len(chunks) == 1 and chunks[0].text.startswith("Europe\nShort.\nJapan")


def test_one_endless_sentence_is_cut_at_clauses_for_the_encoder() -> None:
    text = "the risks include changes in demand for our products, " * 80
    chunks = chunk(document([Block(T, text + "and more.")]))
    assert len(chunks) > 2 and all(c.text.endswith((",", ".")) for c in chunks)


def test_a_document_of_headings_only_is_not_lost() -> None:
    chunks = chunk(document([Block(H, "Agenda", 1), Block(H, "Goals", 2)], [Block(H, "Thanks", 1)]))
    assert [c.text for c in chunks] == ["Agenda\nGoals", "Thanks"]
