"""The form of a tensor is its dtype and its shape."""

import numpy as np
import torch

from autograder.checks.forms import dtype_of, form_of


def test_dtypes_are_named_as_people_write_them():
    assert dtype_of(torch.ones(2)) == "float32" and dtype_of("a text") == ""
    assert dtype_of(np.ones(2)) == "float64"


def test_a_form_has_the_sizes_of_all_dimensions():
    assert form_of(torch.ones(2, 3).bool()) == ("bool", 2, 3)
    assert form_of(torch.tensor(1)) == ("int64",)
