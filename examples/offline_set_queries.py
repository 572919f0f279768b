"""Answer a question with "and", "or" and "not" in it by set algebra over retrieval. Needs nothing but rag_cover."""

from rag_cover import Passage, build_retriever, open_scorer
from rag_cover.setqueries import SetAnswer, SetAnswerer, SetQuery, parse

BIRDS = {
    "Austral thrush": "The austral thrush is a bird of Chile and Argentina. It nests in forests and gardens.",
    "Chucao tapaculo": "The chucao tapaculo is a bird of the temperate forests of Chile.",
    "Inca tern": "The Inca tern is a bird of the coasts of Chile and Peru. It feeds in the cold Humboldt current.",
    "Andean gull": "The Andean gull is a bird of mountain lakes in Chile, Peru and Bolivia.",
    "Guanay cormorant": "The Guanay cormorant is a bird of the islands off Peru and Chile.",
    "White-winged guan": "The white-winged guan is a bird that is found only in dry forests of northwestern Peru.",
    "Monkey puzzle": "The monkey puzzle is an evergreen tree native to Chile and Argentina.",
    "Kauri": "The kauri is a tall tree of the forests of New Zealand.",
}
CORPUS = [Passage(text, title=name) for name, text in BIRDS.items()]


def main() -> None:
    """Print what belongs to two questions and a query written by hand, with the evidence, and why the others do not."""
    judge = open_scorer("embedded")
    answerer = SetAnswerer(retriever=build_retriever("embedded", CORPUS), scorer=judge, locator=judge)
    show(answerer.answer("birds of Chile that are also birds of Peru but not of Bolivia"))
    show(answerer.answer("trees of Chile or New Zealand"))
    show(answerer.answer(SetQuery.atom("birds of Peru") - "birds of Chile"))
    print(parse("Who wrote War and Peace?").is_set_query)  # an ordinary question is left alone


def show(found: SetAnswer) -> None:
    """Print a query, its members with what tells, and the first that were left out."""
    print(f"{found.question}\n  = {found.query}")
    for entity in found.entities:
        print(f"  {entity.probability:.2f}  {entity.name}: {entity.reason}")
    for candidate in found.left_out[:2]:
        print(f"  left out: {candidate.name}, {candidate.reason}")
    for note in found.notes:
        print(f"  {note}")
    print()


if __name__ == "__main__":
    main()
