"""A test for sinusoid tables: comparisons."""

from __future__ import annotations

from autograder.authoring.notation import source, wrong

PARTS = [
    wrong("first_row_only",
          "Your test looks at row 0 only.",
          "Which of the bugs can be seen at position 0?",
          source("""
              def assert_sinusoidal(table):
                  assert torch.allclose(table[0, 0::2], torch.zeros(()), atol=1e-3)
                  assert torch.allclose(table[0, 1::2], torch.ones(()), atol=1e-3)
              """)),
    wrong("circles_only",
          "Your test asks that sine and cosine of each pair fit together, and nothing about how far a hand has turned.",
          "Which of the bugs leave every hand at length 1?",
          source("""
              def assert_sinusoidal(table):
                  length = table[:, 0::2] ** 2 + table[:, 1::2] ** 2
                  assert torch.allclose(length, torch.ones(()), atol=1e-3)
              """)),
    wrong("circles_by_sum",
          "Your test only asks that each row has the right length as a whole.",
          "Could a bug in one pair hide in the length of the row?",
          source("""
              def assert_sinusoidal(table):
                  wanted = torch.tensor((table.shape[1] / 2) ** 0.5)
                  assert torch.allclose(table.norm(dim=1), wanted, atol=1e-3)
              """)),
    wrong("circles_and_first_row",
          "Your test asks for hands of length 1 that start in the right place. It does not ask how fast they turn.",
          "Which bugs change nothing but speeds?",
          source("""
              def assert_sinusoidal(table):
                  length = table[:, 0::2] ** 2 + table[:, 1::2] ** 2
                  assert torch.allclose(length, torch.ones(()), atol=1e-3)
                  assert torch.allclose(table[0, 0::2], torch.zeros(()), atol=1e-3)
              """)),
    wrong("first_pair_only",
          "Your test looks at the first two columns only.",
          "In which columns does table B go wrong?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[:, :2], right[:, :2], atol=1e-3)
              """)),
    wrong("sines_only",
          "Your test looks at the sines only.",
          "In which columns does table A go wrong?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[:, 0::2], right[:, 0::2], atol=1e-3)
              """)),
    wrong("cosines_only",
          "Your test looks at the cosines only.",
          "What if only a sine is wrong?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[:, 1::2], right[:, 1::2], atol=1e-3)
              """)),
    wrong("some_rows_only",
          "Your test looks at the first rows only.",
          "What if the table goes wrong in another row?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[:2], right[:2], atol=1e-3)
              """)),
    wrong("last_row_only",
          "Your test looks at the last row only.",
          "What if the table goes wrong in another row?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[-1], right[-1], atol=1e-3)
              """)),
]

COMPARISONS = [
    wrong("average_difference",
          "Your test asks that the numbers are right on average, so a single wrong one can hide.",
          "Which is safer: the average difference, or the largest?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert (table - right).abs().mean() < 0.01
              """)),
    wrong("signed_difference",
          "Your test only sees numbers that are too large: differences keep their sign.",
          "Is a difference of -1 smaller than the tolerance?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert ((table - right) < 0.005).all()
              """)),
    wrong("sums_compared",
          "Your test compares sums, in which differences can cancel.",
          "Could two tables have the same sum and still differ?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert (table - right).sum().abs() < 0.01
              """)),
    wrong("any_for_all",
          "Your test is content if *some* number is right.",
          "Is it `any` or `all`?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert ((table - right).abs() < 1e-3).any()
              """)),
    wrong("nan_slips_through",
          "A NaN slips through: your test looks for numbers that are far off, and no comparison with NaN is ever true.",
          'What if you ask for "all are close" instead of "none is far"?',
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert not ((table - right).abs() > 1e-3).any()
              """),
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  if ((table - right).abs() > 1e-3).any():
                      raise AssertionError('wrong table')
              """, name="nan_by_if"),
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  table = table.nan_to_num(nan=0.0).where(~table.isnan(), right)
                  assert torch.allclose(table, right, atol=1e-3)
              """, name="equal_nan")),
    wrong("too_generous",
          "Your tolerance is so large that wrong numbers pass.",
          "Could a number be off by as much as your tolerance and still be right?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert ((table - right).abs() < 0.5).all()
              """)),
    wrong("nan_for_zero",
          "You put zero for NaN before you compare, and zero is right in some places.",
          "What is a number worth that is missing?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table.nan_to_num(), right, atol=1e-3)
              """)),
    wrong("rows_in_any_order",
          "Your test accepts the right numbers in the wrong rows.",
          "What does the row that a number stands in say of it?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model).sort(dim=0).values
                  assert torch.allclose(table.sort(dim=0).values, right, atol=1e-3)
              """)),
    wrong("bug_a_copied",
          "Your test has bug A itself: it accepts table A and rejects right ones.",
          "In the formula, which exponent stands under the cosine?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  exponents = torch.arange(d_model) / d_model
                  angles = torch.arange(max_len)[:, None] / 10000**exponents
                  right = angles.sin()
                  right[:, 1::2] = angles[:, 1::2].cos()
                  assert torch.allclose(table, right, atol=1e-3)
              """)),
    wrong("bug_b_copied",
          "Your test has bug B itself: it accepts table B and rejects right ones.",
          "Is the 2 of `2i` in your exponent twice?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  exponents = 2 * torch.arange(0, d_model, 2) / d_model
                  angles = torch.arange(max_len)[:, None] / 10000**exponents
                  right = torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)
                  assert torch.allclose(table, right, atol=1e-3)
              """)),
    wrong("swap_copied",
          "Your test has sine and cosine swapped itself.",
          "Which function does the formula give to column 0?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  right = right.view(max_len, -1, 2).flip(-1).flatten(1)
                  assert torch.allclose(table, right, atol=1e-3)
              """)),
]

LEFT_OUT = [
    wrong("one_size_only",
          "Your test works for one size of table only.",
          "Which two numbers can you read off the table's shape?",
          source("""
              def assert_sinusoidal(table):
                  right = sinusoid(torch.arange(50), 64)
                  assert torch.allclose(table, right, atol=1e-3)
              """)),
    wrong("first_column_left_out",
          "Your test does not look at the first pair of columns.",
          "From which column does your slice or your loop start?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[:, 2:], right[:, 2:], atol=1e-3)
              """)),
    wrong("last_row_left_out",
          "Your test does not look at the last position.",
          "Where does `range(n - 1)` end?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[:-1], right[:-1], atol=1e-3)
              """)),
    wrong("last_column_left_out",
          "Your test does not look at the last column.",
          "Where does `range(d_model - 1)` end?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[:, :-1], right[:, :-1], atol=1e-3)
              """)),
    wrong("a_few_positions",
          "Your test looks at the first ten positions. Those after them may be anything.",
          "How long may a table be?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[:10], right[:10], atol=1e-3)
              """)),
    wrong("too_loose",
          "Your limit is too loose: numbers that are off by more than 0.01 pass.",
          "Which two limits does the text give, and where is yours?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table, right, rtol=0, atol=0.05)
              """)),
    wrong("circles_and_two_rows",
          "Your test looks at the first two rows, and at the lengths of the hands. Later rows may point anywhere.",
          "How does row 5 follow from row 4?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(2), d_model)
                  assert torch.allclose(table[:2], right, atol=1e-3)
                  norms = table[:, 0::2] ** 2 + table[:, 1::2] ** 2
                  assert torch.allclose(norms, torch.ones_like(norms), atol=1e-3)
              """)),
    wrong("steps_only",
          "Your test compares each row with the row before it. An error that is too small to see in one step adds up "
          "over a long table.",
          "If your test lets each step be off by a little, how far off may row 150 be?",
          source("""
              def assert_sinusoidal(table):
                  sin, cos = table[:, 0::2].double(), table[:, 1::2].double()
                  d_model = table.shape[1]
                  assert ((sin**2 + cos**2 - 1).abs() < 1e-3).all()
                  assert (sin[0].abs() < 1e-3).all() and (cos[0] > 0).all()
                  speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
                  turned_sin = sin[:-1] * speeds.cos() + cos[:-1] * speeds.sin()
                  turned_cos = cos[:-1] * speeds.cos() - sin[:-1] * speeds.sin()
                  assert ((turned_sin - sin[1:]).abs() < 1e-3).all()
                  assert ((turned_cos - cos[1:]).abs() < 1e-3).all()
              """),
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  start = torch.tensor([0.0, 1.0]).repeat(d_model // 2)
                  assert torch.allclose(table[0], start, atol=1e-3)
                  stepped = table[:-1] @ shift_matrix(1, d_model).to(table).T
                  assert torch.allclose(stepped, table[1:], rtol=0, atol=2e-3)
              """, name="steps_by_matrix"),
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  start = torch.tensor([0.0, 1.0]).repeat(d_model // 2)
                  assert torch.allclose(table[0], start, atol=1e-3)
                  stepped = table[:-1] @ shift_matrix(1, d_model).to(table).T
                  assert torch.allclose(stepped, table[1:], rtol=0, atol=3e-4)
              """, name="fine_steps")),
    wrong("sines_and_circles",
          "Your test knows the sines and the lengths of the hands. A cosine may still have the wrong sign.",
          "Which two hands have the same sine?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[:, 0::2], right[:, 0::2], atol=1e-3)
                  norms = table[:, 0::2] ** 2 + table[:, 1::2] ** 2
                  assert torch.allclose(norms, torch.ones_like(norms), atol=1e-3)
              """)),
    wrong("first_columns_only",
          "Your test looks at the first columns only. Tables may be wider.",
          "What if the table goes wrong in a column further right?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[:, :16], right[:, :16], atol=1e-3)
              """),
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[:, :8], right[:, :8], atol=1e-3)
              """, name="first_eight_columns")),
    wrong("relative_tolerance",
          "Your tolerance grows with the number: near 1 and -1, numbers that are off by more than 0.01 pass.",
          "What do `rtol` and `atol` of `allclose` mean, and what is the default of the one that you left out?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table, right, rtol=1e-2, atol=5e-3)
              """),
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert ((table - right).abs() <= 0.005 + 0.01 * right.abs()).all()
              """, name="relative_by_hand")),
    wrong("products_compared",
          "Your test compares products of rows. Hands that all turn backward, or that have changed places, have the "
          "same ones.",
          "What does a product of two rows not know?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table @ table.T, right @ right.T, atol=1e-3)
                  assert torch.allclose(table[0], right[0], atol=1e-3)
              """)),
]
