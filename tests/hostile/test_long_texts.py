"""Long texts of one kind, read in the time that their length takes: where that grew with its square, each took minutes."""

from __future__ import annotations

import subprocess
import sys

import pytest

READERS = {
    "sentences": "from rag_cover.texts import sentences as read",
    "sub-questions": "from rag_cover.decomposition.replies import sub_questions_in as read",
    "types": "from rag_cover.decomposition.replies import roles_in\nread = lambda text: roles_in(text, 3)",
    "a server's words": "from rag_cover_openai.errors import redact_secrets as read",
    "a set query": "from rag_cover.setqueries import SetQuery\nread = SetQuery.from_text",
    "a question": "from rag_cover.setqueries import parse as read",
    "a pipeline's name": (
        "from rag_cover import Question, Trace\nfrom rag_cover.studies.settings import setting_of\n"
        "read = lambda text: setting_of(Trace(question=Question('Why?'), pipeline=text), ['k'])"
    ),
}
RUNS = ("a", " ", "\n", "\r\n", ".", ".)", "*", '\\"', "[", "- ", "(", ", ", "x* *", '{"a": [')

READ = """
{reader}
from rag_cover.errors import RagCoverError
for run in {runs!r}:
    long = run * (150_000 // len(run))
    for text in (long, "- x" + long + "x"):
        try:
            read(text)
        except RagCoverError:
            pass
"""


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.slow
def test_no_long_text_takes_more_than_its_length(reader: str) -> None:
    if reader == "a server's words":
        pytest.importorskip("openai")
    script = READ.format(reader=READERS[reader], runs=RUNS)

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)

    assert done.returncode == 0, done.stderr
