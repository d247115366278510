"""A grid of runs is saved, resumed, tabled and drawn."""

from __future__ import annotations

import pytest

from autograder.library import experiments


def test_a_grid_saves_and_resumes(tmp_path):
    asked = []

    def run(config):
        asked.append(config["heads"])
        if config["heads"] == 4 and len(asked) == 2:
            raise KeyboardInterrupt
        return {"BLEU": 10.0 * config["heads"], "curve": [(1, 2.0), (2, 3.0)]}

    configs = experiments.grid(heads=[2, 4, 8], seed=[0])
    with pytest.raises(KeyboardInterrupt):
        experiments.run_grid("heads", configs, run, tmp_path)
    rows = experiments.run_grid("heads", configs, run, tmp_path)
    assert asked == [2, 4, 4, 8]
    assert [row["BLEU"] for row in rows] == [20.0, 40.0, 80.0]
    assert experiments.table(rows, ["heads", "BLEU"]).splitlines()[2] == "| 2 | 20 |"
    assert len(experiments.plot_curves(rows, "heads").axes[0].lines) == 3


def test_curves_of_several_seeds_are_told_apart():
    rows = [
        {"heads": heads, "seed": seed, "curve": [(1, 2.0)]}
        for heads, seed in ((2, 0), (2, 1), (4, 0))
    ]
    legend = experiments.plot_curves(rows, "heads").axes[0].get_legend()
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["heads = 2, seed 0", "heads = 2, seed 1", "heads = 4"]
