"""A contract: what the patched pair must do, one expectation an entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """One entry of a contract. A symbol is written `package.module:Class.method`.

    Attributes:
        id: its name, unique in the contract.
        kind: what is asked.
        subject: what the series is for that this is part of.
        reason: what breaks when it does not hold.
    """

    id: str
    kind: str
    subject: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Call(Expectation):
    """A call is made, binds to every method that it can reach, and passes what it should.

    Attributes:
        callers: functions that must make the call; a bare module means the code at its top level.
        callee: the called expression as it is written there, such as `self.drafter.dummy_run`.
        passes: parameters that the call must give a value.
        values: parameters and the expression that each must be given.
        under: a condition that the call must stand under, such as `hasattr(torch.ops, "x")`; empty for none.
        receivers: classes that the call can reach, where they cannot be inferred or to have the inference checked.
    """

    callers: tuple[str, ...]
    callee: str
    passes: tuple[str, ...]
    values: Mapping[str, str]
    under: str
    receivers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Override(Expectation):
    """What classes define is callable the way their upstream calls it.

    Attributes:
        classes: classes of the fork; their subclasses there count as well.
        base: upstream class that they must derive from.
        called_on: names through which upstream calls them, such as `current_platform`.
        methods: methods to look at; all that the classes define if empty.
    """

    classes: tuple[str, ...]
    base: str
    called_on: tuple[str, ...]
    methods: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Hook(Expectation):
    """Nothing that upstream calls on the classes is left abstract or raises by default.

    Attributes:
        classes: classes of the fork; their subclasses there count as well.
        base: upstream class that they must derive from.
        called_on: names through which upstream calls them; abstract methods are looked at in any case.
        methods: methods that the fork must define itself.
    """

    classes: tuple[str, ...]
    base: str
    called_on: tuple[str, ...]
    methods: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Capability(Expectation):
    """What a class or module answers.

    Attributes:
        of: the class or module that is asked.
        answers: questions, as expressions in its scope, and the answer to each.
        given: names for the questions, as expressions.
        instance: attributes of the instance that is asked, as expressions, beside those of the class.
        where: expressions and what they are taken to be wherever the code reads them, as expressions.
        environment: environment variables; no others are set.
        after: expression to evaluate before the questions; empty for none.
    """

    of: str
    answers: Mapping[str, Any]
    given: Mapping[str, str]
    instance: Mapping[str, str]
    where: Mapping[str, str]
    environment: Mapping[str, str]
    after: str


@dataclass(frozen=True, kw_only=True)
class Guard(Expectation):
    """A function takes a branch that depends on an expression, for a given value of it.

    Attributes:
        function: the function.
        where: expressions as they are written there, and the value of each, as expressions.
    """

    function: str
    where: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Anchor(Expectation):
    """The text that each runtime string patch replaces is in the module that it edits.

    Attributes:
        files: pattern of the patch files, relative to their tree. The module is in the name, `a__b.patch.py`.
        variable: name of the list of (old, new) pairs.
    """

    files: str
    variable: str


@dataclass(frozen=True, kw_only=True)
class Import(Expectation):
    """What a package imports, or names as `package.module.Class` in a string, exists.

    Attributes:
        package: the package whose code is looked at.
        of: packages that it imports from.
    """

    package: str
    of: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Kernel(Expectation):
    """Functions with a decorator contain no annotated assignment but with some annotations.

    Attributes:
        package: the package whose code is looked at.
        decorator: the decorator, such as `triton.jit`.
        annotations: annotations that are allowed.
    """

    package: str
    decorator: str
    annotations: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Capturable(Expectation):
    """Functions that run inside a CUDA graph do not read tensors on the host.

    Attributes:
        functions: the functions.
    """

    functions: tuple[str, ...]


@dataclass(frozen=True)
class Contract:
    """The entries of a `contract.toml`, in its order.

    Attributes:
        path: the file.
        entries: what it asks.
    """

    path: Path
    entries: tuple[Expectation, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the entries, in order."""
        return tuple(entry.id for entry in self.entries)
