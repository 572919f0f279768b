"""A checkpoint by its path needs no network, not even this machine's own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

OFFLINE = """
import sys

def refuse(event, arguments):  # whatever the family, and loopback too
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        raise OSError(f"{event} {arguments[1:]}")

sys.addaudithook(refuse)

import socket
for family, address in ((socket.AF_INET, ("127.0.0.1", 9)), (socket.AF_INET6, ("::1", 9))):
    try:
        socket.socket(family).connect(address)
    except OSError as refused:
        assert "socket.connect" in str(refused), refused
    else:
        sys.exit("sockets are open")

from rag_cover import Models, Passage, Question, RetrievalStep, SubQuestion, Trace, evaluate
from rag_cover.registry import open_entailer
from rag_cover.testing import KeywordScorer

entailer = open_entailer(f"transformers:{sys.argv[1]}")
trace = Trace(
    question=Question("Is the sky blue?"),
    steps=(RetrievalStep(passages=(Passage("The sky is blue."),)),),
    answer="The sky is blue.",
    sub_questions=(SubQuestion("Is the sky blue?", role="core"),),
)
(result,) = evaluate([trace], models=Models(judge=KeywordScorer(), entailer=entailer), measures=["groundedness"]).results
assert result.groundedness is not None, result
print("grounded", entailer.entail([("The sky is blue.", "The sky is blue.")]).shape)
"""


def test_a_checkpoint_by_path_opens_and_judges_with_sockets_blocked(nli_folder: Callable[[str], Path]) -> None:
    command = [sys.executable, "-W", "ignore", "-c", OFFLINE, str(nli_folder("bert"))]

    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"OMP_NUM_THREADS": "1"})

    assert (done.returncode, done.stdout.strip()) == (0, "grounded (1, 3)"), done.stderr[-2_000:]
