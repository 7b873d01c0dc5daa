"""Sina's packed bars: the bit stream that its pages' own script unpacks (akshare runs that script).

Written from the reading side: the script is the format's only description. Bits go into base64 letters from the lowest
on, six a letter. Only what is needed here is written: format 3466, weekdays, prices of two decimals.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from quelea_search.door.samples.series import Bar

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_EPOCH = date(1990, 12, 19)
_FORMAT = 3466
_PRICE_LENGTH, _VOLUME_LENGTH, _AMOUNT_LENGTH = 6, 12, 5  # in threes of bits
_FIRST_PRICE_LENGTH, _FIRST_VOLUME_LENGTH = 3, 5


class _Bits:
    def __init__(self) -> None:
        self._bits: list[int] = []

    def flags(self, *values: int) -> None:
        self._bits += values

    def number(self, value: int, width: int) -> None:
        """Lowest bit first; a negative one as two's complement; above 30 bits in two parts."""
        if width > 30:
            self.number(value & (1 << 30) - 1, 30)
            self.number(value >> 30, width - 30)
            return
        self._bits += [value >> place & 1 for place in range(width)]

    def longer(self, by: int) -> None:
        """A length that grows: its sign, then as many ones as it grows beyond one, then a zero."""
        self._bits += [1, *[1] * (by - 1), 0]

    def text(self) -> str:
        bits = self._bits + [0] * (-len(self._bits) % 6)
        sixes = (bits[place : place + 6] for place in range(0, len(bits), 6))
        return "".join(_LETTERS[sum(bit << place for place, bit in enumerate(six))] for six in sixes)


def pack(bars: Sequence[Bar]) -> str:
    """The bars as the string of a klc file: date, open, high, low, close, volume (and an amount computed from them)."""
    bits = _Bits()
    bits.number(_FORMAT, 12)
    bits.number(63, 6)
    last, volume = 0, 0
    for number, bar in enumerate(bars):
        day = (bar.day - _EPOCH).days
        if number == 0:
            bits.flags(1, 1, 0, 1)  # no new flags; new lengths
            for _ in "ohlc":
                bits.flags(1)
                bits.longer(_PRICE_LENGTH - _FIRST_PRICE_LENGTH)
            bits.flags(1)
            bits.longer(_VOLUME_LENGTH - _FIRST_VOLUME_LENGTH)
            bits.flags(0, 1)  # the amount's length stays; a day of its own
            _day(bits, day)
            bits.flags(0)  # no price before
        elif (bar.day - bars[number - 1].day).days in ((1,) if bar.day.weekday() else (3,)):
            bits.flags(0)  # the next weekday
        else:
            bits.flags(1, 0, 1, 1, 1)
            _day(bits, day)
        cents = [round(100 * price) for price in (bar.open, bar.high, bar.low, bar.close)]
        width = 3 * _PRICE_LENGTH
        bits.number(cents[0] - last, width)
        bits.number(cents[1] - cents[0], width)
        bits.number(cents[0] - cents[2], width)
        bits.number(cents[3] - cents[0], width)
        bits.number(bar.volume - volume, 3 * _VOLUME_LENGTH)
        bits.number(0, 3 * _AMOUNT_LENGTH)
        last, volume = cents[3], bar.volume
    bits.flags(1, 1, 0, 0, 0)
    return bits.text()


def _day(bits: _Bits, day: int) -> None:
    bits.number(1, 3)
    bits.number(day, 18)
