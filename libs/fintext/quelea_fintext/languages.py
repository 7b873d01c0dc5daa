"""Languages as folders of data: what finance calls things in each. A folder more is a language more.

A folder holds TOML files and `companies.txt`; docs/howto/add-a-language.md names what is in them. A key is the file's
name and the path in it: "numbers.scales". Names of months and currencies and the words of large numbers come
from Unicode's locale data (babel) under the folder's name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from itertools import count
from pathlib import Path
from typing import Any

from babel import Locale

FOLDER = Path(__file__).parent / "languages"
_SLOT = re.compile(r"(?<!\?P)<([a-z_]+)>")
_CJK = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_GROUP = re.compile(r"(?<=\(\?P<)([a-z_]+)(?=>)")


class Languages:
    """Every language of a folder of languages; English first, for its names are the keys of the others.

    Args:
        folder: With a folder for each language, named by its ISO 639 code.

    Raises:
        FileNotFoundError: there is no English in it.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder = folder
        codes = {path.name for path in folder.iterdir() if (path / "language.toml").is_file()}
        if "en" not in codes:
            raise FileNotFoundError(f"{folder / 'en' / 'language.toml'}: every set of languages needs English")
        self.codes: tuple[str, ...] = ("en", *sorted(codes - {"en"}))

    def of(self, key: str) -> dict[str, Any]:
        """Language code -> its value; without the languages that have none."""
        file, *path = key.split(".")
        found = {}
        for code in self.codes:
            value: Any = self._file(code, file)
            for step in path:
                value = value.get(step) if isinstance(value, dict) else None
            if value is not None:
                found[code] = value
        return found

    def words(self, key: str) -> tuple[str, ...]:
        """A list of words of every language, each once: a TOML array, or a string with spaces between the words."""
        found: dict[str, None] = {}
        for value in self.of(key).values():
            found.update(dict.fromkeys(value.split() if isinstance(value, str) else value))
        return tuple(found)

    def table(self, key: str) -> dict[str, Any]:
        """A table of every language as one; English wins where two have a key."""
        found: dict[str, Any] = {}
        for value in self.of(key).values():
            found = {**value, **found}
        return found

    def alternatives(self, key: str, *, words_apart: bool | None = None) -> str:
        """The patterns of every language as alternatives of a larger pattern; where there are none it never matches.

        Args:
            key: Of a pattern or an array of patterns.
            words_apart: Only of languages that put white space between words, or only of those that put none.
        """
        patterns = [
            one
            for code, value in self.of(key).items()
            if words_apart in (None, self._file(code, "language")["words_apart"])
            for one in ([value] if isinstance(value, str) else value)
        ]
        return "|".join(self._fill(one) for one in patterns) or r"(?!)"

    def pattern(self, key: str, whole: str = "<>", *, ignore_case: bool = True) -> re.Pattern[str]:
        """The patterns of every language as one; `<>` is where they stand in a larger one.

        Args:
            key: As of `alternatives`.
            whole: With what no language has to say: white space, signs, the ends of the text.
            ignore_case: False is quicker, for text in lower case.
        """
        return re.compile(whole.replace("<>", f"(?:{self.alternatives(key)})"), re.IGNORECASE if ignore_case else 0)

    def grouped(self, key: str) -> tuple[re.Pattern[str], ...]:
        """A pattern for each language, of all it has, in which several may have groups of the same name.

        <word> stands for the pattern of that name beside them. `groups_of` reads a match, `find_all` finds those of
        every language.
        """
        return tuple(self.grouped_of(key, code) for code in self.of(key))

    def grouped_of(self, key: str, code: str) -> re.Pattern[str]:
        """The same, of one language."""
        some = self.of(key)[code]
        whole = self._fill_beside(some if isinstance(some, str) else "|".join(some), key, code)
        number = count()
        return re.compile(_GROUP.sub(lambda match: f"{match[1]}{next(number)}", whole), re.IGNORECASE)

    def replacements(self, key: str) -> Iterator[tuple[re.Pattern[str], str]]:
        """(pattern, what replaces it) of every language's tables of `pattern` and `becomes`; slots as in `grouped`."""
        for code, tables in self.of(key).items():
            for one in tables:
                yield re.compile(self._fill_beside(one["pattern"], key, code), re.IGNORECASE), one["becomes"]

    def _fill_beside(self, pattern: str, key: str, code: str) -> str:
        beside, _, _ = key.rpartition(".")

        def fill(match: re.Match[str]) -> str:
            own = self.of(f"{beside}.{match[1]}").get(code)
            return f"(?:{own})" if isinstance(own, str) else self._fill(match.group())

        while _SLOT.search(pattern):
            pattern = _SLOT.sub(fill, pattern)
        return pattern

    def patterns(self, key: str, flags: re.RegexFlag = re.IGNORECASE) -> tuple[re.Pattern[str], ...]:
        """Each pattern of every language by itself, in order: for what has groups, or is tried one after the other."""
        return tuple(re.compile(self._fill(one), flags) for some in self.of(key).values() for one in some)

    def _fill(self, pattern: str) -> str:
        def fill(match: re.Match[str]) -> str:
            month = "|".join(sorted(self.months(), key=len, reverse=True))
            return f"(?:{month if match[1] == 'month' else self.alternatives(f'periods.{match[1]}')})"

        return _SLOT.sub(fill, pattern)

    def is_written_in(self, code: str, text: str) -> bool:
        """Whether the text has letters of the language, where it has letters of its own."""
        return self._file(code, "language")["words_apart"] or _CJK.search(text) is not None

    def months(self) -> dict[str, int]:
        """Names and short forms of the months, lower case, to their numbers, of languages that write words apart."""
        found: dict[str, int] = {}
        for code in self.codes:
            if not self._file(code, "language")["words_apart"]:
                continue
            forms = Locale.parse(code).months["format"]
            for names in (forms["wide"], forms["abbreviated"]):
                found.update({name.lower().rstrip("."): number for number, name in names.items()})
            found.update(self._file(code, "language").get("months", {}))
        return found

    def rows(self, file: str) -> Iterator[tuple[str, list[str]]]:
        """(language code, fields) of every line of a text file: fields between bars, comments after #."""
        for code in self.codes:
            path = self.folder / code / file
            lines = path.read_text("utf-8").splitlines() if path.is_file() else []
            for line in lines:
                if line and not line.startswith("#"):
                    yield code, [field.strip() for field in line.split("|")]

    def _file(self, code: str, name: str) -> dict[str, Any]:
        return self._files.setdefault((code, name), _read(self.folder / code / f"{name}.toml"))

    @cached_property
    def _files(self) -> dict[tuple[str, str], dict[str, Any]]:
        return {}


@cache
def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}


def groups_of(match: re.Match[str]) -> dict[str, str]:
    """What the groups of a match of `Languages.grouped` hold, by their names; without those that hold nothing."""
    return {name.rstrip("0123456789"): value for name, value in match.groupdict().items() if value}


def find_all(patterns: Iterable[re.Pattern[str]], text: str) -> list[re.Match[str]]:
    """The matches of all of them in the order of the text, none over another; of two at one place the first's."""
    found: list[re.Match[str]] = []
    for match in sorted((match for one in patterns for match in one.finditer(text)), key=re.Match.start):
        if not found or match.start() >= found[-1].end():
            found.append(match)
    return found


LANGUAGES = Languages()
"""Those that Quelea has."""
REFUSALS: dict[str, str] = LANGUAGES.of("language.refusal")
"""Language -> the sentence that stands where there is no answer."""
