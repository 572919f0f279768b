"""Ask whether the pinned packages have known vulnerabilities; say so where nobody can be asked.

Exceptions, each a vulnerability's id and the reason in a comment behind it, are in audit-exceptions.txt beside this file.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXCEPTIONS = Path(__file__).with_name("audit-exceptions.txt")

COMMAND = [sys.executable, "-m", "pip_audit", "-r", str(ROOT / "constraints.txt"), "--no-deps", "--disable-pip"]
OPTIONS = ["--format", "json", "--progress-spinner", "off"]
LONGEST_S = 300


def main() -> int:
    """Print what is known, and return 1 where a vulnerability is known and not excepted."""
    done = subprocess.run([*COMMAND, *OPTIONS], capture_output=True, text=True, check=False, timeout=LONGEST_S)  # noqa: S603
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        print(f"The vulnerability service could not be asked; nothing was audited.\n{done.stderr[-500:]}")
        return 0
    asked = [each for each in packages if "skip_reason" not in each]
    found = [(each["name"], each["version"], flaw["id"]) for each in asked for flaw in each["vulns"]]
    unexcused = [each for each in found if each[2] not in excused()]
    print(f"{len(asked)} of {len(packages)} pinned packages were audited; the service knows nothing of the others.")
    for name, version, flaw in unexcused:
        print(f"{name} {version}: {flaw}; pin a version without it, or say in {EXCEPTIONS.name} why it does no harm here")
    return int(bool(unexcused))


def excused() -> set[str]:
    """Read the vulnerabilities that do no harm here."""
    lines = EXCEPTIONS.read_text("utf-8").splitlines() if EXCEPTIONS.exists() else []
    return {line.partition("#")[0].strip() for line in lines}


if __name__ == "__main__":
    sys.exit(main())
