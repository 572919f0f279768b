"""In which language a text is, and that English is never refused without need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.language import is_english, language_of

GERMAN = "Der Vertrag kann jederzeit ohne weitere Kosten gekündigt werden."
ENGLISH = "The contract can be cancelled at any time without any extra cost to you."


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", GERMAN),
        ("de", "wie lange dauert die lieferung wenn ich heute noch bestelle"),
        ("de", "DER VERTRAG KANN MIT EINER FRIST VON DREI MONATEN GEKÜNDIGT WERDEN"),
        ("fr", "Réponse : le contrat peut être résilié à tout moment (voir https://exemple.fr/cgv), sans frais."),
        ("es", "El paciente refiere dolor en el pecho desde ayer por la tarde."),
        ("it", "Il treno per Napoli arriva con circa venti minuti di ritardo."),
        ("pt", "Para a massa, misture farinha, açúcar, manteiga e três ovos."),
        ("nl", "Het museum is elke dag open, behalve op maandagochtend."),
        ("pl", "Proszę brać jedną tabletkę trzy razy dziennie po posiłku."),
        ("ru", "Музей открыт каждый день, кроме понедельника, с десяти утра."),  # noqa: RUF001  # Russian
        ("zh", "请点击蓝色按钮下载最新的系统更新。"),
        ("ja", "一日三回、食後に一錠ずつ飲んでください。"),
        ("ko", "오스트레일리아의 수도는 시드니가 아니라 캔버라입니다."),
        ("el", "Η πρωτεύουσα της Αυστραλίας είναι η Καμπέρα και όχι το Σίδνεϊ."),  # noqa: RUF001  # Greek
        ("ar", "عاصمة أستراليا هي كانبرا وليست سيدني كما يعتقد الكثيرون."),
        ("hi", "ऑस्ट्रेलिया की राजधानी कैनबरा है, सिडनी नहीं।"),
        ("th", "เมืองหลวงของออสเตรเลียคือแคนเบอร์ราไม่ใช่ซิดนีย์"),
    ],
)
def test_a_text_in_another_language_is_found_and_named(language: str, text: str) -> None:
    assert language_of(text) == language
    assert not is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "42",
        "Ja, nein, vielleicht",
        "東京",
        "Правда",
        "Giuseppe Verdi, Giacomo Puccini, Gioachino Rossini, Gaetano Donizetti, Vincenzo Bellini",
        "| Stadt | Land | Einwohner |\n|---|---|---|\n| Köln | Deutschland | 1.083.498 |",
        '{"id": 12, "nombre": "Ana", "edad": 30, "ciudad": "Madrid", "activo": true}',
        "for i in range(10):\n    print(i, end=' ')",
        "https://www.exemple.fr/nous-contacter/par-la-poste/avec-un-formulaire.html",
        '"Also sprach Zarathustra: Ein Buch für Alle und Keinen" by Friedrich Nietzsche',
        'The German sentence "Ich habe meinen Schlüssel verloren" means that I lost my key.',
        "Staphylococcus aureus, Escherichia coli, Klebsiella pneumoniae, Pseudomonas aeruginosa",
        "Actus reus non facit reum nisi mens sit rea.",
        "Sonata, concerto, andante, allegro, pianissimo, crescendo, fortissimo, staccato, legato",
        "αβγδ: the angles of the figure",
        "?!" * 50,
    ],
)
def test_code_names_tables_and_short_texts_count_as_english(text: str) -> None:
    assert is_english(text)


def test_english_prose_is_named() -> None:
    assert language_of(ENGLISH) == "en"


def test_english_without_function_words_is_named_by_the_detector() -> None:
    assert language_of("Tenants must report damage right away, or pay for repairs later.") == "en"


@pytest.mark.parametrize(("german", "english", "expected"), [(2, 8, True), (8, 2, False)])
def test_the_larger_part_of_a_mixed_text_decides(german: int, english: int, *, expected: bool) -> None:
    texts = [GERMAN] * german + [ENGLISH] * english

    assert is_english(" ".join(texts)) is expected
    assert is_english("\n".join(reversed(texts))) is expected


def test_the_middle_and_the_end_of_a_long_text_count() -> None:
    front_matter = "x = 1\n" * 200

    assert language_of(front_matter + f"{GERMAN} " * 100) == "de"
    assert language_of(f"{GERMAN} " + f"{ENGLISH} " * 100) == "en"


def test_a_fenced_program_in_a_foreign_answer_decides_nothing() -> None:
    program = "```python\nfor each in those:\n    print(each, which, that)\n```"

    assert language_of(f"{GERMAN}\n{program}\n{GERMAN}") == "de"


def test_code_that_outweighs_its_comment_counts_as_english() -> None:
    assert is_english("# gibt den Wert der Variablen auf der Konsole aus\n" + "total = total + one(item) or two(item)\n" * 9)


@given(st.text(max_size=100))
def test_no_text_is_too_odd(text: str) -> None:
    code = language_of(text)

    assert is_english(text) is (code in {None, "en"})
    assert code is None or len(code) == 2


@given(st.lists(st.sampled_from("der die das le la les und et kann être dürfen où".split()), max_size=4))  # noqa: SIM905  # a list of words
def test_fewer_than_five_words_are_english(words: list[str]) -> None:
    assert is_english(" ".join(words))


@given(st.text(alphabet=st.characters(codec="utf-8", categories=["Nd", "P", "S", "Z"]), max_size=300))
def test_a_text_without_letters_has_no_language(text: str) -> None:
    assert language_of(text) is None


def test_lone_surrogates_are_read() -> None:
    assert language_of(GERMAN + " \ud800") == "de"


def test_english_prose_is_decided_without_the_detector() -> None:
    deciding = f"import sys; from rag_cover.language import is_english; assert is_english({ENGLISH!r}); "
    code = deciding + "print('py3langid' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


def test_the_written_texts_of_the_development_half_are_decided_rightly(source_tree: Path) -> None:
    path = source_tree / "benchmarks" / "language" / "texts.jsonl"
    if not path.is_file():
        pytest.skip("benchmarks are not part of the source distribution")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    wrong = [
        row["text"] for row in rows if row["part"] == "development" and is_english(row["text"]) is not (row["language"] == "en")
    ]

    assert wrong == []
