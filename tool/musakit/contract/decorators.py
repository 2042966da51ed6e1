"""What decorators of the program do to what they decorate, as far as their form tells."""

from __future__ import annotations

import ast

from musakit.contract.signature import DOUBLE_STAR, ONLY_KEYWORD, STAR, parameters_of


def hands_on(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a decorator, or what a factory of decorators returns, calls the function with exactly what it gets."""
    inner = [one for one in node.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]
    named = {one.name: one for one in inner}
    returned = [one.value for one in _own_returns(node)]
    if not returned or not node.args.args + node.args.posonlyargs + node.args.kwonlyargs:
        return False
    wrapped = (node.args.posonlyargs + node.args.args)[:1]
    for value in returned:
        if isinstance(value, ast.Name) and value.id in named:
            function = named[value.id]
            if not (wrapped and _forwards(function, wrapped[0].arg)) and not hands_on(function):
                return False
        elif not (isinstance(value, ast.Name) and wrapped and value.id == wrapped[0].arg):
            return False
    return True


def _own_returns(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.Return]:
    found: list[ast.Return] = []
    stack: list[ast.AST] = list(node.body)
    while stack:
        one = stack.pop()
        if isinstance(one, ast.Return):
            found.append(one)
        elif not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            stack += ast.iter_child_nodes(one)
    return found


def _forwards(inner: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    """Whether each call of `name` in a wrapper passes the wrapper's own parameters, all and in order."""
    parameters = parameters_of(inner.args)
    kinds = [parameter.kind for parameter in parameters]
    if STAR not in kinds or DOUBLE_STAR not in kinds or ONLY_KEYWORD in kinds:
        return False
    calls = [
        one
        for one in ast.walk(inner)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == name
    ]
    expected = [
        f"*{p.name}" if p.kind == STAR else p.name for p in parameters if p.kind != DOUBLE_STAR
    ]
    keywords = [p.name for p in parameters if p.kind == DOUBLE_STAR]
    return bool(calls) and all(
        [ast.unparse(arg) for arg in call.args] == expected
        and [ast.unparse(item.value) for item in call.keywords if item.arg is None] == keywords
        and all(item.arg is None for item in call.keywords)
        for call in calls
    )


def returns_class(node: ast.FunctionDef | ast.AsyncFunctionDef, *, called: bool) -> bool:
    """Whether a class decorator gives back the class that it gets, with no attribute of it set.

    Args:
        node: the decorator, or the factory that makes it.
        called: whether it is used as a factory, with parentheses.
    """
    inner = {one.name: one for one in node.body if isinstance(one, ast.FunctionDef)}
    returned = [one.value for one in _own_returns(node)]
    if called:
        made = [inner.get(one.id) for one in returned if isinstance(one, ast.Name)]
        return len(made) == len(returned) > 0 and all(
            one is not None and returns_class(one, called=False) for one in made
        )
    arguments = node.args.posonlyargs + node.args.args
    if not arguments or not returned:
        return False
    name = arguments[0].arg
    if not all(isinstance(one, ast.Name) and one.id == name for one in returned):
        return False
    return not any(_changes(one, name) for one in ast.walk(node))


def _changes(node: ast.AST, name: str) -> bool:
    """Whether a node sets an attribute of a name, or the name itself."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
        return True
    if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
        root = node.value if isinstance(node, ast.Attribute) else node
        return isinstance(root, ast.Name) and root.id == name
    return False
