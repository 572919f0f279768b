"""The label guide shows what the page says of the demo's kept results after ten random labels."""

from __future__ import annotations

import re
from pathlib import Path

from rag_cover.demo import kept_results_paths
from rag_cover.demo.labelled import read_labelled_answers
from rag_cover.evaluation import Evaluation
from rag_cover.labelling import LabelSampling, LabelSession, list_items
from rag_cover.labelling.findings import find_out
from rag_cover.labelling.items import label_key
from rag_cover.labelling.views import findings_sentences


def test_the_guide_shows_what_ten_random_labels_of_the_demo_say(source_tree: Path, tmp_path: Path) -> None:
    path = next(path for path in kept_results_paths() if path.stem == "narrow")
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    evaluation = Evaluation.open(copy)
    people = {label_key(row.question, row.text): bool(row.label) for row in read_labelled_answers("narrow")}
    items = list_items(evaluation.results)
    plan = LabelSampling(items, random_share=1.0, seed=evaluation.seed)
    session = LabelSession(items, tmp_path / "narrow.labels.jsonl", annotator="ada", plan=plan)

    for _ in range(10):
        draw = session.next()
        assert draw is not None
        session.say(draw.key, "yes" if people[draw.key] else "no")

    said = findings_sentences(find_out(evaluation, items, session.path))
    guide = (source_tree / "docs/guides/label.md").read_text(encoding="utf-8")
    shown = re.search(r"```text\n(People would find .*?)```", guide, re.DOTALL)
    assert shown is not None
    assert " ".join(shown[1].split()) == " ".join(said)
