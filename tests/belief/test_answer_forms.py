"""Right and wrong answers of every form, told apart by the embedded entailer."""

from __future__ import annotations

import pytest

from rag_cover import Sample, open_entailer
from rag_cover.backends import Entailer
from rag_cover.belief import seper

SKY = "Why is the sky blue?"
BLUE_LIGHT = (
    "Because air molecules scatter short wavelengths of sunlight more strongly than long ones, so that blue light reaches us "
    "from every direction."
)
SCATTERED = "Rayleigh scattering: short wavelengths are scattered more by the molecules of the air."


@pytest.fixture(scope="module")
def entailer() -> Entailer:
    return open_entailer("embedded")


@pytest.mark.parametrize(
    ("question", "references", "right", "wrong"),
    [
        pytest.param("Is Paris in France?", ["yes"], "Yes, it is.", "No, it is not.", id="yes"),
        pytest.param("Is the moon bigger than the earth?", ["no"], "no, the earth is bigger", "yes", id="no"),
        pytest.param("Who wrote Alice?", ["Charles Dodgson", "Lewis Carroll"], "Lewis Carroll", "Mark Twain", id="aliases"),
        pytest.param(
            SKY,
            [SCATTERED],
            BLUE_LIGHT,
            "Because the oceans reflect blue light into the sky.",
            id="long",
            marks=pytest.mark.xfail(strict=True, reason="a reason in other words agrees with 0.47, a wrong one with 0.40"),
        ),
    ],
)
def test_belief_lies_on_the_right_answer(
    entailer: Entailer, question: str, references: list[str], right: str, wrong: str
) -> None:
    soft = [seper([Sample(text)], references, question=question, entailer=entailer).score for text in (right, wrong)]
    hard = [
        seper([Sample(text)], references, question=question, entailer=entailer, kind="hard").score for text in (right, wrong)
    ]

    assert soft[0] > 0.6
    assert soft[1] < 0.4
    assert hard == [1.0, 0.0]


def test_a_further_reference_never_lowers_belief(entailer: Entailer) -> None:
    drawn = [Sample("Lewis Carroll"), Sample("Mark Twain")]

    one, two = (
        seper(drawn, references, question="Who wrote Alice?", entailer=entailer).score
        for references in (["Lewis Carroll"], ["Lewis Carroll", "A mathematician of Oxford"])
    )

    assert two >= one
