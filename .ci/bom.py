"""Check that a bill of materials (CycloneDX JSON) names rag_cover and everything that it requires without an extra.

python .ci/bom.py dist/rag-cover.cdx.json
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def required() -> set[str]:
    """Return the names of the base dependencies, and of rag_cover itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return {normalise(re.split(r"[<>=!~;\[ ]", each)[0]) for each in [project["name"], *project["dependencies"]]}


def normalise(name: str) -> str:
    """Write a package's name in the form in which names are compared (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def missing_from(text: str) -> set[str]:
    """Return what a bill of materials does not name with a version."""
    bill = json.loads(text)
    if bill.get("bomFormat") != "CycloneDX":
        return required()
    listed = bill.get("components", [])
    return required() - {normalise(each["name"]) for each in listed if each.get("version")}


def main() -> int:
    """Print what is missing, and return 1 where something is."""
    missing = missing_from(Path(sys.argv[1]).read_text("utf-8"))
    print(f"Missing from the bill of materials: {', '.join(sorted(missing))}" if missing else "The bill of materials is whole.")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
