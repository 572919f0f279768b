"""Greedy grouping by meaning: what holds of it for any table of equivalences, and each way of deciding one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rag_cover.belief.clustering import Relation, clusters_of, is_equivalent, may_be_equivalent, relation_of

ENTAILS, NEUTRAL, CONTRADICTS = Relation
TABLES = st.integers(1, 7).flatmap(lambda n: arrays.arrays(bool, (n, n)))


@given(TABLES, st.booleans())
def test_clusters_are_numbered_by_their_founders_in_order(table: np.ndarray, reassign: bool) -> None:  # noqa: FBT001
    clusters = clusters_of(table.tolist(), reassign=reassign)

    founders = [clusters.index(cluster) for cluster in range(max(clusters) + 1)]
    assert len(clusters) == len(table)
    assert founders == sorted(founders)


@given(TABLES)
def test_an_answer_shares_the_cluster_of_the_last_founder_that_it_equals(table: np.ndarray) -> None:
    clusters = clusters_of(table.tolist())

    founders = {clusters.index(cluster) for cluster in clusters}
    for answer in set(range(len(table))) - founders:
        takers = [founder for founder in sorted(founders) if founder < answer and table[founder, answer]]
        assert clusters[answer] == clusters[takers[-1]]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8))
def test_a_transitive_equivalence_gives_its_classes_either_way(classes: list[int]) -> None:
    table = [[a == b for b in classes] for a in classes]

    taken, kept = clusters_of(table), clusters_of(table, reassign=False)

    assert taken == kept == tuple(list(dict.fromkeys(classes)).index(each) for each in classes)


@pytest.mark.parametrize("strict", [True, False])
@given(forward=st.sampled_from(Relation), backward=st.sampled_from(Relation))
def test_the_way_there_rules_nothing_out_that_the_way_back_could_save(
    forward: Relation, backward: Relation, *, strict: bool
) -> None:
    possible = may_be_equivalent(forward, strict=strict)

    assert possible or not is_equivalent(forward, backward, strict=strict)


@pytest.mark.parametrize(
    ("forward", "backward", "strict", "loose"),
    [
        (ENTAILS, ENTAILS, True, True),
        (ENTAILS, NEUTRAL, False, True),
        (NEUTRAL, NEUTRAL, False, False),
        (ENTAILS, CONTRADICTS, False, False),
        (NEUTRAL, CONTRADICTS, False, False),
    ],
)
def test_equivalence_is_strict_or_loose(forward: Relation, backward: Relation, *, strict: bool, loose: bool) -> None:
    for there, back in ((forward, backward), (backward, forward)):
        assert is_equivalent(there, back, strict=True) is strict
        assert is_equivalent(there, back, strict=False) is loose


def test_of_equal_probabilities_the_lesser_claim_is_decided_for() -> None:
    assert relation_of((0.4, 0.4, 0.2)) is NEUTRAL
    assert relation_of((0.4, 0.2, 0.4)) is CONTRADICTS
    assert relation_of((0.5, 0.3, 0.2)) is ENTAILS
