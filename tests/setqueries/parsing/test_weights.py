"""The shipped numbers, and the arithmetic around them."""

import json

import pytest

from rag_cover.setqueries.parsing.candidates import readings_of
from rag_cover.setqueries.parsing.scoring import WEIGHTS, ParseWeights, load_weights, parse_features, probabilities_of_readings
from rag_cover.setqueries.parsing.splitting import cut_at_connectives


def test_the_shipped_numbers_say_what_they_were_fitted_on_and_are_small() -> None:
    fitted = json.loads(WEIGHTS.read_text(encoding="utf-8"))

    assert "questions of QUEST, sha256" in fitted["fitted_on"]
    assert WEIGHTS.stat().st_size < 300_000


def test_probabilities_of_readings_sum_to_one() -> None:
    readings = readings_of(cut_at_connectives(["1954", "French", "films", "about", "murderers"]))

    odds = probabilities_of_readings(readings, load_weights())

    assert len(readings) == 5
    assert odds.sum() == pytest.approx(1)


def test_without_weights_every_reading_is_as_likely() -> None:
    readings = readings_of(cut_at_connectives(["1954", "films", "about", "murderers"]))

    odds = probabilities_of_readings(readings, ParseWeights({}, 1, 0))

    assert odds.tolist() == pytest.approx([0.5, 0.5])


def test_a_year_and_a_topic_are_told_apart_by_features() -> None:
    together, apart = readings_of(cut_at_connectives(["1954", "films", "about", "murderers"]))

    assert parse_features(together)["in:about+year"] == 1
    assert parse_features(apart)["out:about+year"] == 1
    assert "in:about+year" not in parse_features(apart)


def test_a_probability_is_calibrated_by_a_line_over_logits() -> None:
    weights = ParseWeights({}, slope=0.5, offset=0.0)

    calibrated = weights.calibrate(0.9)

    assert calibrated == pytest.approx(0.75)  # logit ln 9, halved: ln 3


def test_a_certain_reading_stays_below_certainty() -> None:
    assert load_weights().calibrate(1.0) < 1
