"""The store: one bare repository that holds every upstream tree and every applied series."""

from __future__ import annotations

import contextlib
import os
import re
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from musakit import files
from musakit.errors import CommandError, IntegrityError
from musakit.git.command import git, start_git

# An upstream's .gitattributes would convert line ends, expand keywords or run filters; a tree is bytes.
VERBATIM = "* -text -filter -ident -working-tree-encoding\n"

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path


class Entry(NamedTuple):
    """One file of a tree.

    Attributes:
        mode: git's mode, such as `100644`, `100755`, `120000`.
        blob: object id of the content, 40 hex digits.
    """

    mode: str
    blob: str


class Store(NamedTuple):
    """A bare git repository in musakit's cache.

    Attributes:
        path: its folder.
    """

    path: Path

    @classmethod
    def open(cls, path: Path) -> Store:
        """The store at `path`, made if it does not exist."""
        if not (path / "HEAD").is_file():
            _create(path)
        return cls(path)

    def git(
        self,
        *args: str | Path,
        stdin: bytes = b"",
        env: dict[str, str] | None = None,
        ok: tuple[int, ...] = (0,),
    ) -> bytes:
        """Standard output of `git ARGS` run on the store."""
        try:
            return git("--git-dir", self.path, *args, stdin=stdin, env=env, ok=ok)
        except CommandError as error:
            if not _DAMAGED.search(error.detail):
                raise
            raise self.damaged(error.detail) from error

    def damaged(self, detail: str) -> IntegrityError:
        """The error for a store whose objects or refs cannot be read."""
        place = str(self.path)
        return IntegrityError(
            f"the store `{place}` is damaged; it can be made again",
            hints=(f"mv {quote(place)} {quote(f'{place}.damaged')}",),
            detail=detail,
        )

    def resolve(self, revision: str) -> str | None:
        """Object id of a revision such as a ref or `COMMIT^{tree}`; None if the store does not have it."""
        existing = f"{revision}^{{object}}"  # a full id alone would resolve to itself
        found = self.git(
            "rev-parse", "--verify", "--quiet", "--end-of-options", existing, ok=(0, 1, 128)
        )
        return found.decode().strip() or None

    def tree_of(self, revision: str) -> str:
        """Tree id of a commit or tree.

        Raises:
            IntegrityError: the store does not have it.
        """
        found = self.resolve(f"{revision}^{{tree}}")
        if found is None:
            raise IntegrityError(f"`{revision}` is not in the store `{self.path}`")
        return found

    def set_ref(self, ref: str, target: str) -> None:
        """Point a ref at an object."""
        self.git("update-ref", ref, target)

    def entries(self, tree: str) -> dict[str, Entry]:
        """All files of a tree by path; bytes that are not UTF-8 stand as surrogate escapes."""
        return self.finish_listing(self.start_listing(tree))

    def start_listing(self, tree: str) -> subprocess.Popen[bytes]:
        """Have git list the files of a tree; `finish_listing` takes the list."""
        return start_git("--git-dir", self.path, "ls-tree", "-r", "-z", "--full-tree", tree)

    def finish_listing(self, process: subprocess.Popen[bytes]) -> dict[str, Entry]:
        """The list that `start_listing` began.

        Raises:
            IntegrityError: the store does not have the tree.
        """
        output, errors = process.communicate()
        if process.returncode:
            assert isinstance(process.args, list)
            tree = os.fsdecode(process.args[-1])
            text = f"`{tree}` is not in the store `{self.path}`"
            raise IntegrityError(text, detail=errors.decode(errors="replace").strip())
        listing = output.decode(errors="surrogateescape")
        found = {}
        for line in listing.split("\0")[:-1]:
            about, path = line.split("\t", 1)
            mode, _kind, blob = about.split(" ", 2)
            found[path] = Entry(mode, blob)
        return found

    def read(self, tree: str, path: str) -> bytes:
        """Content of one file of a tree.

        Raises:
            CommandError: the tree has no such file.
        """
        return self.git("cat-file", "blob", f"{tree}:{path}")

    def commit_tree(self, tree: str, parents: tuple[str, ...], message: str, date: str) -> str:
        """A commit by the sealed identity; the same arguments give the same id everywhere.

        Args:
            tree: its tree id.
            parents: its parents' ids.
            message: its message.
            date: author and committer date in git's raw form, `SECONDS +HHMM`.
        """
        stamp = f"@{date}"  # without the sign git takes small numbers for something else
        dates = {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp}
        links = [arg for parent in parents for arg in ("-p", parent)]
        return (
            self.git("commit-tree", tree, *links, stdin=message.encode(), env=dates)
            .decode()
            .strip()
        )

    @contextlib.contextmanager
    def quarantine(self) -> Iterator[Quarantine]:
        """A place for new objects that leaves nothing behind unless `Quarantine.release` is called."""
        with files.scratch_folder(self.path / "objects") as folder:
            (folder / "pack").mkdir()
            yield Quarantine(self, folder)

    @contextlib.contextmanager
    def export(self, tree: str) -> Iterator[Path]:
        """A temporary folder with the files of a tree, byte for byte, gone at the end."""
        from musakit.git.worktree import write_files

        with files.scratch_folder(self.path.parent / "tmp") as folder:
            write_files(self, tree, folder)
            yield folder


class Quarantine(NamedTuple):
    """New objects of a store that are not part of it yet.

    Attributes:
        store: the store whose objects they build on.
        folder: where they are.
    """

    store: Store
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What makes git write here and read the store as well."""
        return {
            "GIT_OBJECT_DIRECTORY": str(self.folder),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(self.store.path / "objects"),
        }

    def release(self) -> None:
        """Move the objects into the store: content before the index that makes it visible."""
        target = self.store.path / "objects"
        moves = sorted(
            (path for path in self.folder.rglob("*") if path.is_file()),
            key=lambda path: path.suffix == ".idx",
        )
        for path in moves:
            place = target / path.relative_to(self.folder)
            place.parent.mkdir(exist_ok=True)
            os.replace(path, place)  # noqa: PTH105 - also onto an equal object that another process has just brought


def _create(path: Path) -> None:
    """Make the repository beside its place and rename it, so that a half-made one is never seen."""
    with files.locked(path.parent / f".{path.name}.lock"):
        if (path / "HEAD").is_file():
            return
        with files.scratch_folder(path.parent) as folder:
            made = folder / "store"
            git("init", "--quiet", "--bare", "--template=", made)
            for key, value in _CONFIG.items():
                git("--git-dir", made, "config", key, value)
            (made / "info").mkdir(exist_ok=True)
            (made / "info" / "attributes").write_text(VERBATIM)
            made.rename(path)


_DAMAGED = re.compile(
    r"^(fatal|error): .*(corrupt|bad object|unable to read|bad (tree|ref|sha1)|inflate|packed-refs|"
    r"not a valid object|index file|could not read|dangling|broken)",
    re.IGNORECASE | re.MULTILINE,
)
_CONFIG = {
    "gc.pruneExpire": "never",  # work trees borrow objects that no ref of the store names any more
    "gc.auto": "0",  # objects that no ref names yet may be in use by another process
    "core.fsync": "none",  # a store can be made again at any time
    "fastimport.unpackLimit": "0",
    "core.compression": "1",
    "uploadpack.allowAnySHA1InWant": "true",
}
