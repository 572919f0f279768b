"""Route questions by what retrieval brings back, and by what two pipelines can do. Needs nothing but rag_cover[skills]."""

import json
import random

from rag_cover import build_retriever, open_embedder, open_scorer
from rag_cover.demo import corpus_path, labels_path
from rag_cover.routing import Caimira, ComplexityRouter, Responses, SkillRouter, encode

ASKED = (
    "Under which standard is the SCOP calculated?",
    "How do the noise limits for heat pumps in England and in residential areas of Germany differ?",
    "Who won the football world cup in 1998?",
)
COSTS = {"lookup": 1.0, "agent": 6.0}  # of a question, in any unit
ASKS_FOR_FACTS = ("how many", "how much", "how big", "how long", "how far", "how often", "how loud", "which", "what is", "when")


def main() -> None:
    """Print where questions go: by the passages found for them, then by what each pipeline got right before."""
    router = ComplexityRouter(retriever=build_retriever("embedded", corpus_path()), scorer=open_scorer("embedded"), k=5)
    for question in ASKED:
        route = router.route(question)
        print(f"{question}\n  -> {route.name}: {route.reason}\n")
    print(router.explain(ASKED[1]), end="\n\n")

    responses, embedder = _made_up_responses(), open_embedder("embedded")
    train, new = (responses.of_questions(range(first, len(responses.questions), 2)) for first in (0, 1))
    caimira = Caimira(dimensions=2).fit(train, encode(train.questions, embedder))
    skills = SkillRouter(caimira, COSTS, embedder=embedder, target=0.7)
    print(skills.explain("How many decibels does a wall behind the unit add?"), end="\n\n")

    frontier = skills.frontier(new.questions, new.values)
    print(f"{frontier.questions} questions that the skills were not learnt from, quality at cost:")
    for point in (*frontier.always, frontier.oracle, frontier.within(2.5)):
        if point:
            print(f"  {point.name:18} {point.quality.estimate:.2f} at {point.cost.estimate:.2f}")
    gain = frontier.gain
    print(
        f"The router gains {gain.estimate:+.3f} (95% {gain.lower:+.3f} to {gain.upper:+.3f}) on random mixtures of equal cost."
    )


def _made_up_responses() -> Responses:
    """Make up what two pipelines got right: one that looks up facts, and one that reasons and costs more."""
    dice = random.Random(0)  # noqa: S311  # a simulation, not a secret
    rows = [json.loads(line) for line in labels_path().read_text(encoding="utf-8").splitlines()]
    questions = list(dict.fromkeys(row["sub_question"] for row in rows))
    chances = [(0.9 if question.lower().startswith(ASKS_FOR_FACTS) else 0.15, 0.85) for question in questions]
    return Responses(list(COSTS), questions, [[float(dice.random() < chance) for chance in each] for each in chances])


if __name__ == "__main__":
    main()
