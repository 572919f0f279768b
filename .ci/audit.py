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
UNREACHABLE = ("Could not connect", "ConnectionError", "Max retries exceeded", "NameResolutionError", "timed out", "ProxyError")
"""What pip-audit says where it reaches nobody."""


def main() -> int:
    """Print what is known, and return 1 where a vulnerability is known and not excepted."""
    try:
        done = subprocess.run([*COMMAND, *OPTIONS], capture_output=True, text=True, check=False, timeout=LONGEST_S)  # noqa: S603
    except subprocess.TimeoutExpired:
        print(f"Not checked: the vulnerability service did not answer within {LONGEST_S} s.")
        return 0
    return judge(done.stdout, done.stderr)


def judge(output: str, said: str) -> int:
    """Print what an audit's output says, and return 1 for a vulnerability, and where an audit that had a service failed."""
    try:
        packages = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        if any(each in said for each in UNREACHABLE):
            print(f"Not checked: the vulnerability service cannot be reached.\n{said[-500:]}")
            return 0
        print(f"The audit failed, and nothing was checked.\n{said[-500:]}")
        return 1
    asked = [each for each in packages if "skip_reason" not in each]
    if not asked:
        print(f"Not checked: the vulnerability service knows none of {len(packages)} pinned packages.")
        return 0
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
