"""ΔSePer: the worth of passages, and the speed of its entailment stage."""
