"""A catalogue of a few APIs."""

from __future__ import annotations

from collections.abc import Sequence

from quelea_kit.errors import NotFound, QueleaError

from quelea_gateway.core.agent.ports import ApiCandidate

DOCUMENTS = {
    "stock_us_daily": (
        "US", "Daily prices of a US stock: open, high, low, close, volume.",
        'stock_us_daily(symbol: str, adjust: str = "") -> DataFrame[date, open, high, low, close, volume]',
    ),
    "stock_zh_a_hist": (
        "A share", "A 股历史行情：日、周、月，前复权与后复权。",
        'stock_zh_a_hist(symbol: str, period: str = "daily", start_date, end_date, adjust)',
    ),
    "macro_china_cpi_yearly": ("Macro", "China CPI, yearly rate.", "macro_china_cpi_yearly()"),
    "stock_us_spot": ("US", "Latest quotes of all US stocks.", "stock_us_spot()"),
    "stock_hk_daily": ("HK", "Daily prices of a Hong Kong stock.", "stock_hk_daily(symbol: str)"),
}  # fmt: skip


class FakeTools:
    """Finds all, or those of a category."""

    def __init__(self) -> None:
        self.reported: list[tuple[str, bool, str]] = []
        self.away: list[QueleaError] = []
        """What selections fail with, one after the other."""

    async def categories(self) -> Sequence[str]:
        """Two."""
        return ("Stock", "Macroeconomics")

    async def select(self, category: str, need: str, *, limit: int, language: str) -> Sequence[ApiCandidate]:
        """Those of a category."""
        if self.away:
            raise self.away.pop(0)
        wanted = [name for name in DOCUMENTS if not category or name.startswith("macro") == (category != "Stock")]
        return [ApiCandidate(name, DOCUMENTS[name][1], category) for name in wanted][:limit]

    async def details(self, name: str) -> str:
        """A document. Raises NotFound."""
        if name not in DOCUMENTS:
            raise NotFound(f"There is no API {name!r}.")
        return DOCUMENTS[name][2]

    async def report(self, name: str, *, ok: bool, error: str = "") -> None:
        """Noted."""
        self.reported.append((name, ok, error))
