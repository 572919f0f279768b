"""Evaluate two traces written in Python, and print what each answer leaves out. Needs nothing but rag_cover."""

from rag_cover import Passage, Question, RetrievalStep, Role, SubQuestion, Trace, evaluate

PASSAGES = (
    Passage("Frozen vegetables are blanched and frozen within hours of harvest, which keeps most vitamins.", id="freezing"),
    Passage("Spinach loses most of its vitamin C within a week in the fridge.", id="storage"),
)
SUB_QUESTIONS = (
    SubQuestion("How does freezing affect the vitamins in vegetables?", role=Role.CORE),
    SubQuestion("How fast does fresh spinach lose vitamin C in the fridge?", role=Role.CORE),
    SubQuestion("How much do frozen vegetables cost?", role=Role.FOLLOW_UP),
)
ANSWERS = {
    "short": "Frozen vegetables keep most vitamins, since they are frozen within hours of harvest.",
    "full": "Frozen vegetables keep most vitamins. Fresh spinach loses most of its vitamin C within a week in the fridge.",
}


def main() -> None:
    """Print each uncovered sub-question with the place where it was lost."""
    question = Question("Are fresh or frozen vegetables healthier?", id="vegetables")
    step = RetrievalStep(query=question.text, passages=PASSAGES)
    traces = [
        Trace(question=question, steps=(step,), answer=answer, sub_questions=SUB_QUESTIONS, pipeline=pipeline)
        for pipeline, answer in ANSWERS.items()
    ]
    for result in evaluate(traces, measures=["coverage"]).results:
        for sub_question in result.coverage.sub_questions if result.coverage else ():
            print(f"{result.trace.pipeline:6}{sub_question.loss or 'answered':24}{sub_question.text}")


if __name__ == "__main__":
    main()
