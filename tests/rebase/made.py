"""A made project: an upstream in two releases, and a long series on the first that meets everything on the second."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from musakit.git.store import Store
from musakit.series.export import export_series, name_patches
from tests.builders import Change, File, commit

if TYPE_CHECKING:
    from pathlib import Path

_BLOCKS = 5  # places of a file that patches change


class Made(NamedTuple):
    """A project in a folder.

    Attributes:
        folder: the project.
        conflicting: patches that need a person, in order; the last one waits for the one before it.
        upstreamed: patches that the second release has.
        partly: a patch of which the second release has one hunk.
    """

    folder: Path
    conflicting: tuple[str, ...]
    upstreamed: tuple[str, ...]
    partly: str


def make_project(folder: Path, patches: int) -> Made:
    """A target `demo` with a series of that many patches on `demo 1.0`, from a mirror; `release-2` has the next."""
    count = -(-patches // _BLOCKS)
    names = [f"pkg/m{number:02}.py" for number in range(count)]
    old = {name: _lines(name) for name in names}
    _write_folder(folder / "release-1", old)
    series = [_edited(old, names, number) for number in range(patches)]
    changes, lines = [], {name: list(text) for name, text in old.items()}
    for number, edits in enumerate(series):
        for path, at, text in edits:
            lines[path][at] = text
        changes.append(_change(number, {path: _text(text) for path, text in lines.items()}))
    store = Store.open(folder.parent / "made.git")
    base = commit(
        store, [Change({path: File(_text(text)) for path, text in old.items()}, b"base\n")]
    )
    tip = commit(store, changes, base[0])[-1]
    data = export_series(store, base[0], tip)
    files = name_patches(f"Patch {number:03}" for number in range(patches))
    _write_target(folder, dict(zip(files, data, strict=True)))
    return _write_release_2(folder, old, series, files)


def _lines(name: str) -> list[str]:
    """Lines of which no two are alike, with room around each place that is changed."""
    return [f"{name[4:7]}_{number:02} = {number}" for number in range(20 * _BLOCKS)]


def _place(number: int, names: list[str]) -> tuple[str, int]:
    return names[number // _BLOCKS], 20 * (number % _BLOCKS) + 10


def _edited(old: dict[str, list[str]], names: list[str], number: int) -> list[tuple[str, int, str]]:
    """The lines that a patch changes; some change two files, or a line that the one before has changed."""
    path, at = _place(number, names)
    edits = [(path, at, f"patched = {number}")]
    if number % 10 == 3:
        edits.append((path, at - 9, f"also = {number}"))
    if number % 10 == 9:
        edits.append(
            (_place(number - 1, names)[0], _place(number - 1, names)[1], f"again = {number}")
        )
    return edits


def _change(number: int, texts: dict[str, bytes]) -> Change:
    message = f"Patch {number:03}\n\nSubject-Area: pairing\nReason: the test needs it\n"
    files = {path: File(text) for path, text in texts.items()}
    return Change(files, message.encode(), date=f"{1_800_000_000 + number} +0000")


def _text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _write_folder(folder: Path, files: dict[str, list[str]]) -> None:
    for path, lines in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(_text(lines))


def _write_target(folder: Path, patches: dict[str, bytes]) -> None:
    target = folder / "patches" / "demo"
    (target / "demo").mkdir(parents=True)
    (folder / "patches" / "default").write_text("demo\n")
    (target / "target.toml").write_text(
        'schema = 1\nlabel = "musa1"  # 1.0+musa1\npython = ">=3.10"\n\n[upstream.demo]\nversion = "1.0"\n\n'
        '[[upstream.demo.source]]\nmirror = "../../release-1"\n'
    )
    for name, data in patches.items():
        (target / "demo" / name).write_bytes(data)
    (target / "demo" / "series").write_text("# in order\n" + "".join(f"{n}\n" for n in patches))


def _write_release_2(
    folder: Path,
    old: dict[str, list[str]],
    series: list[list[tuple[str, int, str]]],
    files: tuple[str, ...],
) -> Made:
    """The second release: lines above that move everything, lines of patches, and other lines in their places."""
    new = {name: list(text) for name, text in old.items()}
    upstreamed = [number for number in range(len(series)) if number % 50 == 5]
    partly = 13 if len(series) > 13 else 3
    # 8 and 9 change the same line, so that 9 waits for 8.
    conflicting = [1, 8, *([len(series) // 2 + 1] if len(series) > 40 else [])]
    for number in upstreamed:
        for path, at, text in series[number]:
            new[path][at] = text
    path, at, text = series[partly][1]
    new[path][at] = text
    for number in conflicting:
        path, at, _ = series[number][0]
        new[path][at] = f"upstream = {number}"
    for number, name in enumerate(new):
        if number % 3 == 0:
            new[name] = [f"new = {line}" for line in range(number + 1)] + new[name]
    _write_folder(folder / "release-2", new)
    waits = [files[number] for number in sorted([*conflicting, 9])]
    return Made(folder, tuple(waits), tuple(files[number] for number in upstreamed), files[partly])
