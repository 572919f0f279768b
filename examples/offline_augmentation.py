"""Let core sub-questions drive retrieval, and see what that brings. Needs nothing but rag_cover."""

from rag_cover import build_retriever, open_receiver, open_scorer, read_traces
from rag_cover.augmentation import Augmentation
from rag_cover.coverage import augment
from rag_cover.demo import corpus_path, trace_paths
from rag_cover.questions import Passage

NOISE, HOT_WATER = "q05", "q04"
FILMS = (
    Passage("Jaws is a film of 1975 by the director Steven Spielberg.", title="Jaws"),
    Passage("Steven Spielberg was born in Cincinnati on 18 December 1946.", title="Steven Spielberg"),
    Passage("Alien is a film of 1979 by the director Ridley Scott.", title="Alien"),
    Passage("Ridley Scott was born in South Shields on 30 November 1937.", title="Ridley Scott"),
    Passage("The shark of Jaws was called Bruce.", title="Bruce"),
)


def main() -> None:
    """Print what three passages cover before and after, and a sub-question that builds on another one's answer."""
    scorer, retriever = open_scorer("embedded"), build_retriever("embedded", corpus_path())
    for trace in read_traces(trace_paths()[0]):
        if trace.question.id in (NOISE, HOT_WATER):
            show(augment(trace.question, retriever, mode="auto", scorer=scorer, sub_questions=trace.sub_questions, k=3))

    films, reader = build_retriever("embedded", FILMS), open_receiver("embedded")
    steps = ["Who is the director of Jaws?", "When was #1 born?"]
    asked = "When was the director of Jaws born?"
    show(augment(asked, films, mode="auto", scorer=scorer, sub_questions=steps, receiver=reader, k=2))


def show(made: Augmentation) -> None:
    """Print which core sub-questions were covered before and after, and what the searches bought."""
    print(f"{made.question.text}\n  {made.calls} searches, {len(made.passages)} passages kept")
    for each in made.sub_questions:
        before, after = ("yes" if covered else "no" for covered in (each.covered_at_first, each.covered))
        print(f"  {before:>3} -> {after:<3}  {each.text}" + (f"  ({each.answer})" if each.answer else ""))
    for purchase in made.bought:
        if purchase.covered:
            print(f"  first brought by {purchase.step}: {'; '.join(purchase.covered)}")
    print()


if __name__ == "__main__":
    main()
