"""A call can be made again, with its options in another form."""

from autograder.student.properties.call import Form


def test_an_option_that_is_none_need_not_be_said():
    form = Form(["x", "mask", "rate"], {"mask": None, "rate": 0.5})
    assert form.by_name([1], {}) == ([1], {"rate": 0.5})
    assert form.in_order([1], {}) == ([1], {"rate": 0.5})
    assert form.in_order([1], {"mask": 2}) == ([1, 2, 0.5], {})
