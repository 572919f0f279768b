"""Install the pinned packages of the tests by hash into an environment: requirements-dev.txt beside this file.

    python .ci/hashed_pins.py PYTHON-OF-THE-ENVIRONMENT

Exits with 0 where all were installed, with 1 where a file is another one than was pinned or a pin has no hash, and with 3,
"Not checked", where something cannot be had from this package index: whoever asked installs without hashes then.
"""

from __future__ import annotations

import subprocess  # nosec B404  # pip alone
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements-dev.txt")
OPTIONS = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps"]
INSTALLED, REFUSED, NOT_CHECKED = 0, 1, 3
_OTHER_FILE = ("DO NOT MATCH THE HASHES", "Hashes are required in --require-hashes mode")
_ABSENT = "No matching distribution found for "


def main() -> int:
    """Install, and say how it went."""
    command = [sys.argv[1], *OPTIONS, "-r", str(REQUIREMENTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # nosec B603
    return judge(done.returncode, done.stderr)


def judge(code: int, said: str) -> int:
    """Print what became of the installation, and return with what to exit."""
    if code == 0:
        print("All third-party packages were installed by hash.")
        return INSTALLED
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if any(each in said for each in _OTHER_FILE):
        print(
            "A package is not the one that was pinned; see what changed, and run 'make dev-pins' if that is right.",
            said,
            sep="\n",
        )
        return REFUSED
    absent = next((line.rpartition(_ABSENT)[2] for line in lines if _ABSENT in line), "")
    reason = f"{absent} cannot be installed from this index" if absent else (lines or ["pip said nothing"])[-1]
    print(f"Not checked: {reason}")
    return NOT_CHECKED


if __name__ == "__main__":
    sys.exit(main())
