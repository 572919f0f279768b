"""Ask how far the judge can be trusted, of the demo's labels with two thirds of them hidden. Needs nothing but rag_cover."""

import json
import random

from rich import print as show

from rag_cover import LabelledText, check_judge, read_traces
from rag_cover.demo import labels_path, trace_paths
from rag_cover.reports import check_panels

LABELLED = 100


def labelled_answers() -> list[LabelledText]:
    """Pair every sub-question of the demo with both pipelines' answers, as the people who wrote them labelled them."""
    answers = {(trace.pipeline, trace.question.id): trace.answer for path in trace_paths() for trace in read_traces(path)}
    labels = [json.loads(line) for line in labels_path().read_text(encoding="utf-8").splitlines()]
    return [
        LabelledText(
            row["sub_question"],
            answers[pipeline, row["question_id"]] or "",
            covered,
            group=row["role"],
            key=row["question_id"],
        )
        for row in labels
        for pipeline, covered in row["answers"].items()
    ]


def main() -> None:
    """Label a random third, leave the rest to the judge, and compare with what is true."""
    rows = labelled_answers()
    random.Random(0).shuffle(rows)  # noqa: S311  # a sample, not a secret
    labelled, hidden = rows[:LABELLED], rows[LABELLED:]
    unlabelled = [LabelledText(row.question, row.text, None, group=row.group, key=row.key) for row in hidden]

    check = check_judge(labelled, unlabelled=unlabelled)

    show(check_panels(check))
    print(f"By all {len(rows)} labels, {sum(row.label is True for row in rows) / len(rows):.0%} are covered.")


if __name__ == "__main__":
    main()
