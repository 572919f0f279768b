"""What the adapter says where LlamaIndex is not installed, and that rag_cover itself does not need it."""

from __future__ import annotations

import subprocess
import sys

ABSENT = "import sys; sys.modules['llama_index'] = None\n"


def _run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", ABSENT + code], capture_output=True, text=True, check=False)


def test_the_adapter_says_what_to_install() -> None:
    done = _run("import rag_cover_llama_index")

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("not installed: pip install 'rag-cover[llama-index]'")


def test_recording_itself_needs_no_framework() -> None:
    done = _run("from rag_cover.recording import Recording\nwith Recording(measures=()) as recording: print(recording)")

    assert done.returncode == 0
    assert done.stderr.startswith("nothing is measured, and no trace file is named")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout.startswith("<Recording open: RecordingCounts(begun=0,")
