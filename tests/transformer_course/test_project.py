"""A project's runner keeps its budget, logs every run, and says what a run shows."""

from __future__ import annotations

import json
from functools import partial
from itertools import count, islice
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from autograder.checks.words import LEFT_OUT
from tests.transformer_course.library.sentences import GREEDY
from transformer_course.library import checkpoint, run_log
from transformer_course.library.corpora import Corpus
from transformer_course.library.decoding import make_batch
from transformer_course.library.intervals import Interval
from transformer_course.library.model import Restorer, Sizes
from transformer_course.library.run_log import LoggedRun, RunLog
from transformer_course.library.text import PAD, WordTokenizer
from transformer_course.solutions import encoder_decoder, text_recovery
from transformer_course.text_recovery.library import log_view, review, track
from transformer_course.text_recovery.library.meter import TokenMeter
from transformer_course.text_recovery.library.project import Project, ProjectError

TOKENS = 8_000
WHY = "a model of this size learns ten sentences"
SETTINGS = {"positions": "sinusoidal", "num_heads": 2, "peak": 0.01}


def pairs(words: str, rows: range) -> list[tuple[str, str]]:
    return [
        (f"{w} {i}", f"The {w} saw {i} mice .") for w in words.split() for i in rows
    ]


TRAIN = pairs("cat dog owl", range(12))
CORPUS = Corpus("embedded", TRAIN, TRAIN[:12], pairs("cat", range(20, 23)))


def build(settings, corpus, seed):
    tokenizer = WordTokenizer.learn((t for pair in corpus.train for t in pair), 1)
    sizes = Sizes(
        len(tokenizer),
        16,
        settings["num_heads"],
        1,
        24,
        positions=settings["positions"],
    )
    return Restorer(sizes, encoder_decoder), tokenizer


def batches(tokenizer, corpus, seed):
    order = torch.Generator().manual_seed(seed)
    for _ in count():
        rows = torch.randperm(len(corpus.train), generator=order)[:12].tolist()
        chosen = (map(tokenizer.encode, corpus.train[i]) for i in rows)
        yield make_batch(*zip(*chosen, strict=True))


def train(model, tokenizer, corpus, meter, settings, seed):
    optimizer = torch.optim.Adam(model.parameters(), settings["peak"])
    for source, target in meter(batches(tokenizer, corpus, seed)):
        logits, wanted = model(source, target[:, :-1]), target[:, 1:]
        loss = F.cross_entropy(logits.mT, wanted, ignore_index=PAD)  # (B, V, L), (B, L)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def project(folder: Path, train=train, corpus=CORPUS, **options) -> Project:
    return Project(
        build, train, GREEDY, corpus, SETTINGS, parts=encoder_decoder,
        segment=text_recovery.segment, folder=folder, budget=60_000, **options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Project:
    """A project with two trained runs and one that only decodes."""
    study = project(tmp_path_factory.mktemp("made"))
    study._inserter = 20.0  # a strong baseline on a toy: it has seen all of dev
    study.run("base", WHY, tokens=TOKENS)
    study.run("learned", WHY, against="base", tokens=TOKENS, positions="learned")
    study.decode("beam 3", "base", WHY, partial(text_recovery.beam_search, beam_size=3),
                 beam=3)  # fmt: skip
    return study


def test_a_meter_counts_target_tokens_and_ends_before_its_budget_does():
    target = torch.tensor([[1, 5, 6, 2], [1, 7, 2, PAD]])  # five that count
    looks = []
    meter = TokenMeter(23, looks.append, looks=3)
    assert len(list(meter((target, target) for _ in count()))) == 4
    assert meter.seen == 20 and meter.progress == 20 / 23
    assert looks == [5, 15, 20]
    assert len(list(TokenMeter(5)(islice(iter([(target, target)] * 9), 9)))) == 1
    with pytest.raises(ValueError, match="at least one target token"):
        TokenMeter(0)


def test_a_run_is_measured_and_logged(trained):
    base, learned, beam = trained.log.runs
    assert 0.9 * TOKENS < base.tokens <= TOKENS and base.hypothesis == WHY
    assert base.bleu[1] <= base.bleu[0] <= base.bleu[2] and base.difference is None
    assert [tokens for tokens, _ in base.curve] == sorted({x for x, _ in base.curve})
    assert len(base.curve) == 4 and base.curve[-1][0] == base.tokens
    assert learned.changed == {"positions": ("sinusoidal", "learned")}
    assert learned.difference is not None and learned.parameters > base.parameters
    assert beam.kind == "decoding" and beam.tokens == 0
    assert beam.changed == {"beam": ("-", "3")} and beam.against == "base"
    assert trained.log.tokens == base.tokens + learned.tokens


def test_a_run_in_the_log_is_read_and_not_repeated(trained, capsys):
    def never(*args):
        raise AssertionError("trained again")

    reopened = project(trained.folder, train=never)
    assert reopened.run("base", WHY, tokens=TOKENS) == trained.log.runs[0]
    assert "not repeated" in capsys.readouterr().out
    with pytest.raises(ProjectError, match=r"'base' is in .* with different settings"):
        reopened.run("base", WHY, tokens=TOKENS, num_heads=1)


def test_models_and_texts_are_kept(trained):
    model, tokenizer = trained.model("beam 3")
    assert isinstance(model, Restorer) and tokenizer.encode("cat") != []
    assert len(trained.texts("learned")) == len(CORPUS.dev)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.run("x", WHY, heads=3), "unknown setting 'heads'; there are pos"),
        (
            lambda p: p.run("x", WHY, against="y"),
            "no run is called 'y'; the log has: base",
        ),
        (lambda p: p.run("x", "better"), "say what you expect of 'x', and why"),
        (lambda p: p.run("../x", WHY), "a run cannot be called '../x'"),
        (lambda p: p.run("4  heads", WHY), "never two spaces in a row"),
        (
            lambda p: p.run("x", WHY, tokens=90_000),
            "target tokens are left, but this run",
        ),
        (lambda p: p.decode("x", "y", WHY, GREEDY), "no run is called 'y'"),
        (lambda p: p.next_step("base", ""), "say what follows from 'base'"),
        (lambda p: p.model("y"), "no run is called 'y'"),
    ],
)
def test_what_is_not_allowed_is_said_in_a_line_and_logs_nothing(trained, call, message):
    before = (trained.folder / run_log.FILE).read_bytes()
    with pytest.raises(ProjectError) as caught:
        call(trained)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert (trained.folder / run_log.FILE).read_bytes() == before


def test_an_interrupted_run_is_logged_and_its_tokens_are_spent(tmp_path):
    def interrupted(model, tokenizer, corpus, meter, settings, seed):
        for n, _ in enumerate(meter(batches(tokenizer, corpus, seed))):
            if n == 3:
                raise KeyboardInterrupt

    interrupted_project = project(tmp_path, interrupted)
    with pytest.raises(KeyboardInterrupt):
        interrupted_project.run("base", WHY, tokens=9_000)
    (run,) = interrupted_project.log.runs
    assert run.stopped == "KeyboardInterrupt" and run.tokens > 0 and run.bleu is None
    spent, reopened = run.tokens, project(tmp_path)
    reopened._inserter = 20.0
    assert reopened.run("base", WHY, tokens=2_000).name == "base", "its name is free"
    assert (
        reopened.log.tokens > spent and reopened.log.runs[0].name == "base, stopped 1"
    )


def test_runs_of_another_level_are_not_mixed_with_these(trained):
    harder = project(trained.folder, level=3)
    message = (
        "'base' is a run on embedded, level 2, and this notebook is set to embedded"
    )
    for call in (
        lambda: harder.run("base", WHY, tokens=TOKENS),
        lambda: harder.run("new", WHY, against="base"),
        lambda: harder.decode("wide", "base", WHY, GREEDY),
        lambda: harder.compare("base", "learned"),
        lambda: harder.curves("base"),
        lambda: harder.hand_in("base"),
    ):
        with pytest.raises(ProjectError, match=message):
            call()


@pytest.mark.parametrize(
    ("gain", "seeds", "message"),
    [
        ((1.0, -0.2, 2.0), 0.1, "+1.0 [-0.2, +2.0]: no difference that these sentence"),
        ((1.0, 0.2, 2.0), None, "+1.0 [+0.2, +2.0]: better"),
        (
            (1.0, 0.2, 2.0),
            1.1,
            "+1.0 [+0.2, +2.0]: no more than between two seeds (1.1)",
        ),
        ((-2.0, -3.0, -1.0), 1.1, "-2.0 [-3.0, -1.0]: worse (two seeds differ by 1.1)"),
    ],
)
def test_a_difference_is_told_beside_that_of_two_seeds(gain, seeds, message):
    assert log_view.describe_gain(Interval(*gain), seeds).startswith(message)


def test_what_seeds_change_is_read_from_the_log():
    def line(name: str, gain: float, **fields) -> LoggedRun:
        end = (gain, gain - 0.1, gain + 0.1)
        return LoggedRun(
            name, against="base", bleu=(90, 89, 91), difference=end, **fields
        )

    seed, heads = {"seed": ("0", "1")}, {"num_heads": ("4", "2")}
    runs = (
        line("seed 1", 0.5, changed=seed), line("seed 2", -1.5, changed=seed),
        line("2 heads", -1.2, changed=heads), line("beam", 1.0, kind="decoding"),
    )  # fmt: skip
    log = RunLog(runs)
    assert log.between_seeds("base") == 1.5 and log.between_seeds("other") is None
    lines = [log_view.line(run, 1000, log) for run in runs]
    assert "no more than between two seeds (1.5)" in lines[2]
    assert not any("two seeds" in text for text in (*lines[:2], lines[3]))


def test_batches_past_the_meter_are_no_run(tmp_path):
    idle_project = project(tmp_path, lambda *args: None)
    with pytest.raises(ProjectError, match="took no batch through the meter"):
        idle_project.run("base", WHY, tokens=9_000)
    assert not idle_project.log.runs


def test_a_run_that_is_too_short_says_so_and_is_not_drawn(tmp_path, capsys):
    short_project = project(tmp_path)
    short_project.run("base", WHY, tokens=300)
    short_project.run("learned", WHY, against="base", tokens=300, positions="learned")
    assert all(run.too_short for run in short_project.log.runs)
    output = capsys.readouterr().out
    assert output.count("Too short to say anything: the inserter has") == 2
    short_project.curves()
    short_project.compare("base", "learned")
    output = capsys.readouterr().out
    assert "No curve to draw yet: base, learned (too short" in output
    assert "Nothing to compare yet: base, learned (too short" in output


def test_what_follows_is_written_down(trained):
    trained.next_step("base", "Try it with more heads.")
    assert trained.log.get("base").next_step == "Try it with more heads."


def test_the_hand_in_says_what_it_is_and_how_it_decodes(trained):
    paths = trained.hand_in("beam 3")
    assert [path.name for path in paths] == [checkpoint.HANDED_IN, run_log.FILE]
    settings_found = track.of(checkpoint.notes(paths[0]))
    assert settings_found == track.Track("embedded", 2, beam=3)
    assert checkpoint.notes(paths[0])["run"] == "beam 3"


def test_a_corpus_that_grading_would_refuse_is_refused_before_it_is_handed_in(
    tmp_path, capsys
):
    small_project = project(
        tmp_path, corpus=Corpus("mine", TRAIN, TRAIN[:12], TRAIN[:9])
    )
    small_project._inserter = 0.0
    small_project.run("base", WHY, tokens=2_000)
    output = capsys.readouterr().out
    assert output.startswith("Before you spend the budget: my_corpus.json cannot be")
    with pytest.raises(ProjectError, match=r"my_corpus\.json cannot be graded"):
        small_project.hand_in("base")
    assert not (tmp_path / checkpoint.HANDED_IN).exists()


def test_a_log_with_forged_words_is_shown_as_text():
    line = {"run": "<b>x</b>", "hypothesis": "<script>", "bleu": [1, 0, 2]}
    log = run_log.parse(json.dumps(line).encode())
    html = log_view.as_html(log)
    assert "<script>" not in html and "&lt;b&gt;x" in html
    assert "<td>" not in html, "each cell says how it is aligned"
    many = run_log.parse(b"\n".join(b'{"run": "%d"}' % i for i in range(10_000)))
    html = log_view.as_html(many)
    assert html.count("<tr>") == 61 and "9,940 earlier runs are not shown" in html


def test_prose_has_a_row_of_its_own_as_wide_as_the_table():
    line = {
        "run": "a",
        "hypothesis": "It helps.",
        "next": "Try two.",
        "bleu": [1, 0, 2],
    }
    html = log_view.as_html(run_log.parse(json.dumps(line).encode()))
    numbers, prose = html.split("<tbody>")[1].split("</tr>")[:2]
    assert "It helps." not in numbers and 'colspan="7"' in prose
    assert "It helps." in prose and "text-align:left" in prose


def test_a_log_lacks_what_the_project_asks_for(trained, capsys):
    missing = trained.missing()
    output = capsys.readouterr().out
    assert "3 complete runs; it needs at least 6" in output
    assert "a beam of 5, 10; if you follow the short path" in output
    assert "No run studies the architecture" in output
    assert not any("positions" in line for line in missing)


def test_a_comparison_needs_one_next_step_and_the_newest_run_none_yet():
    def line(name: str, change: str, **fields) -> LoggedRun:
        return LoggedRun(name, changed={change: ("a", name)}, against="base", **fields)

    base, seed = LoggedRun("base"), line("seed 1", "seed")
    heads = line("2", "num_heads"), line("8", "num_heads", next_step="Four stay.")
    log = RunLog((base, seed, *heads, line("final", "tokens")))
    assert "Comparisons without a next step: seed 1." in review.missing(log)


def test_curves_and_differences_are_drawn_with_words(trained, capsys, monkeypatch):
    monkeypatch.setenv(LEFT_OUT, "1")
    trained.curves()
    trained.compare("base", "learned", "beam 3")
    output = capsys.readouterr().out
    assert "target tokens" in output and "learned " in output and "beam 3 " in output
