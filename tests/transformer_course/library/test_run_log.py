"""A log is read whatever is in it, and written without losing anything."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_course.library import run_log
from transformer_course.library.run_log import LoggedRun, RunLog

RUN = LoggedRun(
    "learned", hypothesis="learned positions need longer", against="baseline",
    changed={"positions": ("sinusoidal", "learned")}, settings={"heads": "4"}, seed=1,
    tokens=400_000, seconds=38.5, parameters=1_000_000, curve=((100_000.0, 35.0),),
    bleu=(87.0, 86.0, 88.0), difference=(-1.0, -2.0, 0.5), inserter=62.3,
    next_step="try three seeds",
)  # fmt: skip
LINE = json.dumps({"run": "a", "bleu": [50, 49, 51]}).encode()


def test_a_run_comes_back_as_it_was(tmp_path):
    path = tmp_path / run_log.FILE
    run_log.add(path, RUN)
    run_log.add(path, LoggedRun("second"))
    assert run_log.read(path) == RunLog((RUN, LoggedRun("second")))
    assert len(path.read_text().splitlines()) == 2


def test_where_there_is_no_log_there_are_no_runs(tmp_path):
    assert run_log.read(tmp_path / run_log.FILE) == RunLog()
    assert run_log.parse(b"") == RunLog()


def test_foreign_fields_and_lines_stay_in_the_file(tmp_path):
    path = tmp_path / run_log.FILE
    before = (
        b'{"run": "a", "mood": "bad", "next": "?"}\nnot JSON\n\xff\xfe\n{"run": "b"}'
    )
    path.write_bytes(before)
    run_log.store_conclusion(path, "a", "sleep")
    run_log.add(path, LoggedRun("c"))
    lines = path.read_bytes().splitlines()
    assert json.loads(lines[0]) == {"run": "a", "mood": "bad", "next": "sleep"}
    assert lines[1:4] == before.splitlines()[1:]
    log = run_log.read(path)
    assert [run.name for run in log.runs] == ["a", "b", "c"]
    assert log.remarks == (
        "runs.jsonl, line 2: no JSON object", "runs.jsonl, line 3: no JSON object"
    )  # fmt: skip


def test_nothing_follows_from_a_run_that_there_is_not(tmp_path):
    path = tmp_path / run_log.FILE
    with pytest.raises(KeyError):
        run_log.store_conclusion(path, "a", "sleep")
    assert not path.exists()


def test_a_log_of_ten_thousand_lines_is_read_in_a_moment():
    lines = [LINE.replace(b'"a"', b'"run %d"' % i) for i in range(10_000)]
    started = time.process_time()
    log = run_log.parse(b"\n".join(lines))
    assert len(log.runs) == 10_000 and not log.remarks
    assert time.process_time() - started < 5


def test_a_larger_log_is_read_up_to_a_limit():
    many = b"\n".join(b'{"run": "%d"}' % i for i in range(run_log.MOST_LINES + 9))
    log = run_log.parse(many)
    assert len(log.runs) == run_log.MOST_LINES and "20,000 lines" in log.remarks[0]
    line = b'{"run": "%d", "x": "' + b"y" * 60_000 + b'"}'
    large = run_log.parse(b"\n".join(line % i for i in range(200)))
    assert 100 < len(large.runs) < 150 and "8 MB" in large.remarks[0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"[" * 60_000, "no JSON object"),
        (b'{"run": "' + b"x" * 70_000 + b'"}', "no JSON object"),
        (b"{}", "no name under `run`"),
        (b'{"run": "\\u202e"}', "no name under `run`"),
        (b'{"run": "a", "bleu": [50, 60, 70]}', "`bleu` cannot be [50, 60, 70]"),
        (b'{"run": "a", "bleu": [NaN, 1, 2]}', "`bleu` cannot be [nan, 1, 2]"),
        (b'{"run": "a", "bleu": 50}', "`bleu` cannot be 50"),
        (b'{"run": "a", "tokens": -1}', "`tokens` cannot be -1"),
        (b'{"run": "a", "tokens": 1e999}', "`tokens` cannot be inf"),
        (b'{"run": "a", "tokens": "7"}', "`tokens` cannot be '7'"),
        (b'{"run": "a", "curve": {"a": 1}}', "`curve` cannot be {'a': 1}"),
        (b'{"run": "a", "curve": [[1, 101]]}', "`curve` cannot be [[1, 101]]"),
        (b'{"run": "a", "changed": {"x": 1}}', "`changed` cannot be {'x': 1}"),
        (b'{"run": "a", "too_short": "no"}', "`too_short` cannot be 'no'"),
        (b'{"run": "a", "hypothesis": ["x"]}', "`hypothesis` cannot be ['x']"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_costs_only_itself(line, message):
    log = run_log.parse(line + b"\n" + LINE)
    assert [(run.name, run.bleu) for run in log.runs] == [("a", (50, 49, 51))]
    assert log.remarks == (f"runs.jsonl, line 1: {message}",)


def test_a_name_counts_once():
    log = run_log.parse(LINE + b"\n" + LINE)
    assert len(log.runs) == 1 and "the first one counts" in log.remarks[0]


def test_of_many_bad_lines_a_few_are_named():
    log = run_log.parse(b"x\n" * 1000)
    assert (
        len(log.remarks) == 6
        and log.remarks[-1] == "runs.jsonl: 995 more lines like these"
    )


def test_texts_are_one_printable_line():
    text = '{"run": "a\\u202eb", "hypothesis": "x\\n y\\u0007", "next": "\\ud800"}'
    (run,) = run_log.parse(text.encode()).runs
    assert (run.name, run.hypothesis, run.next_step) == ("ab", "x y", "")


VALUES = st.sampled_from(
    [None, True, -1, 0, 10**30, 1e308, "", "a", [], {}, [[]], [1], [1, 2, 3], {"a": 1},
     {"a": [1, 2]}, {"a": {}}, [[1, 2]], [{"a": 1}], ["a", "b", "c"], "\ud800"]
)  # fmt: skip


@given(st.dictionaries(st.sampled_from([*run_log._READERS, "other"]), VALUES))
def test_any_json_is_read_or_named(entry):
    log = run_log.parse(json.dumps(entry).encode())
    assert len(log.runs) + len(log.remarks) == 1


@given(st.binary(max_size=200))
def test_any_bytes_are_read(data):
    assert run_log.parse(data).tokens >= 0
