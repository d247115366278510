"""The website: every unit to read, nothing from elsewhere, and no solution."""

import html
import re
from html.parser import HTMLParser
from urllib.parse import unquote

import nbformat
import pytest

from autograder.authoring import colab, notebook, release
from autograder.course import ROOT, Unit, find_unit, units
from autograder.course.errors import CourseError, Faults

FETCHING = {  # the attributes with which a page makes a browser fetch something
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
    "object": "data",
    "link": "href",
    "form": "action",
}
RUN = [find_unit(name) for name in ("attention", "look_inside")]  # all take 20 minutes
NAVIGATION = {"next", "prev", "search", "index", "canonical", "author"}


class Page(HTMLParser):
    """What a page fetches, its links, its pictures' texts, and its equations."""

    def __init__(self, text: str):
        super().__init__()
        self.fetched, self.links, self.pictures, self.equations = [], [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag in FETCHING and attributes.get("rel") not in NAVIGATION:
            self.fetched.append(attributes.get(FETCHING[tag]) or "")
        if tag == "a":
            self.links.append(attributes.get("href") or "")
        if tag == "img":
            self.pictures.append(attributes.get("alt"))
        self.equations += tag == "math"


def outside(address: str) -> bool:
    return bool(re.match(r"(?:[a-z]+:)?//", address)) and "data:" not in address[:5]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("sphinx", reason="needs Sphinx: pip install '.[site]'")
    pytest.importorskip("myst_nb", reason="needs MyST-NB: pip install '.[site]'")
    from autograder.extras.website import website

    execute = website._execute
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            website, "_execute", lambda book, unit: unit in RUN and execute(book, unit)
        )
        return website.build(units(), tmp_path_factory.mktemp("dist") / "site").parent


@pytest.fixture(scope="module")
def pages(site):
    texts = {p: p.read_text(encoding="utf-8") for p in site.rglob("*.html")}
    return {path.stem: Page(text) for path, text in texts.items()}


@pytest.mark.slow
def test_the_first_page_leads_to_every_unit(pages):
    for unit in units():
        assert f"{unit.label}.html" in pages["index"].links
        for page in (pages["index"], pages[unit.label]):
            assert colab.published().notebook(unit) in page.links
            assert f"notebooks/{unit.release.name}" in page.links


@pytest.mark.slow
def test_no_line_of_a_solution_and_no_hidden_test_is_in_it(site):
    files = [path for path in site.rglob("*") if path.is_file()]
    assert {f"{unit.label}.html" for unit in units()} <= {path.name for path in files}
    released = "\n".join(u.release.read_text(encoding="utf-8") for u in units())
    everything = "\n".join(path.read_bytes().decode(errors="replace") for path in files)
    # Highlighted code is full of tags, and of letters that HTML writes otherwise.
    plain = html.unescape(re.sub(r"<[^>]+>", "", everything))
    for path in files:
        if any(unit.label in path.name for unit in units()):
            # Guides for authors, of other names, explain the markers.
            page = path.read_bytes().decode(errors="replace")
            for words in (page, html.unescape(re.sub(r"<[^>]+>", "", page))):
                assert "check.hidden" not in words and "BEGIN SOLUTION" not in words
    for words in (everything, plain):
        for unit in units():
            for cell in notebook.read(unit):
                for line in release.solution_lines(cell):
                    is_telling = len(line) >= 32 and line not in released
                    assert not (is_telling and line in words), line


@pytest.mark.slow
def test_a_page_fetches_nothing_from_elsewhere(site, pages):
    for name, page in pages.items():
        assert page.fetched or name.endswith("webpack-macros"), name
        assert not list(filter(outside, page.fetched)), name
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        addresses = re.findall(r"(?:url\(|@import )\s*[\"']?([^\"')\s;]+)", text)
        assert not list(filter(outside, addresses)), sheet.name
    scripts = "\n".join(p.read_text(encoding="utf-8") for p in site.rglob("*.js"))
    for word in ("jsdelivr", "unpkg", "cdnjs", "googleapis", "mathjax@"):
        assert word not in scripts, word


@pytest.mark.slow
def test_pictures_have_a_text_and_equations_need_no_script(pages):
    picture_count = 0
    for unit in units():
        page = pages[unit.label]
        assert all(page.pictures), unit.label
        picture_count += len(page.pictures)
        assert page.equations or "$" not in unit.release.read_text(encoding="utf-8")
    assert picture_count >= 3


@pytest.mark.slow
def test_figures_are_those_of_one_who_solved_the_exercises(site):
    for unit in RUN:
        text = (site / f"{unit.label}.html").read_text(encoding="utf-8")
        assert "<figcaption" in text and "<summary" in text
        assert " waits: " not in text and "Not solved yet" not in text
        assert "YOUR ANSWER HERE" not in text


@pytest.mark.slow
def test_a_result_to_be_predicted_is_folded(site):
    text = (site / "02_attention.html").read_text(encoding="utf-8")
    _, *predictions = text.split("Predict first.")
    for words in predictions:
        assert "Show the result" in words[: words.index('class="cell_output')]


@pytest.mark.slow
def test_a_page_fits_on_a_phone(site, page):
    page.set_viewport_size({"width": 390, "height": 860})
    for path in [site / "index.html", *site.glob("[0-9]*.html"), *site.glob("docs/*")]:
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path


@pytest.mark.slow
def test_no_link_within_the_site_is_dead(site):
    texts = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    for path, text in texts.items():
        for link in filter(None, Page(text).links):
            if re.match(r"[a-z]+:|//", link):
                continue
            address, _, part = unquote(link).partition("#")
            target = (path.parent / address).resolve() if address else path
            assert target.exists(), (path.name, link)
            if part and target in texts:
                assert f'id="{part}"' in texts[target], (path.name, link)


@pytest.mark.slow
def test_a_drawing_comes_without_the_cell_that_shows_it(site):
    text = (site / "02_attention.html").read_text(encoding="utf-8")
    assert text.index("<figure") < text.index("<pre"), "the first cell only draws"


@pytest.mark.slow
def test_the_first_page_has_a_door_for_each_reader(pages):
    doors = ["01_positional_encoding.html", "docs/instructor.html", "docs/ta.html"]
    assert set(doors) <= set(pages["index"].links)


@pytest.mark.slow
def test_equations_are_drawn_on_their_page_and_everywhere_else(site, pages):
    listed = pages["equations"]
    assert listed.equations >= 40
    assert "02_attention.html#why-divide-by" in "".join(listed.links)
    for unit in units():
        text = (site / f"{unit.label}.html").read_text(encoding="utf-8")
        words = re.sub(r"<pre.*?</pre>", "", text, flags=re.DOTALL)
        for unread in ("[2ex]", "\\&amp;", "<code>$"):
            assert unread not in words, unit.label
    assert "font/woff2" in (site / "_static" / "course.css").read_text()


@pytest.mark.slow
def test_a_reader_gets_no_table_of_points(site):
    for unit in units():
        text = (site / f"{unit.label}.html").read_text(encoding="utf-8")
        assert "check.summary()" not in text


@pytest.mark.slow
def test_the_first_page_shows_what_a_check_says(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    (light,) = re.findall(r'<img class="only-light" alt="[^"]+" src="([^"]+)"', text)
    assert (site / light).is_file()


@pytest.mark.slow
def test_the_first_page_shows_what_will_be_built(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    figure = text[text.index("<figure") : text.index("</figure>")]
    assert "What you will have built" in figure and "</svg>" in figure


@pytest.mark.slow
def test_each_page_ends_with_its_authors_and_none_is_empty(site):
    text = (site / "02_attention.html").read_text(encoding="utf-8")
    assert "licence: MIT and CC-BY-4.0" in text[text.index("<footer") :]
    names = {path.name for path in site.iterdir()}
    assert not names & {"genindex.html", "_sources"}


@pytest.mark.slow
def test_a_search_leads_to_the_first_match_on_a_page(site, page):
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto((site / "search.html").as_uri() + "?q=permutation")
    page.locator("#search-results a[href='01_positional_encoding.html']").click()
    mark = page.locator("article .highlighted").first
    mark.wait_for()
    page.wait_for_function("scrollY > 400")


@pytest.mark.slow
def test_it_can_be_searched(site):
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    for unit in units():
        assert unit.label in index
    assert "softmax" in index


@pytest.mark.parametrize(
    ("code", "is_hidden"),
    [
        ("drawing('loss', '1', 'Shown by\\n a caption.')", True),
        ("# The loss.\nfrom autograder import drawing\n\ndrawing('loss')", True),
        ("drawing('loss')\nx = torch.ones(2)", False),
        ("drawing('loss').show(x)", False),
        ("x = drawing('loss')", False),
        ("import torch", False),
        ("drawing('loss')\n%timeit x", False),
        ("A paragraph.", False),
    ],
)
def test_only_the_input_of_a_cell_that_does_nothing_but_draw_is_hidden(code, is_hidden):
    from autograder.extras.website import website

    assert website._only_draws(code) is is_hidden


def test_a_notebook_that_does_not_run_is_an_error():
    from autograder.extras.website import website

    broken = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    place = f"notebooks/{units()[0].label}.py: ZeroDivisionError: division by zero"
    with pytest.raises(CourseError, match=place):
        website._execute(broken, units()[0])


DEMONSTRATION = """\
# %%
from autograder import demo

# %%
@demo
def a_figure():
    pass


@demo
def another_figure():
    print(2)
    raise ValueError("no picture")
"""


def test_a_demonstration_that_raises_is_an_error_with_its_line(tmp_path, monkeypatch):
    from autograder.extras.website import website

    unit = Unit("99", "tiny", tmp_path)
    (tmp_path / "notebooks").mkdir()
    unit.text.write_text(DEMONSTRATION)
    (tmp_path / "course.toml").write_text((ROOT / "course.toml").read_text())
    cells = notebook.parse_leniently(DEMONSTRATION, unit, Faults())
    monkeypatch.setattr(website, "read", lambda unit: cells)
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell.text) for cell in cells]
    )
    with pytest.raises(CourseError) as refusal:
        website._execute(book, unit)
    assert str(refusal.value) == (
        "notebooks/99_tiny.py:13: ValueError: no picture; with all exercises solved, "
        "every cell has to run"
    )


def test_what_the_website_needs_is_said_before_any_notebook_runs(tmp_path, monkeypatch):
    from autograder.extras.website import website

    monkeypatch.setattr(website, "_execute", None)
    monkeypatch.setattr(website.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        CourseError, match="needs more packages: pip install sphinx myst_nb"
    ):
        website.build(units(), tmp_path / "site")
    assert not list(tmp_path.iterdir())
