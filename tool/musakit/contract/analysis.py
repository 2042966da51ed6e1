"""Everything that the kinds of entries ask of a program, and the symbols that entries name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from musakit.contract.classes import Classes
from musakit.contract.finding import Site
from musakit.contract.methods import Methods
from musakit.contract.receivers import Receivers
from musakit.contract.scope import Scope
from musakit.contract.symbols import (
    ClassSymbol,
    FunctionSymbol,
    Symbol,
    Unknown,
    key_of,
    parse_symbol,
)

_Found = TypeVar("_Found")

if TYPE_CHECKING:
    from collections.abc import Callable

    from musakit.contract.program import Module, Program


class Missing(Exception):
    """A symbol that an entry names is in none of the trees.

    Attributes:
        text: what is missing, one sentence.
        site: the file that should have it; None if that is missing itself.
    """

    def __init__(self, text: str, site: Site | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.site = site


class Undecided(Exception):
    """What an entry asks cannot be read from the sources.

    Attributes:
        reason: why, one sentence.
        site: where that shows; None if nowhere.
    """

    def __init__(self, reason: str, site: Site | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.site = site


class Analysis:
    """A program with all that is known about it.

    Args:
        program: the program.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.scope = Scope(program)
        self.classes = Classes(self.scope)
        self.methods = Methods(self.classes)
        self.receivers = Receivers(self.classes)
        self._remembered: dict[object, Any] = {}

    def remember(self, key: object, find: Callable[[], _Found]) -> _Found:
        """What `find` gives, found once for each key."""
        if key not in self._remembered:
            self._remembered[key] = find()
        found: _Found = self._remembered[key]
        return found

    def module(self, name: str) -> Module:
        """The module of that name.

        Raises:
            Missing: no tree has it.
        """
        module = self.program.module(name)
        if module is None:
            place = self.program.place_for(name)
            trees = [place[0]] if place is not None else list(self.program.trees)
            named = " and ".join(f"`{tree}`" for tree in trees)
            site = Site(*place, 0) if place is not None else None
            raise Missing(f"there is no module `{name}` in {named}", site)
        return module

    def symbols(self, text: str) -> tuple[Symbol, ...]:
        """What `package.module:Class.method` stands for, inherited methods included.

        Raises:
            Missing: there is no such thing.
        """
        module_name, name = parse_symbol(text)
        module = self.module(module_name)
        if not name:
            return (module,)
        first, *rest = name.split(".")
        found = self.scope.lookup(module, first)
        for part in rest:
            found = tuple(one for symbol in found for one in self._member(symbol, part))
        if not found:
            raise Missing(self._absent(module, name), Site(module.tree, module.path, 0))
        return found

    def _member(self, symbol: Symbol, name: str) -> tuple[Symbol, ...]:
        if isinstance(symbol, ClassSymbol):
            found = self.classes.find(symbol, name)
            return () if found is None else (found,)
        return self.scope.member(symbol, name)

    def _absent(self, module: Module, name: str) -> str:
        import difflib

        first, _, rest = name.partition(".")
        known = [item.name for item in module.table.names]
        if rest:
            members = [cls for cls in module.table.classes if cls.name == first]
            known = [f"{first}.{item.name}" for cls in members for item in cls.names] or known
        near = difflib.get_close_matches(name, known, n=1)
        guess = f"; the nearest is `{near[0]}`" if near else ""
        return f"`{module.name}` has no `{name}`{guess}"

    def class_symbols(self, text: str) -> tuple[ClassSymbol, ...]:
        """The class of that name, or all that the name can stand for.

        Raises:
            Missing: there is no such class.
            Undecided: what the name stands for cannot be read.
        """
        found = self.symbols(text)
        classes = tuple(one for one in found if isinstance(one, ClassSymbol))
        for one in found:
            if isinstance(one, Unknown):
                raise Undecided(f"`{text}` cannot be read: {one.reason}")
            if not isinstance(one, ClassSymbol):
                raise Missing(f"`{text}` is no class but `{key_of(one)}`")
        return classes

    def function(self, text: str) -> tuple[FunctionSymbol, ClassSymbol | None]:
        """The function of that name, with its class if it is a method.

        Raises:
            Missing: there is no such function.
            Undecided: what the name stands for cannot be read.
        """
        found = self.symbols(text)
        if len(found) > 1:
            raise Undecided(f"`{text}` is defined in several branches")
        (symbol,) = found
        if isinstance(symbol, Unknown):
            raise Undecided(f"`{text}` cannot be read: {symbol.reason}")
        if not isinstance(symbol, FunctionSymbol):
            raise Missing(f"`{text}` is no function")
        owner = ClassSymbol(symbol.module, symbol.owner) if symbol.owner is not None else None
        return symbol, owner

    def site(self, symbol: FunctionSymbol | ClassSymbol) -> Site:
        """Where a function or class is defined."""
        if isinstance(symbol, FunctionSymbol):
            return symbol.module.site(symbol.function.line, symbol.function.name)
        return symbol.module.site(symbol.cls.line, symbol.cls.name)
