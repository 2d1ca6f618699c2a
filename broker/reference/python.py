"""The Python API: public names of the modules that programs import, with signatures and docstrings."""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import is_dataclass
from types import ModuleType
from typing import Any

from broker.reference.markdown import Page, block, broken, code, escaped, page, section, wrapped

# Page -> its title and the modules on it.
_PAGES = {
    "client": ("Clients", ["broker.client", "broker.client.matcher", "broker.client.submitter"]),
    "operate": (
        "Brokers and the watchdog",
        ["broker.operate.batch", "broker.operate.brokerage", "broker.operate.watchdog"],
    ),
    "world": ("Worlds", ["broker.world", "broker.world.cric"]),
    "errors": ("Connections and errors", ["broker.database", "broker.errors"]),
}


def pages() -> Iterator[Page]:
    """A page a subject."""
    for name, (title, modules) in _PAGES.items():
        lead = f"What Python programs import from {', '.join(code(module) for module in modules)}."
        shown: set[int] = set()
        entries = [_module(importlib.import_module(module), shown) for module in modules]
        yield page(f"python-{name}.md", f"Python: {title.lower()}", lead, entries)


def _module(module: ModuleType, shown: set[int]) -> str:
    entries = []
    for name, value in _public(module):
        if id(value) not in shown:
            shown.add(id(value))
            entries.append(_class(name, value) if inspect.isclass(value) else _function(name, value, 3))
    return section(2, module.__name__, *_paragraphs(module.__doc__), *entries)


def _public(module: ModuleType) -> list[tuple[str, Any]]:
    """Functions and classes that a module declares public, or else makes itself, in the order of its text."""
    declared = getattr(module, "__all__", None)
    names = declared or [name for name in vars(module) if not name.startswith("_")]
    found = [(name, getattr(module, name)) for name in names]
    return [
        (name, value)
        for name, value in found
        if (inspect.isclass(value) or inspect.isfunction(value)) and (declared or value.__module__ == module.__name__)
    ]


def _class(name: str, made: type) -> str:
    """A class with its methods; the asynchronous twin of another has the same ones."""
    methods = [] if name.startswith("Async") else [found for found in _methods(made) if found[0] != "__init__"]
    return section(
        3,
        name,
        block(_constructor(name, made)),
        *_paragraphs(made.__doc__),
        *(_function(method, value, 4, f"{name}.") for method, value in methods),
    )


def _methods(made: type) -> list[tuple[str, Any]]:
    ours = [base for base in made.__mro__ if base.__module__.startswith("broker.")]
    found = {
        name: getattr(value, "fget", value)
        for base in reversed(ours)
        for name, value in vars(base).items()
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)) and _doc(value)
    }
    return list(found.items())


def _doc(value: Any) -> str | None:
    return inspect.getdoc(value)


def _constructor(name: str, made: type) -> str:
    """`class Name(arguments)`: those of a dataclass are its fields."""
    if is_dataclass(made):
        fields = [line for base in reversed(made.__mro__) if is_dataclass(base) for line in _annotations(base)]
        return broken(f"class {name}(", fields, ")")
    begin = next((vars(base)["__init__"] for base in made.__mro__ if "__init__" in vars(base)), None)
    if not inspect.isfunction(begin) or not begin.__module__.startswith("broker."):
        return f"class {name}"
    return broken(f"class {name}(", _arguments(begin)[1:], ")")


def _annotations(made: type) -> list[str]:
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(made))).body
    assert isinstance(tree, ast.ClassDef)
    return [ast.unparse(node) for node in tree.body if isinstance(node, ast.AnnAssign) and _is_public(node)]


def _is_public(node: ast.AnnAssign) -> bool:
    return isinstance(node.target, ast.Name) and not node.target.id.startswith("_")


def _function(name: str, function: Any, level: int, before: str = "") -> str:
    arguments = _arguments(function)
    tree = _tree(function)
    given = arguments[1:] if before and arguments[:1] == ["self"] else arguments
    result = f" -> {ast.unparse(tree.returns)}" if tree.returns else ""
    call = broken(f"{before}{name}(", given, f"){result}")
    return section(level, f"{before}{name}", block(call), *_paragraphs(_doc(function)))


def _tree(function: Any) -> ast.FunctionDef | ast.AsyncFunctionDef:
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body
    assert isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef)
    return tree


def _arguments(function: Any) -> list[str]:
    """The arguments as the source has them; a default that is a private name is shown by its value."""
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
    """A docstring as Markdown: paragraphs, and indented lines as blocks."""
    found = []
    for part in re.split(r"\n\s*\n", inspect.cleandoc(doc or "").strip("\n")):
        lines = part.split("\n")
        if all(line.startswith("    ") for line in lines):
            found.append(block(textwrap.dedent(part)))
        elif part.strip():
            found.append(wrapped(escaped(part)))
    return found
