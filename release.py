"""Make a release of aqlgen, on this machine alone: `python release.py 0.2.0`. Nothing is pushed or uploaded.

It refuses a tree that is not as committed, a version that is not the code's, and one that the changelog does not have.
Then it tags the commit, since a wheel carries the templates of each tag (`hatch_build.py`), builds sdist and wheel here
and in a fresh clone, and compares the bytes; where they differ the tag is taken away again. The wheel generates a
project before `dist/` is written, with an SBOM and a provenance statement beside it. contributing/releasing.md says
what comes before and after.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parent
VERSION = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")


class ReleaseError(Exception):
    """A reason not to make a release, as a sentence."""


def main(arguments: Sequence[str]) -> int:
    """Make the release that the argument names; return the exit code."""
    if len(arguments) != 1:
        sys.stderr.write("Give the version: python release.py 0.2.0\n")
        return 2
    try:
        sys.stdout.write(f"{release(arguments[0])}\n")
    except ReleaseError as problem:
        sys.stderr.write(f"No release was made: {problem}.\n")
        return 1
    return 0


def release(version: str) -> str:
    """Tag the commit and build what it is; return the report. Raises ReleaseError, and leaves no tag then."""
    reasons = list(problems(ROOT, version))
    if reasons:
        raise ReleaseError("; ".join(reasons))
    tag = f"v{version}"
    run("git", "tag", "--annotate", tag, "--message", f"aqlgen {version}")
    files: list[Path] = []
    try:
        files += built_twice(ROOT, tag)
        commit = run("git", "rev-parse", f"{tag}^{{commit}}")
        files.append(sbom(files, version))
        files.append(provenance(files, tag, commit))
        files += sign(files[-1])
    except BaseException:
        run("git", "tag", "--delete", tag)
        for file in files:
            file.unlink(missing_ok=True)
        raise
    return report(files, tag, commit)


def problems(root: Path, version: str) -> Iterator[str]:
    """Yield the reasons why this tree cannot be released as a version."""
    if not VERSION.fullmatch(version):
        yield f"{version!r} is no version such as 0.2.0"
        return
    if run("git", "status", "--porcelain", cwd=root):
        yield "there are uncommitted changes"
    code = re.search(r'^__version__ = "(.*)"$', (root / "aqlgen/__init__.py").read_text(encoding="utf-8"), re.MULTILINE)
    if code is None or code[1] != version:
        yield f"aqlgen/__init__.py says {code[1] if code else 'nothing'}, not {version}"
    headings = re.findall(r"^## (.*)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if not headings or headings[0].split()[0] != version:
        yield f"the first heading of CHANGELOG.md is not {version}"
    if run("git", "tag", "--list", f"v{version}", cwd=root):
        yield f"there is a tag v{version} already"


def built_twice(root: Path, tag: str) -> list[Path]:
    """Build here and in a clone, compare, try the wheel; return the files in `dist/`. Raises ReleaseError."""
    with tempfile.TemporaryDirectory(prefix="aqlgen-release-") as name:
        folder = Path(name)
        run("git", "clone", "--quiet", "--branch", tag, root.resolve().as_uri(), str(folder / "clone"))
        first, second = build(root, folder / "first"), build(folder / "clone", folder / "second")
        if contents(first) != contents(second):
            raise ReleaseError("two builds differ, so that nobody could build it again")
        try_out(next(file for file in first if file.suffix == ".whl"), folder / "site")
        dist = root / "dist"
        dist.mkdir(exist_ok=True)
        return [file.replace(dist / file.name) for file in first]


def build(source: Path, target: Path) -> list[Path]:
    """Build the sdist and the wheel with the time of the commit; return them sorted."""
    epoch = run("git", "log", "-1", "--format=%ct", cwd=source)
    run(sys.executable, "-m", "hatchling", "build", "-d", str(target), cwd=source, SOURCE_DATE_EPOCH=epoch)
    return sorted(target.iterdir())


def contents(files: Sequence[Path]) -> dict[str, bytes]:
    """Return the bytes of files by their names."""
    return {file.name: file.read_bytes() for file in files}


def try_out(wheel: Path, site: Path) -> None:
    """Generate the petstore by the wheel alone, and look at whether it knows its release. Raises ReleaseError."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    code = f"import sys; sys.path.insert(0, {str(site)!r}); from aqlgen.cli import main; main()"
    spec, project = ROOT / "fixtures/petstore.yaml", site.parent / "petstore"
    run(sys.executable, "-I", "-c", code, "from-openapi", str(spec), "-o", str(project), "--quiet", cwd=site)
    if '"commit": "' not in (project / "MCPAQL-PROVENANCE.json").read_text(encoding="utf-8"):
        raise ReleaseError("a project that the wheel makes does not name the release")


def sbom(files: Sequence[Path], version: str) -> Path:
    """Write the SBOM (CycloneDX) of a fresh environment that holds the wheel and its dependencies; return its file."""
    wheel = next(file for file in files if file.suffix == ".whl")
    target = wheel.parent / "sbom.cdx.json"
    with tempfile.TemporaryDirectory(prefix="aqlgen-sbom-") as name:
        venv.create(name, with_pip=True)
        python = str(Path(name, "Scripts" if os.name == "nt" else "bin", "python"))
        run(python, "-m", "pip", "install", "--quiet", str(wheel))
        command = ("-m", "cyclonedx_py", "environment", "--output-reproducible", "--pyproject", "pyproject.toml")
        run(sys.executable, *command, "--output-file", str(target), python)
    bill = json.loads(target.read_bytes())
    bill["metadata"]["component"]["version"] = version  # pyproject.toml leaves it to the build
    target.write_text(json.dumps(bill, indent=2) + "\n", encoding="utf-8")
    return target


def provenance(files: Sequence[Path], tag: str, commit: str) -> Path:
    """Write the provenance of files as an in-toto statement (SLSA provenance 1.0); return its file."""
    source = {"uri": f"git+{run('git', 'config', '--default', '', 'remote.origin.url')}@refs/tags/{tag}"}
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": file.name, "digest": {"sha256": digest(file)}} for file in files],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "https://hatch.pypa.io/latest/config/build/",
                "externalParameters": {"tag": tag},
                "internalParameters": {"SOURCE_DATE_EPOCH": run("git", "log", "-1", "--format=%ct", commit)},
                "resolvedDependencies": [{**source, "digest": {"gitCommit": commit}}],
            },
            "runDetails": {"builder": {"id": "release.py", "version": {"python": sys.version.split()[0]}}},
        },
    }
    target = files[0].parent / "provenance.json"
    target.write_text(json.dumps(statement, indent=2) + "\n", encoding="utf-8")
    return target


def sign(file: Path, cwd: Path = ROOT) -> list[Path]:
    """Sign a file with the SSH key by which git signs; return the signature's file, none where git has no such key."""
    if run("git", "config", "--default", "", "gpg.format", cwd=cwd) != "ssh":
        return []
    key = run("git", "config", "--default", "", "--type", "path", "user.signingkey", cwd=cwd)
    signature = file.with_name(f"{file.name}.sig")
    signature.unlink(missing_ok=True)
    run("ssh-keygen", "-Y", "sign", "-n", "aqlgen-release", "-f", key, str(file))
    return [signature]


def digest(file: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def report(files: Sequence[Path], tag: str, commit: str) -> str:
    """Return what was made, with hashes, and what to do by hand."""
    sums = [f"{digest(file)}  {file.name}" for file in files]
    is_signed = any(file.suffix == ".sig" for file in files)
    (ROOT / "dist/SHA256SUMS").write_text("\n".join([*sums, ""]), encoding="utf-8")
    return "\n".join(
        (
            f"{tag} is commit {commit}. Two builds of it are the same bytes, in dist/:",
            *(f"  {line}" for line in sums),
            *(() if is_signed else ("provenance.json is not signed: git has no SSH key to sign with (gpg.format).",)),
            "Nothing has left this machine. To publish it:",
            f"  git push origin HEAD {tag}",
            f"  then attach dist/* to a release of {tag}, as contributing/releasing.md says",
            f"To take it back: git tag --delete {tag}",
        )
    )


def run(*command: str, cwd: Path = ROOT, **environment: str) -> str:
    """Run a command that must not fail and return its output. Raises ReleaseError."""
    done = subprocess.run(command, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise ReleaseError(f"`{' '.join(command[:4])}` failed: {lines[-1]}")
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
