"""The Python API: public names of the modules that programs import, with signatures and docstrings."""

import ast
import importlib
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator
from dataclasses import is_dataclass
from types import ModuleType
from typing import Any, TypeGuard

from broker.reference.markdown import Page, bullets, code, escaped, item, page, section, wrapped

# Title -> the modules below it.
_SUBJECTS = {
    "Clients": ["broker.client", "broker.client.matcher", "broker.client.submitter", "broker.translate"],
    "Brokers and loops": [
        "broker.operate.batch", "broker.operate.brokerage", "broker.operate.loops", "broker.operate.runner",
    ],
    "Worlds": ["broker.world", "broker.world.exports"],
    "Connections and errors": ["broker.database", "broker.errors", "broker.database_errors"],
}  # fmt: skip


def pages() -> Iterator[Page]:
    """The page of the modules that Python programs import."""
    entries = []
    for title, modules in _SUBJECTS.items():
        shown: set[int] = set()
        entries += [section(2, title), *(_module(importlib.import_module(module), shown) for module in modules)]
    lead = (
        "This page lists the modules that Python programs import, with signatures and docstrings. A class comes before "
        "its methods."
    )
    yield page("python.md", "Python", lead, entries)


def _module(module: ModuleType, shown: set[int]) -> str:
    items = list(_types(module))
    for name, value in _public(module):
        if id(value) not in shown:
            shown.add(id(value))
            for base in _hidden_bases(name, value):
                if id(base) not in shown:
                    shown.add(id(base))
                    items.append(item(base.__name__, _constructor(base.__name__, base), _text(base.__doc__)))
            items += _class(name, value) if inspect.isclass(value) else [_function(name, value)]
    return section(3, module.__name__, _about(module.__doc__), bullets(items))


def _types(module: ModuleType) -> Iterator[str]:
    """The names that a module gives to types of arguments, such as `Status`, with what they stand for."""
    body = ast.parse(inspect.getsource(module)).body
    for node, after in itertools.zip_longest(body, body[1:]):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() as value) if not name.startswith("_"):
                about = after.value.value if _is_text(after) else ""
                yield item(name, f"{name} = {ast.unparse(value)}", _text(about)).removesuffix(": ")


def _is_text(node: ast.stmt | None) -> TypeGuard[Any]:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _hidden_bases(name: str, value: Any) -> list[type]:
    """The classes with arguments that a class takes over, and that its module keeps elsewhere; an asynchronous twin has
    those of the synchronous class."""
    bases = value.__mro__[1:] if inspect.isclass(value) and not name.startswith("Async") else ()
    return [base for base in bases if base.__module__ == "broker.client.call"]


def _public(module: ModuleType) -> list[tuple[str, Any]]:
    """Functions and classes that a module declares public or, without such a declaration, defines itself, in the order
    of its text."""
    declared = getattr(module, "__all__", None)
    names = declared or [name for name in vars(module) if not name.startswith("_")]
    found = [(name, getattr(module, name)) for name in names]
    return [
        (name, value)
        for name, value in found
        if (inspect.isclass(value) or inspect.isfunction(value)) and (declared or value.__module__ == module.__name__)
    ]


def _class(name: str, made: type) -> Iterator[str]:
    """A class with its methods; an asynchronous twin has those of the synchronous class."""
    yield item(name, _constructor(name, made), _text(made.__doc__))
    for method, value in [] if name.startswith("Async") else _methods(made):
        if method != "__init__":
            yield _function(method, value, f"{name}.")


def _methods(made: type) -> list[tuple[str, Any]]:
    ours = [base for base in made.__mro__ if base.__module__.startswith("broker.")]
    found = {
        name: getattr(value, "fget", value)
        for base in reversed(ours)
        for name, value in vars(base).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or isinstance(value, property))
        and inspect.getdoc(value)
    }
    return list(found.items())


def _constructor(name: str, made: type) -> str:
    """`class Name(arguments)`; the arguments of a dataclass are its fields."""
    if is_dataclass(made):
        fields = [line for base in reversed(made.__mro__) if is_dataclass(base) for line in _annotations(base)]
        return f"class {name}({', '.join(fields)})"
    begin = next((vars(base)["__init__"] for base in made.__mro__ if "__init__" in vars(base)), None)
    if not inspect.isfunction(begin) or not begin.__module__.startswith("broker."):
        return f"class {name}"
    return f"class {name}({', '.join(_arguments(begin)[1:])})"


def _annotations(made: type) -> list[str]:
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(made))).body
    assert isinstance(tree, ast.ClassDef)
    return [ast.unparse(node) for node in tree.body if isinstance(node, ast.AnnAssign) and _is_public(node)]


def _is_public(node: ast.AnnAssign) -> bool:
    return isinstance(node.target, ast.Name) and not node.target.id.startswith("_")


def _function(name: str, function: Any, before: str = "") -> str:
    arguments = _arguments(function)
    tree = _tree(function)
    given = arguments[1:] if before and arguments[:1] == ["self"] else arguments
    result = f" -> {ast.unparse(tree.returns)}" if tree.returns else ""
    call = f"{before}{name}({', '.join(given)}){result}"
    return item(f"{before}{name}", call, _text(inspect.getdoc(function)))


def _tree(function: Any) -> ast.FunctionDef | ast.AsyncFunctionDef:
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body
    assert isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef)
    return tree


def _arguments(function: Any) -> list[str]:
    """The arguments as in the source; a default that is a private name is replaced by its value."""
    found = _tree(function).args
    values = {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}

    def shown(one: ast.arg, default: ast.expr | None) -> str:
        if default is None:
            return ast.unparse(one)
        private = isinstance(default, ast.Name) and default.id.startswith("_")
        text = repr(values[one.arg]) if private else ast.unparse(default)
        return f"{ast.unparse(one)} = {text}" if one.annotation else f"{one.arg}={text}"

    positional = [*found.posonlyargs, *found.args]
    defaults = [None] * (len(positional) - len(found.defaults)) + list(found.defaults)
    parts = [shown(*pair) for pair in zip(positional, defaults, strict=True)]
    if found.vararg:
        parts.append(f"*{ast.unparse(found.vararg)}")
    elif found.kwonlyargs:
        parts.append("*")
    parts += [shown(*pair) for pair in zip(found.kwonlyargs, found.kw_defaults, strict=True)]
    return parts + ([f"**{ast.unparse(found.kwarg)}"] if found.kwarg else [])


def _paragraphs(doc: str | None) -> list[str]:
    return re.split(r"\n\s*\n", inspect.cleandoc(doc or "").strip("\n"))


def _is_code(paragraph: str) -> bool:
    return all(line.startswith("    ") for line in paragraph.split("\n"))


def _about(doc: str | None) -> str:
    """The docstring of a module, with its examples as blocks."""
    return "\n\n".join(
        f"```python\n{textwrap.dedent(part)}\n```" if _is_code(part) else wrapped(escaped(part))
        for part in _paragraphs(doc)
    )


def _text(doc: str | None) -> str:
    """A docstring as one paragraph; indented lines are code."""
    return " ".join(
        ", ".join(code(line.strip()) for line in part.split("\n")) if _is_code(part) else escaped(part)
        for part in _paragraphs(doc)
    )
