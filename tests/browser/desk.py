"""What a person does in JupyterLab, in a person's words."""

from __future__ import annotations

import re

FINDER = 2  # the position of the cell that finds the checks
_TRAINING = 240_000.0  # milliseconds; on a busy machine
_IDLE = '.jp-Notebook-ExecutionIndicator[data-status="idle"]'


def open_lab(page, address: str) -> None:
    """Log in, as by the link that Jupyter prints."""
    page.goto(address.format("lab"))
    page.wait_for_selector(".jp-LauncherCard")


def menu(page, name: str) -> list[str]:
    """Open a menu of the menu bar; the entries that it shows."""
    page.locator("#jp-MainMenu .lm-MenuBar-itemLabel").get_by_text(
        name, exact=True
    ).click()
    entries = page.locator(".lm-Menu-itemLabel")
    entries.first.wait_for()
    return [text for text in entries.all_inner_texts() if text]


def choose(page, name: str, entry: str) -> None:
    """Choose an entry of a menu."""
    menu(page, name)
    _entry(page, entry).click()


def open_assignment(page, label: str) -> None:
    """Open a downloaded assignment's notebook through the Assignment List."""
    choose(page, "Nbgrader", "Assignment List")
    page.click(f'#fetched_assignments_list a:text("{label}")')
    page.locator("#fetched_assignments_list .item_name a").last.click()
    when_idle(page)


def open_text_as_notebook(page, name: str) -> None:
    """Open a text through the file browser's "Open With", with the usual kernel."""
    page.click(f'.jp-DirListing-item:has-text("{name}")', button="right")
    _entry(page, "Open With").hover()
    _entry(page, "Notebook").click()
    page.click('.jp-Dialog button:has-text("Select")')
    when_idle(page)


def _entry(page, text: str):
    label_pattern = re.compile(
        f"^{re.escape(text)}$"
    )  # the label's letters are marked up
    return page.locator(".lm-Menu-itemLabel").filter(has_text=label_pattern)


def save(page) -> None:
    """Save by the keyboard, and wait until nothing is unsaved."""
    page.keyboard.press("Control+s")
    page.wait_for_selector(".lm-TabBar-tab.jp-mod-dirty", state="detached")


def when_idle(page) -> None:
    """Wait until the notebook's kernel has nothing left to do."""
    page.wait_for_selector(f".jp-NotebookPanel:visible {_IDLE}")


def when_started(page) -> None:
    """Wait until a notebook that is open has a kernel."""
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    when_idle(page)


def restart(page) -> None:
    """Restart the kernel; outputs stay."""
    choose(page, "Kernel", "Restart Kernel…")
    page.click('.jp-Dialog button:has-text("Restart")')
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(state="detached")
    when_started(page)


def go_to(page, heading: str) -> None:
    """Click a heading in the table of contents."""
    contents = page.locator("#table-of-contents")
    if not contents.is_visible():
        page.click('.lm-TabBar-tab[data-id="table-of-contents"]')
    contents.locator(".jp-tocItem-heading", has_text=heading).first.click()


def cell(page, kind: str, text: str):
    """The notebook's "Code" or "Markdown" cell with a text; one far off shows none."""
    cells = page.locator(f".jp-NotebookPanel:visible .jp-Notebook .jp-{kind}Cell")
    return cells.filter(has_text=text).first


def answer(page, start: str, code: str) -> None:
    """Replace the code cell that has the text ``start``, and run it."""
    _type(page, cell(page, "Code", start), code)


def answer_in_words(page, start: str, text: str) -> None:
    """Replace the Markdown cell that has the text ``start``, and render it."""
    wanted = cell(page, "Markdown", start)
    wanted.locator(".jp-MarkdownOutput").dblclick()
    _type(page, wanted, text)


def _type(page, wanted, text: str) -> None:
    wanted.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)  # as one paste: no automatic brackets
    run(page)


def run(page) -> None:
    """Run the cell that has the focus, and go on to the next."""
    page.keyboard.press("Shift+Enter")


def run_cell(page, text: str):
    """Run the code cell that has a text, and stay there; the cell."""
    wanted = cell(page, "Code", text)
    wanted.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    return wanted


def select(page, position: int):
    """Select the cell at a position, from 0 on; the cell."""
    wanted = _at(page, position)
    wanted.locator(".jp-InputPrompt").click()
    return wanted


def run_at(page, position: int, code: str = "") -> None:
    """Run the cell at a position to its end, with other code if some is given."""
    wanted = select(page, position)
    if code:
        _type(page, wanted, code)
    else:
        run(page)
    when_done(page)


def read_output(page, position: int) -> str:
    """The text of the outputs of the cell at a position, also far off."""
    outputs = _at(page, position).locator(".jp-OutputArea-output")
    return "\n".join(outputs.all_text_contents())


def _at(page, position: int):
    place = f'[data-windowed-list-index="{position}"]'
    return page.locator(f".jp-NotebookPanel:visible .jp-Cell{place}")


def when_done(page) -> None:
    """Wait until no cell runs, or is to run; some train for a minute."""
    running = page.locator(".jp-NotebookPanel:visible .jp-InputPrompt")
    running.filter(has_text="[*]").first.wait_for(state="detached", timeout=_TRAINING)


def run_setup(page, *texts: str) -> None:
    """Run the code cells that have these texts, one after the other."""
    for text in texts:
        run_cell(page, text)
        when_idle(page)


def run_all_above(page) -> None:
    """Have all cells above the selected one run; the kernel does it in its time."""
    choose(page, "Run", "Run All Above Selected Cell")


def run_all(page, last: str) -> None:
    """Run all cells in a fresh kernel, until the last output, ``last``, is there."""
    choose(page, "Run", "Restart Kernel and Run All Cells…")
    page.click('.jp-Dialog button:has-text("Restart")')
    outputs = page.locator(".jp-NotebookPanel:visible .jp-OutputArea-output")
    outputs.filter(has_text=last).first.wait_for(state="attached")
    when_idle(page)


def validate(page) -> str:
    """Press nbgrader's Validate; what its dialog says."""
    page.locator(".validate-button:visible").first.click()
    page.wait_for_selector(".nbgrader-ErrorDialog, .nbgrader-SuccessDialog")
    return page.locator(".jp-Dialog").inner_text()


def close_dialog(page) -> None:
    page.locator(".jp-Dialog-footer button").last.click()


def show(wanted) -> None:
    """Scroll until a part of the page is at its top."""
    wanted.evaluate("part => part.scrollIntoView()")
