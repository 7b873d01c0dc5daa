"""Runs while the image is built, by the base's own Python: lays out under a folder what the image adds to the base.

Libraries from the wheels beside this file (no network), without their tests and what a sandbox never loads; the door's
client, the guest, the font, matplotlib's font list; bytecode that is never checked against its source.
"""

from __future__ import annotations

import compileall
import os
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
FONT = "usr/share/fonts/truetype/wqy/wqy-microhei.ttc"
# Names that Chinese code asks for; no free font of these names exists, so they mean the one that is here. And Arial,
# which seaborn's themes ask for alone, without a family to fall back on.
ALIASES = ["SimHei", "SimSun", "Microsoft YaHei", "PingFang SC", "Heiti SC", "STHeiti", "Arial Unicode MS", "FangSong"]
ALIASES += [
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "KaiTi",
    "Songti SC",
    "Arial",
]

# What goes, by its path in site-packages. Tests: numpy.testing and openpyxl load some of theirs.
TESTS = re.compile(r"(^|/)(tests|test)(/|$)")
KEPT_TESTS = re.compile(r"^(openpyxl/|numpy/_core/tests/_natype)")
LEFT_OUT = re.compile(
    r"""\.(pyi|pxd|pxi|pyx|h|hpp|c|cc|cpp|f|f90|dylib|dll|exe|lib|a|cmake|typed)$
    |^bin/
    |^py_mini_racer/arm                                    # for another processor
    |^pyarrow/(include|src)/
    |^pyarrow/(lib)?(arrow_flight|arrow_python_flight|_flight|_s3fs|_gcsfs|_azurefs|_hdfs)
    |^pyarrow/lib(arrow_flight|arrow_python_flight|arrow_s3)
    |^pyarrow/(_pyarrow_cpp_tests|lib\w+\.so$|lib\w+\.so\.\d+\.\d+\.\d+$)   # unversioned twins, for linking
    |^statsmodels/datasets/[^/]+/.*\.(csv|txt|dta|dat)$
    |^scipy/special/_precompute/
    |^matplotlib/mpl-data/(sample_data|images/.*\.(pdf|svg|gif))
    |^matplotlib/backends/web_backend/
    |^(edgar|akshare|reportlab|seaborn|mplfinance)/.*\.(md|ipynb)$
    |\.dist-info/(RECORD|WHEEL|sboms/|REQUESTED|INSTALLER|direct_url\.json)
    """,
    re.VERBOSE,
)


def run(*arguments: str, **environment: str) -> None:
    """A step of the build; its failure is the build's."""
    subprocess.run([sys.executable, *arguments], check=True, env={**os.environ, **environment})  # noqa: S603 - our own steps


def install(site: Path) -> None:
    """Unpack every wheel, in whatever order; versions and hashes were checked when they were collected."""
    wheels = sorted((HERE / "wheels").glob("*.whl"))
    pip = next(wheel for wheel in wheels if wheel.name.startswith("pip-"))
    others = [str(wheel) for wheel in wheels if wheel != pip]
    options = ["--quiet", "--no-deps", "--no-index", "--no-compile", "--no-cache-dir", "--root-user-action=ignore"]
    run(f"{pip}/pip", "install", *options, "--target", str(site), *others)


def trim(site: Path) -> None:
    """Remove what no code in a sandbox loads."""
    for path in sorted(site.rglob("*"), reverse=True):
        name = path.relative_to(site).as_posix()
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif (TESTS.search(name) and not KEPT_TESTS.search(name)) or LEFT_OUT.search(name):
            path.unlink()


def fonts(out: Path, site: Path) -> None:
    """The font list that matplotlib would make at its first import, with the names that Chinese code asks for."""
    folder = out / "opt/quelea/matplotlib"
    folder.mkdir(parents=True)
    sys.path.insert(0, str(site))
    os.environ["MPLCONFIGDIR"] = str(folder)
    from matplotlib import font_manager  # noqa: PLC0415 - not there before install()

    manager = font_manager.FontManager()
    manager.ttflist = [entry for entry in manager.ttflist if entry.fname.startswith(str(site))]
    manager.addfont(str(out / FONT))
    # It comes out of a set of paths: in another order each time, unless it is put in one.
    for entries in (manager.ttflist, manager.afmlist):
        entries.sort(key=lambda entry: (entry.fname, entry.name, entry.style, entry.variant, str(entry.weight)))
    base = next(entry for entry in manager.ttflist if entry.name == "WenQuanYi Micro Hei")
    for alias in ALIASES:
        manager.ttflist.append(type(base)(**{**base.__dict__, "name": alias}))
    file = folder / f"fontlist-v{font_manager.FontManager.__version__}.json"
    font_manager.json_dump(manager, str(file))
    text = file.read_text().replace(f"{out}/", "/")
    for left in folder.iterdir():
        left.unlink()
    file.write_text(text)


def compile_all(out: Path) -> None:
    """Bytecode beside every module, and rights that everybody can read with."""
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(out, quiet=2, stripdir=str(out), workers=0, invalidation_mode=mode)
    for path in out.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)


def libraries(out: Path, purelib: Path) -> None:
    """What others wrote."""
    site = out / purelib.relative_to("/")
    site.mkdir(parents=True)
    install(site)
    trim(site)
    (out / FONT).parent.mkdir(parents=True)
    shutil.copy(HERE / "font.ttc", out / FONT)
    fonts(out, site)
    # A base from a registry may bring its own.
    links = {"usr/share/zoneinfo": "tzdata/zoneinfo", "etc/ssl/certs/ca-certificates.crt": "certifi/cacert.pem"}
    for link, target in links.items():
        if not Path("/", link).exists():
            (out / link).parent.mkdir(parents=True, exist_ok=True)
            (out / link).symlink_to(purelib / target)


def ours(out: Path, purelib: Path) -> None:
    """The door's client and the guest."""
    site = out / purelib.relative_to("/")
    shutil.copytree(HERE / "quelea_market", site / "quelea_market")
    # Also in a child process that the code starts: a .pth file is read by every interpreter, isolated or not.
    (site / "quelea_market.pth").write_text("import quelea_market\n")
    quelea = out / "opt/quelea"
    quelea.mkdir(parents=True)
    for name in ("guest.py", "matplotlibrc"):
        shutil.copy(HERE / name, quelea / name)


def main() -> None:
    """`install.py libraries|ours FOLDER`."""
    step, out = {"libraries": libraries, "ours": ours}[sys.argv[1]], Path(sys.argv[2])
    step(out, Path(sysconfig.get_path("purelib")))
    compile_all(out)


if __name__ == "__main__":
    main()
