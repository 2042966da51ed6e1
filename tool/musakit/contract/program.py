"""All trees of a target as one program: modules by name across trees, and the syntax of what is asked about."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from musakit.contract.finding import Site
from musakit.contract.memory import Memory
from musakit.contract.table import Table, parse_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from musakit.contract.sources import Sources
    from musakit.contract.table import Class, Function, Name

_ROOTS = ("", "src/")
_AHEAD = 64  # files that are read at once


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
        self._memory = memory
        self._modules: dict[str, Module | None] = {}
        self._sources: dict[tuple[str, str], bytes] = {}
        self._lines: dict[tuple[str, str], list[str]] = {}
        self._syntax: dict[tuple[str, str], ast.Module] = {}
        self._nodes: dict[tuple[str, str, int, int], list[ast.stmt]] = {}

    @classmethod
    def of(cls, trees: Mapping[str, Sources], cache: Path | None = None) -> Program:
        """The program of some trees.

        Args:
            trees: sources by tree name.
            cache: folder that remembers what files define; nothing is kept if None.
        """
        return cls(trees, Memory(cache))

    def on(self, trees: Mapping[str, Sources]) -> Program:
        """The program of other trees that shares what is known about files."""
        return Program(trees, self._memory)

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
        stem = name.replace(".", "/")
        for tree, sources in self.trees.items():
            for root in _ROOTS:
                for path in (f"{root}{stem}/__init__.py", f"{root}{stem}.py"):
                    if path in sources.blobs:
                        table = self.table(tree, path)
                        return Module(tree, path, name, path.endswith("/__init__.py"), table)
        return None

    def module_at(self, tree: str, path: str) -> Module | None:
        """The module that a file of a tree is.

        Raises:
            BrokenModule: it does not parse.
        """
        stem = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__")
        module = self.module(stem.replace("/", "."))
        return module if module is not None and (module.tree, module.path) == (tree, path) else None

    def has_package(self, name: str) -> bool:
        """Whether a tree has a folder of that dotted name with Python files, so that it can be imported from."""
        stem = name.replace(".", "/")
        return any(
            path.startswith(f"{root}{stem}/")
            for sources in self.trees.values()
            for path in sources.blobs
            for root in _ROOTS
        )

    def owns(self, name: str) -> bool:
        """Whether the top-level package of a dotted name is in one of the trees."""
        top = name.split(".")[0]
        return self._top(top)

    def _top(self, top: str) -> bool:
        return any(
            f"{root}{top}{end}" in sources.blobs
            for sources in self.trees.values()
            for root in _ROOTS
            for end in ("/__init__.py", ".py")
        )

    def files_of(self, package: str) -> list[tuple[str, str]]:
        """Tree and path of each file of a package, sorted."""
        stem = package.replace(".", "/")
        return sorted(
            (tree, path)
            for tree, sources in self.trees.items()
            for path in sources.blobs
            if any(path.startswith(f"{root}{stem}/") or path == f"{root}{stem}.py" for root in _ROOTS)
        )

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

            paths = self._memory.fact(f"{sources.key} {word}", find) if sources.key else find()
            found += [(tree, path) for path in paths if path in sources.blobs]
        return found

    def memory_of(self, tree: str, path: str) -> tuple[Memory, str]:
        """Where facts about a file can be kept, and its blob id."""
        return self._memory, self.trees[tree].blobs[path]

    def syntax(self, module: Module) -> ast.Module:
        """The whole syntax tree of a module."""
        key = (module.tree, module.path)
        if key not in self._syntax:
            self._syntax[key] = parse_source(self.source(*key))
        return self._syntax[key]

    def statements(self, module: Module, first: int, last: int) -> list[ast.stmt]:
        """Syntax of the statements in some lines of a module; the rest of the file is not parsed if it can be avoided.

        Lines of the nodes are those of the file.
        """
        key = (module.tree, module.path, first, last)
        if key not in self._nodes:
            try:
                self._nodes[key] = self._parse_lines(module, first, last)
            except SyntaxError:  # the lines do not stand alone, as after `else:`
                self._nodes[key] = [
                    node
                    for node in ast.walk(self.syntax(module))
                    if isinstance(node, ast.stmt) and first <= node.lineno <= last
                ]
        return self._nodes[key]

    def _parse_lines(self, module: Module, first: int, last: int) -> list[ast.stmt]:
        lines = self._lines_of(module)[first - 1 : last]
        indented = lines[0][:1] in {" ", "\t"}
        head = ["if 1:"] if indented else []
        tree = ast.parse("\n".join([*head, *lines]))
        ast.increment_lineno(tree, first - 1 - len(head))
        inner = tree.body[0] if indented else tree
        assert isinstance(inner, (ast.If, ast.Module))
        return inner.body

    def text(self, module: Module, first: int, last: int) -> str:
        """Lines of a module."""
        return "\n".join(self._lines_of(module)[first - 1 : last])

    def _lines_of(self, module: Module) -> list[str]:
        key = (module.tree, module.path)
        if key not in self._lines:
            text = self.source(*key).decode(errors="replace").removeprefix("\ufeff")
            plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", " ")
            self._lines[key] = plain.split("\n")
        return self._lines[key]

    def function_node(
        self, module: Module, function: Function
    ) -> ast.FunctionDef | ast.AsyncFunctionDef:
        """Syntax of a function."""
        for node in self._within(module, function.start, function.end):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return node
        raise AssertionError(f"no function in {module.path}:{function.start}")

    def class_node(self, module: Module, cls: Class) -> ast.ClassDef:
        """Syntax of a class."""
        for node in self._within(module, cls.start, cls.end):
            if isinstance(node, ast.ClassDef):
                return node
        raise AssertionError(f"no class in {module.path}:{cls.start}")

    def value_of(self, module: Module, name: Name) -> ast.expr | None:
        """The expression that a name is assigned; None if it is unpacked, counted up, or the like."""
        for node in self._within(module, name.line, name.end):
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, ast.AnnAssign):
                targets = [node.target]
            else:
                continue
            if any(isinstance(target, ast.Name) and target.id == name.name for target in targets):
                return node.value
        return None

    def _within(self, module: Module, first: int, last: int) -> Iterator[ast.AST]:
        for statement in self.statements(module, first, last):
            yield from ast.walk(statement)
