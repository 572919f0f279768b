"""What was spent, by model and purpose; what is not known is never 0."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rag_cover.errors import InputError
from rag_cover.llm.usage import Price, Usage, UsageMeter, UsageReport, read_prices

SMALL = Usage("openai:small", "judge", calls=2, prompt_tokens=1_000_000, completion_tokens=500_000)


def test_usage_adds_up_by_model_and_purpose() -> None:
    ledger = UsageMeter()

    for usage in (SMALL, Usage("openai:small", "decompose", calls=1), SMALL, Usage("openai:large", "judge", cache_hits=3)):
        ledger.add(usage)

    assert [(usage.model, usage.purpose, usage.calls) for usage in ledger.spending.usage] == [
        ("openai:large", "judge", 0),
        ("openai:small", "decompose", 1),
        ("openai:small", "judge", 4),
    ]


def test_many_threads_lose_no_count() -> None:
    ledger = UsageMeter()

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(ledger.add, [Usage("m", "judge", calls=1)] * 2_000))

    assert ledger.spending.usage[0].calls == 2_000


def test_a_model_is_priced_with_or_without_its_scheme() -> None:
    price = Price(prompt=2.0, completion=4.0)

    assert SMALL.cost({"small": price}) == SMALL.cost({"openai:small": price}) == 4.0


def test_without_a_price_the_cost_is_unknown() -> None:
    assert SMALL.cost({"large": Price(1, 1)}) is None


def test_without_token_counts_the_cost_is_unknown() -> None:
    assert (SMALL + Usage("openai:small", "judge", calls=1, untold=1)).cost({"small": Price(1, 1)}) is None


def test_what_came_from_the_cache_cost_nothing() -> None:
    assert Usage("openai:small", "judge", cache_hits=5).cost({}) == 0


def test_one_unknown_cost_makes_the_whole_unknown() -> None:
    prices = {"small": Price(1, 1)}

    assert UsageReport((SMALL,)).cost(prices) == 1.5
    assert UsageReport((SMALL, Usage("openai:large", "judge", calls=1))).cost(prices) is None


def test_spending_goes_to_json_and_back() -> None:
    spending = UsageReport((SMALL,), ("openai:small refuses seed; it is no longer sent",))

    assert UsageReport.from_dict(spending.to_dict()) == spending


def test_a_run_gone_on_with_adds_to_what_was_spent() -> None:
    both = UsageReport((SMALL,), ("a",)) + UsageReport((SMALL,), ("a", "b"))

    assert both.usage[0].calls == 4
    assert both.notes == ("a", "b")


def test_prices_are_read_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text('{"small": {"prompt": 0.4, "completion": 1.6}}')

    assert read_prices(path) == {"small": Price(0.4, 1.6)}


@pytest.mark.parametrize(
    "text", ["", "[]", '{"small": 3}', '{"small": {"prompt": 1}}', '{"small": {"prompt": -1, "completion": 1}}']
)
def test_what_is_no_table_of_prices_is_told_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(text)

    with pytest.raises(InputError, match="a table of prices is JSON such as"):
        read_prices(path)


def test_a_table_that_is_not_there_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_prices(tmp_path / "none.json")
