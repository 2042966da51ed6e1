"""Finds what a name stands for by reading imports, assignments and definitions."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from musakit.contract.program import Module
from musakit.contract.symbols import (
    ClassSymbol,
    External,
    FunctionSymbol,
    Symbol,
    Unknown,
    ValueSymbol,
    key_of,
    unique,
)
from musakit.contract.table import ALWAYS, EXCEPT, MAYBE, TRY, TYPING
from musakit.contract.tabulate import TableBody, expression_text

if TYPE_CHECKING:
    from musakit.contract.program import Program
    from musakit.contract.table import Name

_BUILTINS = frozenset(dir(builtins))


class Scope:
    """Looks names up in one program.

    Args:
        program: the program.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._found: dict[tuple[str, str, bool, bool], tuple[Symbol, ...]] = {}
        self._searching: set[tuple[str, str, bool, bool]] = set()

    def resolve(self, module: Module, dotted: str, *, typing: bool = False) -> tuple[Symbol, ...]:
        """What a dotted name can stand for at the top level of a module, without duplicates; empty if nothing.

        Args:
            module: where it is written.
            dotted: such as `torch.nn.Module`.
            typing: whether names that only type checkers see count.
        """
        first, *rest = dotted.split(".")
        found = self.lookup(module, first, typing=typing, inside=True)
        if not found and first in _BUILTINS:
            found = (External(f"builtins.{first}"),)
        for name in rest:
            found = unique(one for symbol in found for one in self.member(symbol, name))
        return found

    def lookup(
        self, module: Module, name: str, *, typing: bool = False, inside: bool = False
    ) -> tuple[Symbol, ...]:
        """What a name at the top level of a module can stand for; empty if the module does not have it.

        Args:
            module: the module.
            name: the name.
            typing: whether names that only type checkers see count.
            inside: whether code of the module itself reads it, which sees no submodule and no `__getattr__`.

        Raises:
            BrokenModule: a module on the way does not parse.
        """
        key = (module.name, name, typing, inside)
        if key in self._searching:
            return (Unknown(f"`{name}` of `{module.name}` is imported in a circle"),)
        if key not in self._found:
            self._searching.add(key)
            try:
                found = self._lookup(module, name, typing=typing)
                self._found[key] = unique(
                    found or ([] if inside else self._from_outside(module, name))
                )
            finally:
                self._searching.discard(key)
        return self._found[key]

    def _lookup(self, module: Module, name: str, *, typing: bool) -> list[Symbol]:
        named = [item for item in module.table.names if item.name == name]
        real = [item for item in named if item.when != TYPING and item.kind != "annotation"]
        if real:
            return self._choose(module, real)
        if typing and (seen := [item for item in named if item.kind != "annotation"]):
            return self._choose(module, [item._replace(when=ALWAYS) for item in seen])
        starred = self._from_stars(module, name, typing=typing)
        if not starred and any(item.when != TYPING for item in named):
            return [Unknown(f"`{name}` is declared in `{module.name}` and assigned elsewhere")]
        return starred

    def _from_outside(self, module: Module, name: str) -> list[Symbol]:
        """What importing a name gives that the module does not bind: a submodule, or what `__getattr__` makes."""
        if module.is_package:
            below = self.program.module(f"{module.name}.{name}")
            if below is not None:
                return [below]
        if any(item.name == "__getattr__" for item in module.table.names):
            return [Unknown(f"`{name}` is left to the function `__getattr__` of `{module.name}`")]
        return []

    def _choose(self, module: Module, names: list[Name]) -> list[Symbol]:
        """Of several bindings, those that may be in force at the end."""
        found: list[Symbol] = []
        fallback: list[Symbol] = []
        for item in reversed(names):
            symbols = self._bound(module, item)
            if item.when == EXCEPT:
                fallback += symbols
            elif item.when == TRY:
                if not symbols:
                    continue  # this import fails
                certain = item.kind not in {"import", "from"} or self._is_ours(symbols)
                found += symbols if certain else [*symbols, *fallback]
                fallback = []
                if certain:
                    return found
            else:
                found += symbols
                if item.when != MAYBE:
                    return [*found, *fallback]
        return [*found, *fallback]

    def _is_ours(self, symbols: tuple[Symbol, ...]) -> bool:
        return not any(isinstance(symbol, (External, Unknown)) for symbol in symbols)

    def _bound(self, module: Module, item: Name) -> tuple[Symbol, ...]:
        """What one binding gives; empty if it is an import that fails."""
        if item.kind == "import":
            return self._module(item.source, item.module)
        if item.kind == "from":
            return self.imported(module, item)
        if item.kind == "class":
            classes = [cls for cls in module.table.classes if cls.name == item.name]
            return tuple(ClassSymbol(module, cls) for cls in classes if cls.end == item.end)
        if item.kind == "def":
            functions = [fn for fn in module.table.functions if fn.name == item.name]
            return tuple(FunctionSymbol(module, fn) for fn in functions if fn.end == item.end)
        return self._assigned(ValueSymbol(module, item))

    def imported(self, module: Module, item: Name) -> tuple[Symbol, ...]:
        """What `from MODULE import NAME` gives; empty if it fails."""
        name = module.absolute(item.module)
        source = self.program.module(name)
        if source is not None:
            return self.lookup(source, item.source)
        if self.program.owns(name):
            below = self.program.module(f"{name}.{item.source}")
            return (below,) if below is not None else ()
        return (External(f"{name}.{item.source}"),)

    def imported_by(
        self, module: Module, node: ast.Import | ast.ImportFrom, name: str
    ) -> tuple[Symbol, ...]:
        """What an import statement binds a name to; empty if it does not bind it, or fails."""
        reader = TableBody("")
        reader.read([node], ALWAYS)
        found = [item for item in reader.names if item.name == name]
        return self._bound(module, found[-1]) if found else ()

    def _module(self, imported: str, bound: str) -> tuple[Symbol, ...]:
        """What `import IMPORTED` binds; empty if it fails."""
        if not self.program.owns(imported):
            return (External(bound),)
        if self.program.module(imported) is None and not self.program.has_package(imported):
            return ()
        module = self.program.module(bound)
        return (module,) if module is not None else (Unknown(f"`{bound}` has no `__init__.py`"),)

    def _assigned(self, symbol: ValueSymbol) -> tuple[Symbol, ...]:
        """Another name for something if it is one, else the assigned value itself."""
        value = self.program.syntax.value_of(symbol.module, symbol.name)
        options = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
        if not all(isinstance(option, (ast.Name, ast.Attribute)) for option in options):
            return (symbol,)
        found: list[Symbol] = []
        for option in options:
            assert option is not None
            found += self.resolve(symbol.module, expression_text(option)) or (symbol,)
        if any(isinstance(one, (ClassSymbol, FunctionSymbol)) for one in found):
            return tuple(found)
        return (symbol,)

    def _from_stars(self, module: Module, name: str, *, typing: bool) -> list[Symbol]:
        found: list[Symbol] = []
        for item in module.table.names:
            if item.name != "*" or (item.when == TYPING and not typing) or name.startswith("_"):
                continue
            source = module.absolute(item.module)
            other = self.program.module(source)
            if other is not None:
                found += self.lookup(other, name, typing=typing)
            elif not self.program.owns(source):
                found.append(
                    Unknown(f"`{name}` may come from `{source}`, of which all is imported")
                )
        known: list[Symbol] = [symbol for symbol in found if not isinstance(symbol, Unknown)]
        return known[-1:] or found[-1:]

    def member(self, symbol: Symbol, name: str) -> tuple[Symbol, ...]:
        """What an attribute of a symbol can stand for, inherited ones not included; empty if there is none."""
        if isinstance(symbol, Module):
            return self.lookup(symbol, name)
        if isinstance(symbol, External):
            return (External(f"{symbol.name}.{name}"),)
        if isinstance(symbol, ClassSymbol):
            return self.own(symbol, name)
        if isinstance(symbol, Unknown):
            return (symbol,)
        return (Unknown(f"`{name}` is an attribute of `{key_of(symbol)}`, which is no class"),)

    def own(self, symbol: ClassSymbol, name: str) -> tuple[Symbol, ...]:
        """What a class itself binds a name to; empty if it does not."""
        cls, module = symbol.cls, symbol.module
        full = f"{cls.name}.{name}"
        items = [item for item in cls.names if item.name == name and item.kind != "annotation"]
        found: list[Symbol] = []
        for item in reversed(items):
            if item.kind == "class":
                inner = [one for one in module.table.classes if one.name == full]
                found += [ClassSymbol(module, one) for one in inner]
            elif item.kind == "def":
                functions = [fn for fn in cls.functions if (fn.name, fn.end) == (full, item.end)]
                found += [FunctionSymbol(module, fn, cls) for fn in functions]
            elif item.kind in {"import", "from"}:
                found += self._bound(module, item)
            else:
                found.append(ValueSymbol(module, item, cls))
            if item.when not in {MAYBE, TRY, EXCEPT}:
                break
        return unique(found)
