"""The page's libraries are the files of the packages that vendor/README.md names."""

import hashlib
from pathlib import Path

import quelea_gateway

PDFJS = Path(quelea_gateway.__file__).parent / "page" / "vendor" / "pdfjs"


def test_pdfjs_is_what_was_taken_from_its_package():
    said = dict(reversed(line.split("  ", 1)) for line in (PDFJS / "SHA256SUMS").read_text().splitlines())
    found = {
        path.relative_to(PDFJS).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in PDFJS.rglob("*")
        if path.is_file() and path.name != "SHA256SUMS"
    }
    assert found == said
