"""Pages in a real browser: addresses open what they name, with and without the script."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from musakit.report.page.forecasted import forecast_page
from musakit.report.page.rebased import rebase_page
from tests.report.carried import hostile_rebase, stopped
from tests.report.samples import hostile_matrix, matrix

if TYPE_CHECKING:
    from pathlib import Path

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
pytestmark = pytest.mark.slow


def browse(folder: Path, page: bytes, fragment: str, *options: str) -> str:
    """What a browser prints after it has loaded the page at a fragment."""
    assert BROWSER, "there is no Chromium: apt-get install chromium"
    (folder / "page.html").write_bytes(page)
    done = subprocess.run(
        [
            *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"),
            *(f"--user-data-dir={folder / 'profile'}", *options),
            f"file://{folder / 'page.html'}{fragment}",
        ],
        capture_output=True,
        check=True,
        timeout=120,
    )
    errors = done.stderr.decode(errors="replace")
    assert "Content Security Policy" not in errors
    assert "CONSOLE" not in errors
    return done.stdout.decode()


def dom(folder: Path, page: bytes, fragment: str = "") -> str:
    """The document after scripts have run."""
    return browse(folder, page, fragment, "--dump-dom", "--virtual-time-budget=2000")


def picture(folder: Path, page: bytes, fragment: str = "") -> bytes:
    """The page as it looks."""
    path = folder / "page.png"
    browse(folder, page, fragment, f"--screenshot={path}", "--window-size=1200,800")
    return path.read_bytes()


def test_an_address_of_a_card_opens_it(tmp_path: Path) -> None:
    card = r'<details class="card"( open="")?>\s*<summary><span class="name" id="u1-p1"'
    page = rebase_page(stopped())
    closed, opened = (re.search(card, dom(tmp_path, page, to)) for to in ("", "#u1-p1"))
    assert closed is not None
    assert opened is not None
    assert (closed[1], bool(opened[1])) == (None, True)


def test_an_address_of_a_cell_marks_the_cells_that_share_it(tmp_path: Path) -> None:
    page = forecast_page(matrix())
    assert dom(tmp_path, page).count('aria-current="true"') == 0
    found = dom(tmp_path, page, "#p3-r11")
    cells = re.findall(r'<a class="(\w)" href="(#[\w-]+)"[^>]*aria-current="true"', found)
    assert cells == [("C", "#p3-r11")] * 5


def test_an_address_of_a_cell_shows_details_without_a_script(tmp_path: Path) -> None:
    page = re.sub(rb"<script>.*</script>", b"", forecast_page(matrix()), flags=re.DOTALL)
    plain = picture(tmp_path, page)
    opened = picture(tmp_path, page, "#p3-r11")
    assert plain != opened
    assert picture(tmp_path, page, "#-") == plain


def test_hostile_texts_do_nothing(tmp_path: Path) -> None:
    for page in (rebase_page(hostile_rebase()), forecast_page(hostile_matrix())):
        found = dom(tmp_path, page)
        assert found.count("<script>") == 1
        assert "<img" not in found
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in found
