"""Where an installed command and one of a checkout look for what is no code."""

from pathlib import Path

import pytest
from quelea_cli import places


@pytest.fixture
def installed(monkeypatch, tmp_path):
    monkeypatch.setattr(places, "checkout", lambda: None)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_a_checkout_has_it_all():
    here = places.checkout()
    assert (here / "cli/quelea_cli/places.py").samefile(places.__file__)
    assert (places.samples() / "README.md").is_file()
    assert places.cache() == here / ".cache"
    assert places.default_home() == Path(".quelea/home")


def test_installed_it_keeps_to_the_user_s_folders(installed, monkeypatch):
    assert places.cache() == installed / ".cache/quelea"
    assert places.default_home() == installed / ".local/share/quelea/home"
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert places.cache() == Path("/elsewhere/quelea")
    assert places.default_home() == installed / ".local/share/quelea/home"


def test_samples_come_with_their_distribution(installed, monkeypatch):
    assert not places.samples().exists()
    (installed / "quelea_samples/filings").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(installed))
    assert places.samples() == installed / "quelea_samples"
