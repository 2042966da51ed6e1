"""Fetches one exact commit of a remote repository into a repository of its own.

The user's git configuration speaks for the transport here (credentials, proxies, `insteadOf`). It cannot change
what comes out, since that is named by its id.
"""

from __future__ import annotations

import contextlib
import os
import re
from shlex import quote
from typing import TYPE_CHECKING

from musakit import files
from musakit.errors import CommandError, NetworkError
from musakit.git.command import git
from musakit.git.store import Store
from musakit.process import public_url, redacted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from git import RemoteProgress

    Report = Callable[[str, int, int | None], None]

# What git says when a server gives no single commits away, or none without its history.
_NOT_SINGLY = re.compile(
    r"not our ref|unadvertised object|does not support shallow|dumb http|shallow file|not support --depth"
)
_EVERYTHING = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_WITH_HEAD = (*_EVERYTHING, "+HEAD:refs/musakit/head")

# No program of ours or the user's runs on what comes in, and nothing but the fetch itself is done.
_CONFIG = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "fetch.fsckObjects": "true",
    "fetch.recurseSubmodules": "false",
    "fetch.writeCommitGraph": "false",
    "fetch.unpackLimit": "1",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.ext.allow": "never",
}


@contextlib.contextmanager
def fetched(url: str, commit: str, parent: Path, report: Report) -> Iterator[Store]:
    """A temporary repository that has one commit of a remote; gone at the end.

    The commit alone is asked for; where the server refuses that, all branches and tags with their history.

    Args:
        url: where to fetch from.
        commit: the full commit id.
        parent: folder to make the repository in.
        report: told about progress: step, done, total.

    Raises:
        NetworkError: the remote cannot be reached, or does not have the commit.
    """
    with files.scratch_folder(parent) as folder:
        repository = folder / "fetched.git"
        _create(repository)
        if not _fetch(repository, url, (commit,), report, depth=1):
            _fetch(repository, url, _EVERYTHING, report)
        store = Store(repository)
        if store.resolve(f"{commit}^{{commit}}") != commit:
            raise NetworkError(
                f"`{public_url(url)}` does not have commit `{commit}` on any branch or tag",
                hints=(f"git ls-remote {quote(public_url(url))}",),
            )
        yield store


def keep_history(url: str, repository: Path, report: Report) -> None:
    """Bring all branches and tags of a remote, with their history, into a repository that stays.

    Its default branch becomes the ref `refs/musakit/head`.

    Args:
        url: where to fetch from.
        repository: the bare repository, made if it does not exist.
        report: told about progress: step, done, total.

    Raises:
        NetworkError: the remote cannot be reached.
    """
    with files.locked(repository.with_suffix(".lock")):
        if not (repository / "HEAD").is_file():
            with files.scratch_folder(repository.parent) as folder:
                _create(folder / "made")
                _fetch(folder / "made", url, _WITH_HEAD, report)
                (folder / "made").rename(repository)
        else:
            _fetch(repository, url, _WITH_HEAD, report)


def _create(repository: Path) -> None:
    git("init", "--quiet", "--bare", "--template=", repository)
    for key, value in _CONFIG.items():
        git("--git-dir", repository, "config", key, value)


def _fetch(
    repository: Path,
    url: str,
    refspecs: tuple[str, ...],
    report: Report,
    depth: int | None = None,
) -> bool:
    """Fetch; False if the server does not give single commits away.

    Raises:
        CommandError: git cannot be started.
        NetworkError: it failed for another reason.
    """
    _require_git()
    from git import Git, GitCommandError, GitCommandNotFound, cmd

    program = Git(str(repository))
    program.update_environment(**_environment(repository))
    progress = _progress(report)
    options = {} if depth is None else {"depth": depth}
    try:
        running = program.fetch(
            *("--no-tags", "--no-recurse-submodules", "--progress", "--", url, *refspecs),
            insert_kwargs_after="--progress",
            as_process=True,
            universal_newlines=True,
            **options,
        )
    except GitCommandNotFound as error:
        raise CommandError(f"cannot start `{Git.GIT_PYTHON_GIT_EXECUTABLE}`") from error
    try:
        cmd.handle_process_output(
            running, None, progress.new_message_handler(), decode_streams=False
        )
        running.wait()
    except GitCommandError as error:
        said = "\n".join([*progress.error_lines, *progress.other_lines])
        if depth is not None and _NOT_SINGLY.search(said):
            return False
        raise _explain(url, said) from error
    return True


def _require_git() -> None:
    """Import GitPython, which looks for git on its own and is confused by a variable of the user's."""
    try:
        import git  # noqa: F401
    except ImportError as error:
        named = os.environ.get("GIT_PYTHON_GIT_EXECUTABLE")
        where = f", which `GIT_PYTHON_GIT_EXECUTABLE` names as `{named}`" if named else ""
        raise CommandError(f"cannot start git{where}") from error


def _environment(repository: Path) -> dict[str, str]:
    """What keeps a caller's own repository (a git hook's, for instance) out of it."""
    return {
        "GIT_DIR": str(repository),
        "GIT_OBJECT_DIRECTORY": str(repository / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
        "GIT_NAMESPACE": "",
        "GIT_TERMINAL_PROMPT": "0",
    }


def _progress(report: Report) -> RemoteProgress:
    from git import RemoteProgress

    names = {
        RemoteProgress.COUNTING: "counting objects",
        RemoteProgress.COMPRESSING: "compressing objects",
        RemoteProgress.RECEIVING: "receiving objects",
        RemoteProgress.RESOLVING: "resolving deltas",
    }

    class Progress(RemoteProgress):
        def update(
            self,
            op_code: int,
            cur_count: str | float,
            max_count: str | float | None = None,
            message: str = "",  # noqa: ARG002 - the library's signature
        ) -> None:
            step = names.get(op_code & self.OP_MASK)
            if step is not None:
                report(step, int(float(cur_count)), int(float(max_count)) if max_count else None)

    return Progress()


def _explain(url: str, said: str) -> NetworkError:
    # git may show the url with its own quotes around a password that has some too.
    shown = redacted(said.replace(url, public_url(url)))
    lines = [line for line in shown.splitlines() if line.strip()]
    reason = next((line for line in lines if line.startswith(("fatal:", "error:"))), "")
    text = reason.partition(":")[2].strip() or "git fetch failed"
    return NetworkError(
        f"cannot fetch from `{public_url(url)}`: {text[:1].lower() + text[1:]}",
        detail="\n".join(lines),
    )
