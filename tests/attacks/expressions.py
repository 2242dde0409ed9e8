"""Every regular expression of aqlgen, found by itself, and inputs that are adversarial to it."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import aqlgen
from aqlgen.runtime.settings import types

METHODS = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
ANY = ("fullmatch", "search")
"""The methods to try where any could be used: a search begins with all that a match does."""
_ROOT = Path(aqlgen.__file__).parent
_CALL = re.compile(r"\bre\.|\bmatching\(|\bdivided\(")
_TYPES = {"matching": ("fullmatch",), "divided": ("split",)}
"""The functions that make types of settings of a pattern, with how they use it."""
_MANY = 60
"""A repeat that is bounded by less cannot be pumped."""
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)


@dataclass(frozen=True)
class Expression:
    """A compiled expression, where it stands, and the methods by which it is used."""

    where: str
    compiled: re.Pattern[Any]
    methods: tuple[str, ...]


def expressions() -> list[Expression]:
    """Return each module-level expression, also in containers, and each literal pattern of a call of `re`."""
    collected: dict[tuple[str, Any, int], Expression] = {}
    for name in _modules():
        module = importlib.import_module(name)
        text = Path(_ROOT.parent, *name.split(".")).with_suffix(".py").read_text("utf-8")
        if _CALL.search(text) or any(True for value in vars(module).values() for _ in _patterns(value)):
            code = _Code.of(text)
            for expression in (*_of_module(module, code), *_inline(name, code), *_of_types(module, code)):
                key = (expression.where, expression.compiled.pattern, expression.compiled.flags)
                collected[key] = expression
    return list(collected.values())


@dataclass(frozen=True)
class _Code:
    """A module's names and attributes, by their names, its calls of `re`, and the names and nodes of its assignments.

    Of names and attributes, those that are read at all.
    """

    names: dict[str, list[ast.Name]]
    attributes: dict[str, list[ast.Attribute]]
    calls: list[ast.Call]
    types: list[ast.Call]
    assigned: frozenset[str]
    module_level: frozenset[ast.AST]

    @staticmethod
    def of(text: str) -> _Code:
        tree = ast.parse(text)
        code = _Code(
            defaultdict(list), defaultdict(list), [], [], frozenset(_targets(tree)), frozenset(_assigned(tree))
        )
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                code.names[node.id].append(node)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                code.attributes[node.value.id].append(node)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                code.calls.append(node)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _TYPES:
                code.types.append(node)
        return code


def _targets(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def _assigned(tree: ast.Module) -> Iterator[ast.AST]:
    assignments = (node for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign)))
    return (inner for node in assignments for inner in ast.walk(node))


def _modules() -> Iterator[str]:
    for module in pkgutil.walk_packages(aqlgen.__path__, "aqlgen."):
        if not module.ispkg and not module.name.endswith("__main__"):
            yield module.name


def _of_module(module: ModuleType, code: _Code) -> Iterator[Expression]:
    for name, value in vars(module).items():
        for pattern in _patterns(value) if name in code.assigned else ():
            yield Expression(f"{module.__name__}.{name}", pattern, _uses(code, name))


def _patterns(value: Any) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _patterns(inner)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for inner in value:
            yield from _patterns(inner)


def _uses(code: _Code, name: str) -> tuple[str, ...]:
    """Return the methods that a module calls on a name; all kinds if it passes the expression on."""
    methods = {node.attr for node in code.attributes[name] if node.attr in METHODS}
    loads = {*code.names[name]} - {node.value for node in code.attributes[name]}
    return ANY if loads or not methods else tuple(sorted(methods))


def _inline(name: str, code: _Code) -> Iterator[Expression]:
    for node in code.calls:
        if (
            isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in (*METHODS, "compile")
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            flags = next((_flags(word.value) for word in node.keywords if word.arg == "flags"), 0)
            last = node.args[-1]
            if isinstance(last, (ast.Attribute, ast.BinOp)) and "re." in ast.unparse(last):
                flags = _flags(last)
            methods = ANY if node.func.attr == "compile" else (node.func.attr,)
            if node.func.attr != "compile" or node.col_offset:
                if node.func.attr == "compile" and node in code.module_level:
                    continue
                yield Expression(f"{name}:{node.args[0].value!r}", re.compile(node.args[0].value, flags), methods)


def _of_types(module: ModuleType, code: _Code) -> Iterator[Expression]:
    for node in code.types:
        if getattr(module, ast.unparse(node.func), None) not in (types.matching, types.divided):
            continue
        pattern = eval(compile(ast.Expression(node.args[0]), "", "eval"), vars(module))
        yield Expression(f"{module.__name__}:{pattern!r}", re.compile(pattern), _TYPES[ast.unparse(node.func)])


def _flags(node: ast.expr) -> int:
    try:
        return int(eval(compile(ast.Expression(node), "", "eval"), {"re": re}))
    except (NameError, TypeError, ValueError, AttributeError):
        return 0


def pumps(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """Yield prefix, repeated text and suffix, made for each repeat of a pattern and for the pattern as a whole."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = _parser.parse(text, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags)
    alphabet = _alphabet(tree)
    seen: set[tuple[str, str, str]] = set()
    whole = _sample(tree, alphabet)
    candidates: list[tuple[str, str]] = [("", whole), ("", whole[:-1])]
    for prefix, body, outer in _repeats(tree, "", alphabet):
        units = list(dict.fromkeys(_units(body, alphabet)))[:6]
        candidates += [(prefix, unit) for unit in units]
        candidates += [("", prefix + unit) for unit in units[:2]]
        candidates += [(outer, prefix[len(outer) :] + unit) for unit in units[:1] if outer]
    for prefix, unit in candidates:
        for suffix in ("", "\x00"):
            if unit and (prefix, unit, suffix) not in seen:
                seen.add((prefix, unit, suffix))
                yield prefix, unit, suffix


def _alphabet(tree: Any) -> list[str]:
    literals = dict.fromkeys(chr(code) for code in _literals(tree) if code < 0x3000)
    return [*list(literals)[:40], " ", "a", "A", "0", "_", ".", "\n", "\t", "-", "/", '"', ",", ";", "<", "!", "é"]


def _literals(tree: Any) -> Iterator[int]:
    for operation, argument in tree:
        if operation in (_constants.LITERAL, _constants.NOT_LITERAL):
            yield argument
        elif operation is _constants.IN:
            for kind, value in argument:
                if kind is _constants.LITERAL:
                    yield value
                elif kind is _constants.RANGE:
                    yield value[0]
        else:
            for inner in _inner(operation, argument):
                yield from _literals(inner)


def _inner(operation: Any, argument: Any) -> Iterable[Any]:
    if operation in _REPEATS:
        return (argument[2],)
    if operation is _constants.SUBPATTERN:
        return (argument[-1],)
    if operation is _constants.BRANCH:
        return tuple(argument[1])
    if operation in (_constants.ASSERT, _constants.ASSERT_NOT):
        return (argument[1],)
    if operation is _constants.ATOMIC_GROUP:
        return (argument,)
    if operation is _constants.GROUPREF_EXISTS:
        return tuple(part for part in argument[1:] if part)
    return ()


def _repeats(tree: Any, prefix: str, alphabet: list[str], outer: str = "") -> Iterator[tuple[str, Any, str]]:
    """Yield each repeat that can be pumped, with a text that leads to it and the one that leads to what holds it."""
    for operation, argument in tree:
        if operation in _REPEATS and argument[1] is not None and argument[1] > _MANY:
            yield prefix, argument[2], outer
        for inner in _inner(operation, argument):
            yield from _repeats(inner, prefix, alphabet, prefix)
        prefix += _sample([(operation, argument)], alphabet)


def _units(body: Any, alphabet: list[str]) -> Iterator[str]:
    """Yield texts that a repeat's body matches: each character of the alphabet, or each alternative."""
    parts = list(body)
    if len(parts) == 1 and parts[0][0] in (_constants.IN, _constants.ANY, _constants.NOT_LITERAL, _constants.LITERAL):
        compiled = _character(parts[0])
        yield from (char for char in alphabet if compiled(char))
        return
    for operation, argument in parts:
        for inner in _inner(operation, argument):
            yield from (unit for unit in list(_units(inner, alphabet))[:4])
    yield _sample(body, alphabet)


def _character(node: Any) -> Any:
    operation, argument = node
    if operation is _constants.ANY:
        return lambda char: char != "\n"
    if operation is _constants.LITERAL:
        return lambda char: ord(char) == argument
    if operation is _constants.NOT_LITERAL:
        return lambda char: ord(char) != argument
    return lambda char: _in_class(argument, char)


_CATEGORIES = {
    _constants.CATEGORY_DIGIT: str.isdigit,
    _constants.CATEGORY_NOT_DIGIT: lambda char: not char.isdigit(),
    _constants.CATEGORY_SPACE: str.isspace,
    _constants.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    _constants.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
    _constants.CATEGORY_NOT_WORD: lambda char: not (char.isalnum() or char == "_"),
}


def _in_class(items: Any, char: str) -> bool:
    negated = any(kind is _constants.NEGATE for kind, _ in items)
    member = any(
        (kind is _constants.LITERAL and value == ord(char))
        or (kind is _constants.RANGE and value[0] <= ord(char) <= value[1])
        or (kind is _constants.CATEGORY and _CATEGORIES[value](char))
        for kind, value in items
    )
    return member != negated


def _sample(tree: Any, alphabet: list[str]) -> str:
    """Return a short text that a pattern matches, as far as its assertions allow."""
    text = ""
    for operation, argument in tree:
        if operation is _constants.LITERAL:
            text += chr(argument)
        elif operation in (_constants.IN, _constants.ANY, _constants.NOT_LITERAL):
            fits = _character((operation, argument))
            ranges = [chr(v[0]) for k, v in argument if k is _constants.RANGE] if operation is _constants.IN else []
            text += next((char for char in ("a", "0", " ", *alphabet, *ranges) if fits(char)), "")
        elif operation in _REPEATS:
            text += _sample(argument[2], alphabet) * max(argument[0], 1 if argument[1] else 0)
        elif operation is _constants.BRANCH:
            text += _sample(argument[1][0], alphabet)
        elif operation in (_constants.SUBPATTERN, _constants.ATOMIC_GROUP):
            for inner in _inner(operation, argument):
                text += _sample(inner, alphabet)
    return text
