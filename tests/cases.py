"""Many cheap cases of one rule as one test, which names each case that fails: in turn, or side by side."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

FAILURES = (Exception, pytest.fail.Exception)


def each(names: str | Sequence[str], cases: Iterable[Any], ids: Any = None) -> Callable[..., Any]:
    """Run a test with each of the cases, as `pytest.mark.parametrize` does, but within one test.

    It goes on after a case that fails, and raises a group of what all of them raised, each with the name of its
    case. Each case has a folder of its own as `tmp_path`, and no patches of the one before. What other fixtures made is
    the same for all: use it where that is nothing that a case changes.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    single = isinstance(names, str) and len(keys) == 1
    rows = [(case,) if single else tuple(case) for case in cases]
    name_of = ids if callable(ids) else lambda case: repr(case)[:200]
    labels = [str(name_of(row[0] if single else row)) for row in rows] if ids is None or callable(ids) else list(ids)
    assert rows, "there are no cases"

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(test).parameters

        def arguments(fixtures: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
            for number, (label, row) in enumerate(zip(labels, rows, strict=True)):
                own_fixtures = dict(fixtures)
                if "tmp_path" in fixtures:
                    own_fixtures["tmp_path"] = fixtures["tmp_path"] / f"case{number}"
                    own_fixtures["tmp_path"].mkdir()
                yield label, {**own_fixtures, **dict(zip(keys, row, strict=True))}
                if "monkeypatch" in fixtures:
                    fixtures["monkeypatch"].undo()

        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            errors: list[BaseException] = []
            for label, given_arguments in arguments(fixtures):
                with _noting(errors, label):
                    test(**given_arguments)
            _raise(errors, len(rows))

        @functools.wraps(test)
        async def run_async(**fixtures: Any) -> None:
            errors: list[BaseException] = []
            for label, given_arguments in arguments(fixtures):
                with _noting(errors, label):
                    await test(**given_arguments)
            _raise(errors, len(rows))

        runner: Any = run_async if inspect.iscoroutinefunction(test) else run
        others = [parameter for name, parameter in parameters.items() if name not in keys]
        runner.__signature__ = inspect.Signature(others)
        return runner  # type: ignore[no-any-return]

    return decorate


def each_family(names: Sequence[str], families: Mapping[str, Sequence[Any]]) -> Callable[..., Any]:
    """Run a test with the cases of several families, each of which shows what its sentence says."""
    cases = [(f"{sentence}: {case!r}"[:200], case) for sentence, family in families.items() for case in family]
    return each(names, [case for _, case in cases], [label for label, _ in cases])


def side_by_side(run: Callable[..., object], cases: Iterable[Sequence[Any]]) -> None:
    """Run a function with each of the cases in a thread of its own: for cases that wait, and share nothing.

    Raises a group of what all of them raised, each with the name of its case, as `each` does.
    """
    rows = [tuple(case) for case in cases]
    errors: list[BaseException] = []
    with ThreadPoolExecutor(len(rows)) as threads:
        results = [threads.submit(run, *row) for row in rows]
    for row, result in zip(rows, results, strict=True):
        with _noting(errors, repr(row)[:200]):
            result.result()
    _raise(errors, len(rows))


@contextmanager
def _noting(errors: list[BaseException], label: str) -> Iterator[None]:
    """Keep what a case raises, with its name; what is no failure of a test, such as an interrupt, goes on."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"case: {label}")
        if not isinstance(error, FAILURES):
            raise
        errors.append(error)


def _raise(errors: list[BaseException], count: int) -> None:
    if errors:
        cases = "; ".join(note for error in errors for note in error.__notes__ if note.startswith("case: "))
        raise BaseExceptionGroup(f"{len(errors)} of {count} cases: {cases[:2000]}", errors)


def without_ids(failure: Any) -> Any:
    """Return a failure, or its error or details, without the ids by which log and audit know its request."""
    if not isinstance(failure, dict):
        return failure
    kept = {name: without_ids(value) for name, value in failure.items() if name not in ("request_id", "session_id")}
    return {name: value for name, value in kept.items() if (name, value) != ("details", {})}


def setting(key: str, value: Any) -> Any:
    """Return what a setting is, given its value in `adapter.toml` or the text of its variable."""
    from aqlgen.runtime.settings.config import SETTINGS

    return next(item for item in SETTINGS if item.key == key).parse(value)
