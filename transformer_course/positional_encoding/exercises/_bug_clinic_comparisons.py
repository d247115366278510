"""A test for sinusoid tables: comparisons."""

from __future__ import annotations

from autograder.authoring.notation import source, wrong

PARTS = [
    wrong("first_row_only",
          "Your test looks at row 0 only.",
          "Which of the two bugs is visible at position 0?",
          source("""
              def assert_sinusoidal(table):
                  assert torch.allclose(table[0, 0::2], torch.zeros(()), atol=1e-3)
                  assert torch.allclose(table[0, 1::2], torch.ones(()), atol=1e-3)
              """)),
    wrong("circles_only",
          "Your test checks that each pair has length 1, but not its angle.",
          "Which of the bugs leave every pair with length 1?",
          source("""
              def assert_sinusoidal(table):
                  length = table[:, 0::2] ** 2 + table[:, 1::2] ** 2
                  assert torch.allclose(length, torch.ones(()), atol=1e-3)
              """)),
    wrong("circles_by_sum",
          "Your test only checks the norm of each row as a whole.",
          "Could a bug in one pair hide in the norm of the row?",
          source("""
              def assert_sinusoidal(table):
                  wanted = torch.tensor((table.shape[1] / 2) ** 0.5)
                  assert torch.allclose(table.norm(dim=1), wanted, atol=1e-3)
              """)),
    wrong("circles_and_first_row",
          "Your test checks that pairs have length 1 and start at the right angle, "
          "but not how fast they rotate.",
          "Which bugs change only the frequencies?",
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
          "What if the error is in a different row?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[:2], right[:2], atol=1e-3)
              """)),
    wrong("last_row_only",
          "Your test looks at the last row only.",
          "What if the error is in a different row?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[-1], right[-1], atol=1e-3)
              """)),
]

COMPARISONS = [
    wrong("average_difference",
          "Your test checks the average error, so a single wrong entry can hide.",
          "How much does one error of 0.3 change the average over a thousand entries?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert (table - right).abs().mean() < 0.01
              """)),
    wrong("signed_difference",
          "Your test only catches entries that are too large, because the differences keep their sign.",
          "Is a difference of -1 smaller than the tolerance?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert ((table - right) < 0.005).all()
              """)),
    wrong("sums_compared",
          "Your test compares sums, in which errors can cancel.",
          "Could two tables have the same sum and still differ?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert (table - right).sum().abs() < 0.01
              """)),
    wrong("means_compared",
          "Your test compares means of rows and columns, in which errors can cancel or become too small to notice.",
          "By how much does one error of 0.04 change the mean of a row of 64 entries?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table.mean(0), right.mean(0), atol=1e-3)
                  assert torch.allclose(table.mean(1), right.mean(1), atol=1e-3)
              """)),
    wrong("any_for_all",
          "Your test passes as soon as *some* entry is correct.",
          "How many entries of a correct table must be close?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert ((table - right).abs() < 1e-3).any()
              """)),
    wrong("nan_slips_through",
          "A table that contains NaN passes your test.",
          "What is `float('nan') > 0.001`, and what is `float('nan') < 0.001`?",
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
                  table = table.nan_to_num(nan=0.0).where(~table.isnan(), right)
                  assert torch.allclose(table, right, atol=1e-3)
              """, name="equal_nan"), tests="AssertionError"),
    wrong("too_generous",
          "Your tolerance is so large that wrong entries pass.",
          "Could an entry be off by as much as your tolerance and still be correct?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert ((table - right).abs() < 0.5).all()
              """)),
    wrong("nan_for_zero",
          "You replace NaN with zero before comparing, and for some entries zero is correct.",
          "Should a missing entry ever count as correct?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table.nan_to_num(), right, atol=1e-3)
              """)),
    wrong("rows_in_any_order",
          "Your test accepts the right values in the wrong rows.",
          "What does the row index stand for in the formula?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model).sort(dim=0).values
                  assert torch.allclose(table.sort(dim=0).values, right, atol=1e-3)
              """)),
    wrong("bug_a_copied",
          "Your test contains bug A itself: it accepts table A and rejects correct ones.",
          "In the formula, which exponent appears inside the cosine?",
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
          "Your test contains bug B itself: it accepts table B and rejects correct ones.",
          "Which exponent does your test compute for columns 2 and 3?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  exponents = 2 * torch.arange(0, d_model, 2) / d_model
                  angles = torch.arange(max_len)[:, None] / 10000**exponents
                  right = torch.stack((angles.sin(), angles.cos()), -1).flatten(-2)
                  assert torch.allclose(table, right, atol=1e-3)
              """)),
    wrong("swap_copied",
          "Your test itself swaps sine and cosine.",
          "Which function does the formula use for column 0?",
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
          "Your test works for only one size of table.",
          "What can you read off the table's shape?",
          source("""
              def assert_sinusoidal(table):
                  right = sinusoid(torch.arange(50), 64)
                  assert torch.allclose(table, right, atol=1e-3)
              """), tests="tables"),
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
          "Which row is the last one that your test looks at?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[:-1], right[:-1], atol=1e-3)
              """)),
    wrong("last_column_left_out",
          "Your test does not look at the last column.",
          "Which column is the last one that your test looks at?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[:, :-1], right[:, :-1], atol=1e-3)
              """)),
    wrong("a_few_positions",
          "Your test looks at the first ten positions only; later ones could hold anything.",
          "How long can a table be?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[:10], right[:10], atol=1e-3)
              """)),
    wrong("too_loose",
          "Your tolerance is too loose: entries that are off by more than 0.01 pass.",
          "Which two limits does the exercise give, and where is yours?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table, right, rtol=0, atol=0.05)
              """), tests="rejects"),
    wrong("circles_and_two_rows",
          "Your test checks the first two rows and that pairs have length 1. Later rows could still be at any angle.",
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
          "Your test compares each row with the previous one. An error too small to notice in one step adds up over a "
          "long table.",
          "If every step may be off by 0.001, how far off can row 150 be?",
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
    wrong("a_few_steps_only",
          "Your test compares rows that are a few steps apart. An error too small to notice in those few steps adds up "
          "over a very long table.",
          "If seven steps may be off by 0.0003, how far off can row 2000 be?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  start = torch.tensor([0.0, 1.0]).repeat(d_model // 2)
                  assert torch.allclose(table[0], start, atol=1e-3)
                  for k in range(1, min(8, max_len)):
                      moved = table[:-k].double() @ shift_matrix(k, d_model).double().T
                      assert torch.allclose(moved, table[k:].double(), rtol=0, atol=3e-4)
              """),
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  start = torch.tensor([0.0, 1.0]).repeat(d_model // 2)
                  assert torch.allclose(table[0], start, atol=1e-3)
                  for k in range(1, min(50, max_len)):
                      moved = table[:-k].double() @ shift_matrix(k, d_model).double().T
                      assert torch.allclose(moved, table[k:].double(), rtol=0, atol=4e-3)
              """, name="fifty_steps_only")),
    wrong("sines_and_circles",
          "Your test checks the sines and that pairs have length 1. A cosine could still have the wrong sign.",
          "Which two angles have the same sine?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table[:, 0::2], right[:, 0::2], atol=1e-3)
                  norms = table[:, 0::2] ** 2 + table[:, 1::2] ** 2
                  assert torch.allclose(norms, torch.ones_like(norms), atol=1e-3)
              """)),
    wrong("first_columns_only",
          "Your test looks at the first columns only, but tables can be wider.",
          "What if the error is in a column further to the right?",
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
          "Your tolerance grows with the value: near 1 and -1, entries that are off by more than 0.01 pass.",
          "How large is your tolerance for an entry near 0, and for one near 1?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table, right, rtol=1e-2, atol=5e-3)
              """),
          ),
    wrong("products_compared",
          "Your test compares dot products of rows. They stay the same if every pair "
          "rotates backward or if pairs are swapped.",
          "What can the dot product of two rows not tell you?",
          source("""
              def assert_sinusoidal(table):
                  max_len, d_model = table.shape
                  right = sinusoid(torch.arange(max_len), d_model)
                  assert torch.allclose(table @ table.T, right @ right.T, atol=1e-3)
                  assert torch.allclose(table[0], right[0], atol=1e-3)
              """)),
]
