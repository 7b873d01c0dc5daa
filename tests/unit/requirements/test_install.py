"""requirements/install.py: uv is told what pip's configuration says, and pip installs where uv cannot."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[3] / "requirements"


@pytest.fixture(scope="module")
def install() -> Any:
    """requirements/install.py, which is no package."""
    sys.path.insert(0, str(FOLDER))
    try:
        import install

        return install
    finally:
        sys.path.remove(str(FOLDER))


def list_configuration(folder: Path, text: str, **variables: str) -> str:
    """What `pip config list` prints with this file and these variables alone."""
    (folder / "pip.conf").write_text(text)
    passed = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    environment = {**passed, "PIP_CONFIG_FILE": str(folder / "pip.conf"), **variables}
    command = [sys.executable, "-m", "pip", "config", "list"]
    return subprocess.run(command, check=True, env=environment, capture_output=True, text=True, timeout=60).stdout


def test_the_stronger_place_of_pips_configuration_wins(install: Any, tmp_path: Path) -> None:
    text = "[global]\nindex-url = https://one/simple\ntimeout = 5\nretries = 1\nfind-links = /a\n  /b\n"
    text += "[install]\nindex-url = https://two/simple\n[download]\nindex-url = https://never/simple\n"
    found = install.parse(list_configuration(tmp_path, text, PIP_TIMEOUT="9"))
    assert found["index-url"] == "https://two/simple"
    assert (found["timeout"], found["retries"]) == ("9", "1")
    variables, arguments = install.translate(found, {})
    assert variables["UV_DEFAULT_INDEX"] == "https://two/simple"
    assert (variables["UV_FIND_LINKS"], variables["UV_HTTP_TIMEOUT"]) == ("/a,/b", "9")
    assert arguments == []


def test_an_empty_value_leaves_what_is_said_elsewhere_as_with_pip(install: Any, tmp_path: Path) -> None:
    text = "[global]\nindex-url = https://one/simple\n"
    found = install.parse(list_configuration(tmp_path, text, PIP_INDEX_URL="", PIP_TIMEOUT=""))
    assert found["index-url"] == "https://one/simple"
    assert "timeout" not in found


def test_an_option_that_files_give_differently_is_left_to_pip(install: Any) -> None:
    """pip 26.3 lists the files by their names, and does not say which is the stronger."""
    same = "global.index-url='https://one/simple'\n"
    assert install.parse(same + same)["index-url"] == "https://one/simple"
    with pytest.raises(install.Untold, match="index-url"):
        install.parse(same + "global.index-url='https://two/simple'\n")
    assert install.parse(same + "install.index-url='https://two/simple'\n")["index-url"] == "https://two/simple"


def test_mirrors_certificates_and_proxies_reach_uv_as_variables(install: Any) -> None:
    configured = {
        "index-url": "https://u:secret@mirror/simple",
        "extra-index-url": "https://a/simple\nhttps://b/simple",
        "trusted-host": "a b:8080",
        "cert": "/ca.pem",
        "client-cert": "/me.pem",
        "proxy": "http://proxy:3128",
        "no-index": "false",
        "no-cache-dir": "True",
        "progress-bar": "off",
    }
    variables, arguments = install.translate(configured, {"REQUESTS_CA_BUNDLE": "/weaker.pem"})
    assert arguments == ["--no-cache"]  # and no address, which may hold a password
    assert variables == {
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_DEFAULT_INDEX": "https://u:secret@mirror/simple",
        "UV_INDEX": "https://a/simple https://b/simple",
        "UV_INSECURE_HOST": "a b:8080",
        "SSL_CERT_FILE": "/ca.pem",
        "SSL_CLIENT_CERT": "/me.pem",
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://proxy:3128"),
    }
    assert install.translate({}, {"REQUESTS_CA_BUNDLE": "/ca.pem"})[0]["SSL_CERT_FILE"] == "/ca.pem"
    with pytest.raises(install.Untold, match="option target"):
        install.translate({"target": "/elsewhere"}, {})


def make_wheel(folder: Path) -> None:
    """An empty distribution `nothing-at-all` 1.0 in a folder."""
    folder.mkdir()
    info = "nothing_at_all-1.0.dist-info"
    with zipfile.ZipFile(folder / "nothing_at_all-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: nothing-at-all\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", f"{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")


@pytest.mark.parametrize(
    ("configured", "by"),
    [({}, "uv"), ({"PIP_TARGET": "."}, "pip"), ({"UV_CACHE_DIR": os.devnull}, "pip")],
    ids=["uv", "what uv cannot be told", "uv fails"],
)
def test_it_installs_from_a_configured_folder(tmp_path: Path, configured: dict[str, str], by: str) -> None:
    make_wheel(tmp_path / "wheels")
    ours = sysconfig.get_paths()["purelib"]
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True, timeout=120)
    python = tmp_path / "venv/bin/python"
    site = next((tmp_path / "venv/lib").iterdir()) / "site-packages"
    (site / "ours.pth").write_text(ours)  # pip and uv are there, so that nothing is asked of an index
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "UV_"))}
    environment |= {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "wheels")}
    environment["UV_CACHE_DIR"] = str(tmp_path / "cache")
    environment |= {key: str(tmp_path) if value == "." else value for key, value in configured.items()}
    done = subprocess.run(
        [python, FOLDER / "install.py", "--no-deps", "--only-binary", ":all:", "nothing-at-all==1.0"],
        check=False, env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert ("pip installs instead" in done.stderr) == (by == "pip"), done.stderr
    installed = (tmp_path if "PIP_TARGET" in configured else site) / "nothing_at_all-1.0.dist-info/INSTALLER"
    assert installed.read_text().strip() == by
