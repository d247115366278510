"""Arcs: one for each weight that can be seen, as wide as the weight."""

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from matplotlib.patches import Arc

from autograder.figures import style
from autograder.figures.arcs import arcs


def test_an_arc_is_as_wide_as_its_weight_and_small_weights_have_none():
    figure, axes = style.subplots()
    arcs(axes, ["the", "cat", "it", "was"], 2, [0.3, 0.685, 0.01, 0.005])
    arc_patches = [patch for patch in axes.patches if isinstance(patch, Arc)]
    plt.close(figure)
    assert len(arc_patches) == 2
    assert arc_patches[1].get_linewidth() > arc_patches[0].get_linewidth()
    texts = {text.get_text(): text.get_fontweight() for text in axes.texts}
    assert texts["it"] == "bold" and texts["cat"] == "normal" and "0.69" in texts
