"""All trees of a target as one program: modules by name across trees, and the syntax of what is asked about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from musakit.contract.finding import Site
from musakit.contract.layout import bases_in, packages_of
from musakit.contract.memory import Memory
from musakit.contract.sources import ChangedSources
from musakit.contract.syntax import Syntax

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from musakit.contract.sources import Sources
    from musakit.contract.table import Table

_Found = TypeVar("_Found")

_AHEAD = 64  # files that are read at once
_FEW = 200  # files that may differ for a tree to be searched in the place of another


class BrokenModule(Exception):
    """A file does not parse.

    Attributes:
        site: where.
        text: what Python says about it.
    """

    def __init__(self, site: Site, text: str) -> None:
        super().__init__(text)
        self.site = site
        self.text = text


@dataclass(frozen=True, eq=False)
class Module:
    """A module of the program.

    Attributes:
        tree: name of its tree.
        path: its file.
        name: dotted name.
        is_package: whether it is an `__init__.py`.
        table: what it defines.
    """

    tree: str
    path: str
    name: str
    is_package: bool
    table: Table

    def site(self, line: int, symbol: str = "") -> Site:
        """A place in it."""
        return Site(self.tree, self.path, line, symbol)

    def absolute(self, module: str) -> str:
        """Absolute name of a module that is imported here, with a dot for each level of a relative import."""
        level = len(module) - len(module.lstrip("."))
        if not level:
            return module
        parts = self.name.split(".")
        kept = parts[: len(parts) - level + (1 if self.is_package else 0)]
        return ".".join([*kept, module[level:]]).strip(".")


class Program:
    """Trees that run together.

    Args:
        trees: sources by tree name, such as `vllm` and `vllm-musa`.
        memory: what is known about blobs.
    """

    def __init__(self, trees: Mapping[str, Sources], memory: Memory) -> None:
        self.trees = dict(trees)
        self._packages = {tree: packages_of(sources) for tree, sources in self.trees.items()}
        self.syntax = Syntax(self)
        self._memory = memory
        self._modules: dict[str, Module | None] = {}
        self._sources: dict[tuple[str, str], bytes] = {}
        self._bases: dict[str, list[tuple[str, str]]] | None = None

    @classmethod
    def of(cls, trees: Mapping[str, Sources], cache: Path | None = None) -> Program:
        """The program of some trees.

        Args:
            trees: sources by tree name.
            cache: folder that remembers what files define; nothing is kept if None.
        """
        return cls(trees, Memory(cache))

    def on(self, trees: Mapping[str, Sources]) -> Program:
        """The program of other trees, which shares what is known about files; what differs little is found fast."""
        near = {name: self._near(name, sources) for name, sources in trees.items()}
        return Program(near, self._memory)

    def _near(self, name: str, sources: Sources) -> Sources:
        base = self.trees.get(name)
        if base is None:
            return sources
        if sources.key and sources.key == base.key:
            return base
        different = sum(base.blobs.get(path) != blob for path, blob in sources.blobs.items())
        return ChangedSources(sources, base) if different <= _FEW else sources

    def close(self) -> None:
        """Let go of what is open and write what was learnt to the cache."""
        for sources in self.trees.values():
            sources.close()
        self._memory.save()

    def module(self, name: str) -> Module | None:
        """The module of that dotted name; None if no tree has it.

        Raises:
            BrokenModule: its file does not parse.
        """
        if name not in self._modules:
            self._modules[name] = self._find(name)
        module = self._modules[name]
        if module is not None and module.table.problem is not None:
            line, text = module.table.problem
            raise BrokenModule(module.site(line), text)
        return module

    def _find(self, name: str) -> Module | None:
        top, _, rest = name.partition(".")
        for tree, packages in self._packages.items():
            if top not in packages:
                continue
            stem = packages[top] + (f"/{rest.replace('.', '/')}" if rest else "")
            for path in (f"{stem}/__init__.py", f"{stem}.py"):
                if path in self.trees[tree].blobs:
                    table = self.table(tree, path)
                    return Module(tree, path, name, path.endswith("/__init__.py"), table)
        return None

    def place_for(self, name: str) -> tuple[str, str] | None:
        """Tree and path that a module of that dotted name would have; None if no tree has its top-level package."""
        top, _, rest = name.partition(".")
        for tree, packages in self._packages.items():
            if top in packages:
                return tree, packages[top] + (f"/{rest.replace('.', '/')}" if rest else "") + ".py"
        return None

    def module_at(self, tree: str, path: str) -> Module | None:
        """The module that a file of a tree is; None if it is no part of what is installed.

        Raises:
            BrokenModule: it does not parse.
        """
        stem = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__")
        module = self.module(stem.replace("/", "."))
        return module if module is not None and (module.tree, module.path) == (tree, path) else None

    def has_package(self, name: str) -> bool:
        """Whether a tree has a folder of that dotted name with Python files, so that it can be imported from."""
        return any(path.endswith(".py") for _tree, path in self.files_of(name))

    def owns(self, name: str) -> bool:
        """Whether the top-level package of a dotted name is in one of the trees."""
        top = name.split(".", maxsplit=1)[0]
        return any(top in packages for packages in self._packages.values())

    def files_of(self, package: str) -> list[tuple[str, str]]:
        """Tree and path of each file of a package, sorted."""
        top, _, rest = package.partition(".")
        found = []
        for tree, packages in self._packages.items():
            if top in packages:
                stem = packages[top] + (f"/{rest.replace('.', '/')}" if rest else "")
                found += [
                    (tree, path)
                    for path in self.trees[tree].blobs
                    if path.startswith(f"{stem}/") or path == f"{stem}.py"
                ]
        return sorted(found)

    def table(self, tree: str, path: str) -> Table:
        """What a file defines."""
        blob = self.trees[tree].blobs[path]
        return self._memory.table(blob, lambda: self.source(tree, path))

    def source(self, tree: str, path: str) -> bytes:
        """Content of a file."""
        if (tree, path) not in self._sources:
            self.read_ahead(tree, [path])
        return self._sources[tree, path]

    def read_ahead(self, tree: str, paths: Iterable[str]) -> None:
        """Read files that are going to be asked for."""
        wanted = [path for path in paths if (tree, path) not in self._sources]
        for start in range(0, len(wanted), _AHEAD):
            found = self.trees[tree].read(wanted[start : start + _AHEAD])
            self._sources.update({(tree, path): data for path, data in found.items()})

    def mentioning(self, word: str) -> list[tuple[str, str]]:
        """Tree and path of the files that contain a word, in the order of the trees."""
        found: list[tuple[str, str]] = []
        for tree, sources in self.trees.items():

            def find(sources: Sources = sources) -> list[str]:
                return list(sources.mentioning(word))

            paths = self._of_tree(sources, word, find)
            found += [(tree, path) for path in paths if self._is_installed(tree, path)]
        return found

    def _of_tree(self, sources: Sources, key: str, find: Callable[[], _Found]) -> _Found:
        found: _Found = self._memory.tree_fact(sources.key, key, find) if sources.key else find()
        return found

    def derived_from(self, name: str) -> list[tuple[str, str]]:
        """Tree and path of the files in which a class may have a base of that name."""
        if self._bases is None:
            self._bases = {}
            for tree, sources in self.trees.items():

                def find(sources: Sources = sources) -> dict[str, list[str]]:
                    return bases_in(sources)

                index = self._of_tree(sources, " bases", find)
                for base, paths in index.items():
                    found = self._bases.setdefault(base, [])
                    found += [(tree, path) for path in paths if self._is_installed(tree, path)]
        return self._bases.get(name, [])

    def _is_installed(self, tree: str, path: str) -> bool:
        top = path.removeprefix("src/").removesuffix(".py").split("/", 1)[0]
        place = self._packages[tree].get(top)
        return place is not None and path.startswith((f"{place}/", f"{place}.py"))

    def memory_of(self, tree: str, path: str) -> tuple[Memory, str]:
        """Where facts about a file can be kept, and its blob id."""
        return self._memory, self.trees[tree].blobs[path]
