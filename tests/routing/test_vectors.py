"""The arithmetic of CAIMIRA against numbers of the released model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_cover.routing import irt

CASES = json.loads(Path(__file__).with_name("vectors").joinpath("caimira.json").read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_arithmetic_agrees_with_the_released_model(case: dict[str, Any]) -> None:
    embeddings, weights = np.array(case["embeddings"]), np.array(case["W_D"])
    skills = np.array(case["skill_table"])[case["agent_ids"]]
    expected = case["expected"]

    relevance = irt.relevance(embeddings, case["W_R"], case["b_R"], case["temperature"])
    difficulty = irt.difficulty(embeddings, weights, (embeddings @ weights.T).mean(axis=0))  # the vectors centre on the batch
    logits = irt.logits(skills, difficulty, relevance)
    penalties = {"skill_penalty": case["c_reg"], "difficulty_penalty": case["c_reg"]}

    assert relevance == pytest.approx(np.array(expected["relevance"]), abs=1e-9)
    assert difficulty == pytest.approx(np.array(expected["difficulty_batch_centred"]), abs=1e-9)
    assert logits == pytest.approx(np.array(expected["logits"]), abs=1e-9)
    assert irt.loss(logits, case["labels"], skills, difficulty, **penalties) == pytest.approx(
        expected["loss_ce"] + expected["loss_reg"], abs=1e-9
    )
