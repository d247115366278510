"""Cases and mistakes for an exercise: a power law through measured losses."""

from __future__ import annotations

import torch

from autograder.authoring.draw import Draw
from autograder.authoring.notation import case, edit, right, sizes, source, wrong
from autograder.authoring.specification import InputSizes, Specification


def _draw_runs(*counts: int, noise: float = 0.04) -> InputSizes:
    """Return what a case needs to draw the losses of models of different sizes.

    ``counts`` are numbers of parameters; the losses follow a noisy power law.
    """
    model_sizes = torch.tensor(counts, dtype=torch.float32)

    def draw_losses(draw: Draw) -> torch.Tensor:
        factor, exponent = draw.ids(4, 15, 1), draw.ids(5, 30, 1) / 100
        scatter = draw.tensor(len(counts), scale=noise).exp()
        return factor * model_sizes**-exponent * scatter

    return sizes(n=len(counts), model_sizes=lambda draw: model_sizes.clone(), losses=draw_losses)


_LOGS = "x, y = model_sizes.log(), losses.log()  # (n,) each"
_SLOPE = "slope = ((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum()"
_RETURN = "return (y.mean() - slope * x.mean()).exp().item(), -slope.item()"

CASES = [
    case("five", "five models", _draw_runs(1184, 4672, 10464, 28960, 73984),
         "Take the logarithm of both sides of the formula. Which line is it?", rtol=1e-3),
    case("exact", "four models exactly on a power law", _draw_runs(900, 8100, 24300, 200_000, noise=0.0),
         "Every point is on the line: what are its slope and its intercept?", rtol=1e-3),
    case("scattered", "seven models with scattered losses",
         _draw_runs(500, 2100, 3500, 9000, 21_000, 64_000, 300_000, noise=0.3),
         "The line of least squares depends on every point.", rtol=1e-3),
    case("two", "two models", _draw_runs(3000, 70_000), "A line through two points.", hidden_only=True, rtol=1e-3, aspect="limits"),
]

MISTAKES = [
    wrong("line_without_logs",
          "You fit a straight line to the numbers themselves; a power law is a line in the *logarithms* of both.",
          "What becomes of $a N^{-b}$ if you take its logarithm?",
          edit(_LOGS, "x, y = model_sizes, losses"),
          edit(_LOGS, "x, y = model_sizes, losses.log()", name="exponential"),
          edit(_LOGS, "x, y = model_sizes.log(), losses", name="logarithm_of_the_sizes"),
          edit(_LOGS, "x, y = model_sizes, losses", _RETURN, "return (y.mean() - slope * x.mean()).item(), -slope.item()",
               name="plain_line")),
    wrong("sign", "The exponent has the wrong sign: the formula has a minus before `b`.",
          "Is the slope of the line positive or negative, and what is `b` then?",
          edit(", -slope.item()", ", slope.item()"), tests="positive"),
    wrong("intercept_for_factor", "You return the intercept of the line; it is the *logarithm* of the factor.",
          "At which N is the logarithm of N zero, and what is the loss there?",
          edit("(y.mean() - slope * x.mean()).exp()", "(y.mean() - slope * x.mean())")),
    wrong("mixed_logarithms", "You took logarithms to the base 10 or 2, and went back with a different base.",
          "What undoes `log10`?",
          edit(_LOGS, "x, y = model_sizes.log10(), losses.log10()"),
          edit(_LOGS, "x, y = model_sizes.log2(), losses.log2()", name="log2_and_exp")),
    wrong("two_bases",
          "Sizes and losses have logarithms to different bases, so the slope is off by a constant factor.",
          "What is `log10(x) / log(x)`, and what does that do to a slope?",
          edit(_LOGS, "x, y = model_sizes.log10(), losses.log()", name="only_sizes_in_log10"),
          edit(_LOGS, "x, y = model_sizes.log(), losses.log10()", name="only_losses_in_log10")),
    wrong("two_points_only",
          "You drew the line through the first and the last point; the points between them have no effect.",
          "What does the least-squares line do with the points in the middle?",
          edit(_SLOPE, "slope = (y[-1] - y[0]) / (x[-1] - x[0])"),
          edit(_SLOPE, "slope = (y[-1] - y[0]) / (x[-1] - x[0])",
               _RETURN, "return (y[0] - slope * x[0]).exp().item(), -slope.item()", name="through_the_ends")),
    wrong("sizes_from_losses", "You predict sizes from losses: the two axes of the fit are exchanged.",
          "Which of the two do you know before a model is trained?",
          edit(_SLOPE, _SLOPE.replace("(x - x.mean()).square()", "(y - y.mean()).square()")),
          edit(_LOGS, "y, x = model_sizes.log(), losses.log()", name="axes_exchanged")),
    wrong("through_the_origin", "Your line goes through the origin, so the factor is always 1.",
          "Which loss would a model of one parameter have on your line?",
          edit(_SLOPE, "slope = (x * y).sum() / x.square().sum()", _RETURN, "return 1.0, -slope.item()")),
    wrong("not_centred", "The slope is computed without subtracting the means.",
          "What does least squares minimise if the line also has an intercept?",
          edit(_SLOPE, "slope = (x * y).sum() / x.square().sum()"),
          edit(_SLOPE, "slope = ((x - x.mean()) * y).sum() / x.square().sum()", name="half_centred")),
    wrong("two_divisors",
          "Of covariance and variance, you divide one by `n` and the other by `n - 1`, so the slope is off.",
          "What does `torch.var` divide by unless told otherwise, and what does `mean` divide by?",
          edit(_SLOPE, "slope = ((x - x.mean()) * (y - y.mean())).mean() / x.var()"),
          edit(_SLOPE, "slope = torch.cov(torch.stack((x, y)))[0, 1] / x.var(correction=0)", name="too_steep")),
    wrong("exchanged", "The two results are swapped.",
          "In which order does the docstring name them?",
          edit(_RETURN, "return -slope.item(), (y.mean() - slope * x.mean()).exp().item()")),
]

ACCEPTED = [
    right("lstsq", source("""
        def fit_power_law(model_sizes, losses):
            x = torch.stack((torch.ones_like(model_sizes), model_sizes.log()), dim=1).double()
            intercept, slope = torch.linalg.lstsq(x, losses.log().double()[:, None]).solution[:, 0]
            return math.exp(intercept), -float(slope)
        """)),
    right("polyfit", source("""
        def fit_power_law(model_sizes, losses):
            import numpy
            slope, intercept = numpy.polyfit(numpy.log(model_sizes.numpy()), numpy.log(losses.numpy()), 1)
            return numpy.exp(intercept), -slope
        """)),
    right("covariance", edit(_SLOPE, "slope = torch.cov(torch.stack((x, y)))[0, 1] / x.var()")),
]

EXERCISE = Specification(
    target="fit_power_law", results="a, b", precise=False, gradients=False,
    cases=CASES, mutants=MISTAKES, accepted=ACCEPTED,
)
