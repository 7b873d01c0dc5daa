"""Installs into the environment of the Python that runs it, as `pip install` would: install.py -r requirements/run.txt

uv does it, in a tenth of pip's processor time. uv reads none of pip's configuration (files, PIP_* variables), which is
where a mirror, a proxy, a certificate or a folder of wheels is named; so uv is told the same. pip does it where uv
cannot be had, fails, or cannot be told what is configured. Arguments are those that both know, and go to either.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

LOCKED = ("--no-deps", "--require-hashes", "--only-binary", ":all:")
UV = str(Path(__file__).resolve().parent / "uv.txt")
SECTIONS = ("global", "install", ":env:")
"""Of pip's configuration, the later the stronger."""
LISTS = {
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
}
"""Options of pip with several values -> uv's variable, and what stands between them there."""
VALUES = {
    "index-url": ("UV_DEFAULT_INDEX",),
    "cert": ("SSL_CERT_FILE",),
    "client-cert": ("SSL_CLIENT_CERT",),
    "proxy": ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"),
    "timeout": ("UV_HTTP_TIMEOUT",),
    "default-timeout": ("UV_HTTP_TIMEOUT",),
    "retries": ("UV_HTTP_RETRIES",),
}
"""Options of pip with one value -> uv's variables. No arguments: an address may hold a password, and any user of the
machine sees arguments."""
SWITCHES = {"no-index": "--no-index", "no-cache-dir": "--no-cache"}
"""Options of pip that are on or off -> uv's argument."""
WITHOUT_EFFECT = frozenset(
    "break-system-packages cache-dir compile config-file config-settings constraint default-vcs "
    "disable-pip-version-check exists-action format isolated log no-binary no-build-isolation no-clean no-color "
    "no-compile no-deps no-input no-python-version-warning no-warn-conflicts no-warn-script-location only-binary pre "
    "prefer-binary progress-bar quiet report require-hashes require-virtualenv resume-retries root-user-action src "
    "upgrade upgrade-strategy use-deprecated use-feature use-pep517 verbose".split()
)
"""Options of pip that change nothing here: how it talks, or which version it chooses where a lock has chosen."""
ON = ("1", "true", "yes", "on", "y", "t")


class Untold(Exception):
    """pip's configuration has something that uv has no word for."""


def parse(listed: str) -> dict[str, str]:
    """Option -> value, as it holds for `pip install`, from what `pip config list` prints.

    Raises:
        Untold: Two files give an option differently, and the list, which newer pips (26.3) print by the names of files,
            does not say which is the stronger.
    """
    found: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        section, _, option = key.rpartition(".")
        if section not in found or not (said := str(ast.literal_eval(value))):  # pip passes over an empty value, too
            continue
        if found[section].setdefault(option, said) != said:
            raise Untold(f"pip's configuration gives {option} twice")
    return {option: value for section in SECTIONS for option, value in found[section].items()}


def translate(configuration: Mapping[str, str], environment: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """What uv has to be told: variables, arguments.

    Raises:
        Untold: for an option that is none of those above.
    """
    variables = {"UV_INDEX_STRATEGY": "unsafe-best-match"}  # as pip: the best of all indexes, whichever is asked first
    # pip finds certificates by requests' variables, uv by OpenSSL's.
    if bundle := environment.get("REQUESTS_CA_BUNDLE") or environment.get("CURL_CA_BUNDLE"):
        variables["SSL_CERT_DIR" if Path(bundle).is_dir() else "SSL_CERT_FILE"] = bundle
    arguments = []
    for option, value in configuration.items():
        if option in LISTS:
            variable, between = LISTS[option]
            variables[variable] = between.join(
                str(Path(one).expanduser()) if one[0] == "~" else one for one in value.split()
            )
        elif option in VALUES:
            variables |= dict.fromkeys(VALUES[option], value)
        elif option in SWITCHES:
            arguments += [SWITCHES[option]] if value.lower() in ON else []
        elif option not in WITHOUT_EFFECT:
            raise Untold(f"uv cannot be told pip's option {option}")
    return variables, arguments


def install_with_uv(arguments: list[str]) -> str:
    """Nothing when it is done, else why it is not."""
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run([*pip, "install", "-q", *LOCKED, "-r", UV], check=False).returncode:
        return "uv cannot be installed"
    listed = subprocess.run([*pip, "config", "list"], check=True, capture_output=True, text=True)
    try:
        variables, options = translate(parse(listed.stdout), os.environ)
    except Untold as error:
        return str(error)
    uv = [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", sys.executable]
    code = subprocess.run([*uv, *options, *arguments], check=False, env={**os.environ, **variables}).returncode
    return f"uv failed with exit code {code}" if code else ""


def main() -> int:
    """Install; pip's exit code where pip does it, else 0."""
    os.environ["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    arguments = sys.argv[1:]
    if not (why := install_with_uv(arguments)):
        return 0
    print(f"{why}: pip installs instead, which takes minutes longer", file=sys.stderr)
    return subprocess.run([sys.executable, "-m", "pip", "install", "-q", *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
