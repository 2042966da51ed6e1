"""The functions that lines of a tree are in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from musakit.contract.analysis import Analysis
from musakit.contract.methods import Methods
from musakit.contract.program import Module, Program
from musakit.contract.sources import StoreSources
from musakit.rebase.declared import ClassesAlone, DeclaredReceivers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from musakit.contract.memory import Memory
    from musakit.contract.table import Class, Function
    from musakit.git.store import Store
    from musakit.rebase.parameters import Definition

_OWN = "upstream"  # name of the tree in its program; those beside it are numbered


class _AnalysisAlone(Analysis):
    """What can be known about a program from the files that names lead to."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.classes = ClassesAlone(self.scope)
        self.methods = Methods(self.classes)
        self.receivers = DeclaredReceivers(self.classes)


class Tree:
    """A tree, and what its files define.

    Args:
        store: where it is.
        tree: id of the tree, or of a commit.
        beside: trees that are installed along with it.
        memory: what is known about blobs.
    """

    def __init__(self, store: Store, tree: str, beside: Sequence[str], memory: Memory) -> None:
        trees = {_OWN: StoreSources(store, tree)}
        trees |= {str(number): StoreSources(store, one) for number, one in enumerate(beside)}
        self.id = tree
        self.program = Program(trees, memory)
        self.analysis: Analysis = _AnalysisAlone(self.program)

    def has(self, path: str) -> bool:
        """Whether it has a Python file of that path."""
        return path in self.program.trees[_OWN].blobs

    def problem(self, path: str) -> tuple[int, str] | None:
        """Line and text of a file's syntax error; None if it parses."""
        return self.program.table(_OWN, path).problem

    def module(self, path: str) -> Module | None:
        """The module that a file is, without a name if it is not installed; None if there is none that parses."""
        if not self.has(path) or self.problem(path) is not None:
            return None
        found = self.program.module_at(_OWN, path)
        return found or Module(_OWN, path, "", False, self.program.table(_OWN, path))  # noqa: FBT003

    def functions(self, path: str) -> list[Function]:
        """Functions and methods of a file; those inside others are part of them."""
        module = self.module(path)
        if module is None:
            return []
        methods = (function for cls in module.table.classes for function in cls.functions)
        return sorted([*module.table.functions, *methods], key=lambda one: one.start)

    def scopes(self, path: str) -> list[Function | Class]:
        """Functions and classes of a file, outer ones before what is in them."""
        module = self.module(path)
        classes = module.table.classes if module is not None else ()
        return sorted([*classes, *self.functions(path)], key=lambda one: (one.start, -one.end))

    def around(self, path: str, lines: Iterable[int]) -> list[Function]:
        """The functions that some lines of a file are in, in order."""
        wanted = list(lines)
        return [
            function
            for function in self.functions(path)
            if any(function.start <= line <= function.end for line in wanted)
        ]

    def named(self, path: str, name: str) -> Function | None:
        """The function of a qualified name; the last one if it is defined in several branches."""
        return next((one for one in reversed(self.functions(path)) if one.name == name), None)

    def defines(self, path: str, name: str) -> bool:
        """Whether a file has a function or class of a qualified name."""
        return any(one.name == name for one in self.scopes(path))

    def definition(self, path: str, function: Function) -> Definition:
        """Syntax of a function."""
        module = self.module(path)
        assert module is not None
        return self.program.syntax.function_node(module, function)

    def text(self, path: str, function: Function) -> str:
        """Lines of a function."""
        module = self.module(path)
        assert module is not None
        return self.program.syntax.text(module, function.start, function.end)

    def close(self) -> None:
        """Let go of what is open."""
        self.program.close()
