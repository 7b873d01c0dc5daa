"""Figures of a page of the web that is to be stored: a company's release, as its investor site has it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, cast

from quelea_search import wire
from quelea_search.core.model import ParseLimits
from quelea_search.core.web.model import Fetched
from quelea_search.jobs.reader import ProcessReader
from quelea_search.jobs.reading_process import Reading

URL = "https://investors.example.com/releases/q4"
RELEASE = """<html><head><title>Kestrel results</title></head><body><article>
<p>FOR IMMEDIATE RELEASE</p><h1>KESTREL, INC. REPORTS FOURTH QUARTER AND FULL YEAR 2021 RESULTS</h1>
<p>OSLO, ME, February 3, 2022 - Kestrel, Inc. (NYSE: KSTL) today reported results for the fourth quarter and full year
ended December 31, 2021. Revenue grew in every region, and the company raised its dividend for the tenth time.</p>
<p><b>CONSOLIDATED STATEMENTS OF INCOME</b></p><p>(in millions)</p>
<table><tr><td></td><td colspan="2">Year Ended December 31,</td></tr><tr><td></td><td>2021</td><td>2020</td></tr>
<tr><td>Net sales</td><td>1,200</td><td>1,000</td></tr><tr><td>Cost of sales</td><td>800</td><td>700</td></tr>
<tr><td>Gross profit</td><td>400</td><td>300</td></tr><tr><td>Income taxes</td><td>20</td><td>15</td></tr>
<tr><td>Net income</td><td>60</td><td>45</td></tr></table></article></body></html>"""


class _Here:
    """Reading, without a process of its own."""

    def run(self, size: int, call: Callable[..., Any], *args: object) -> Any:
        return call(*args)


async def test_a_page_that_is_stored_brings_the_figures_of_its_statements() -> None:
    page = Fetched(URL, URL, URL, 200, "text/html", "utf-8", RELEASE.encode(), 1_700_000_000.0)
    document = await ProcessReader(cast("Reading", _Here()), ParseLimits()).read_page(page, "", "")
    facts = {(one.concept, one.period.end.isoformat()): one.value for one in document.statement_facts}
    assert facts["revenue", "2021-12-31"] == Decimal(1_200_000_000)
    assert facts["net_income", "2020-12-31"] == Decimal(45_000_000)
    assert (document.facts.company, document.facts.period.label) == ("Kestrel", "FY2021")
    passages = wire.passages_of(document.document_id, document.chunks, document.statement_facts)
    assert sum(len(passage.facts) for passage in passages) == len(document.statement_facts) > 0
