"""Do wheels of the base dependencies exist for Windows and the newest Python? Downloaded, and nothing is installed.

Exits with 1 where one is missing; says "not checked" where the package index cannot be reached, or is too slow.
"""

from __future__ import annotations

import subprocess  # nosec B404  # pip alone
import sys
import tempfile
import tomllib
from pathlib import Path

PLATFORMS = (("win_amd64", "3.14"),)
LONGEST_S = 240
_MISSING = ("No matching distribution", "Could not find a version")


def download(requirements: list[str], platform: str, python: str) -> tuple[bool, str]:
    """Download wheels for a platform; return whether all are there, and what pip said."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--dest", folder),
            *("--only-binary=:all:", "--platform", platform, "--python-version", python, "--implementation", "cp"),
            *requirements,
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST_S)  # noqa: S603  # nosec B603
        except subprocess.TimeoutExpired:
            return False, f"no answer within {LONGEST_S} s"
        return done.returncode == 0, done.stderr


def main() -> int:
    """Check each platform, and say how it went."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    missing = False
    for platform, python in PLATFORMS:
        found, said = download(project["dependencies"], platform, python)
        absent = next((line for line in said.splitlines() if any(each in line for each in _MISSING)), "")
        missing = missing or bool(absent)
        state = "all base dependencies have wheels" if found else f"missing: {absent}" if absent else "not checked"
        print(f"{platform}, Python {python}: {state}")
    return int(missing)


if __name__ == "__main__":
    sys.exit(main())
