"""A folder of certificates that cannot be used says why."""

from __future__ import annotations

from pathlib import Path

import pytest
from quelea_cli.stack.certificates import Authority
from quelea_kit import tls
from quelea_kit.errors import Conflict

OURS = Authority("ours")


@pytest.mark.parametrize("missing", ["tls.crt", "tls.key", "ca.crt"])
def test_a_missing_file_is_named(tmp_path: Path, missing: str) -> None:
    folder = OURS.issue(tmp_path / "one", "gateway")
    (folder / missing).unlink()
    with pytest.raises(Conflict, match=rf"cannot read .*{missing} \(No such file.*must hold tls.crt, tls.key, ca.crt"):
        tls.Folder(folder)


def test_a_key_of_another_certificate_is_refused(tmp_path: Path) -> None:
    folder, other = OURS.issue(tmp_path / "one", "gateway"), OURS.issue(tmp_path / "other", "gateway")
    (folder / "tls.key").write_bytes((other / "tls.key").read_bytes())
    with pytest.raises(Conflict, match=r"tls.key does not belong to tls.crt"):
        tls.Folder(folder)
    (folder / "tls.key").write_text("nonsense")
    with pytest.raises(Conflict, match=r"tls.key does not fit together with tls.crt"):
        tls.Folder(folder)


def test_an_expired_certificate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="is not accepted: certificate has expired"):
        tls.Folder(OURS.issue(tmp_path / "one", "gateway", days=-1))
