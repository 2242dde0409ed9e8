"""The codes of what a user asks for, of projects and their repositories, and of adapter elements.

The rest is in `catalogue`. In JSON the codes of elements are the protocol's, as in `SCHEMA_MISSING_FIELD`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Entry:
    """One kind of finding, explained once: its title, its usual cause, and the way out."""

    title: str
    cause: str
    fix: str


COMMAND_ENTRIES: Final[Mapping[str, Entry]] = {
    # Options, overrides and answers
    "bad-option": Entry(
        "An option is invalid",
        "The value on the command line or in the environment is misspelt or matches nothing.",
        "See aqlgen --help for the values.",
    ),
    "bad-policy": Entry(
        "The safety server's policy is invalid",
        "The file of `aqlgen safety --policy` has a misspelt key, a setting that only adapters have, or a value that "
        "is not allowed. Or a variable MCP_AQL_… is wrong.",
        "Fix the problem in the message; docs/safety-server.md shows a policy. Until then the server does not start.",
    ),
    "bad-setting": Entry(
        "A setting of the adapter is invalid",
        "A variable MCP_AQL_… or a key of adapter.toml is misspelt, or its value is not allowed.",
        "Fix the setting in the message; docs/settings.md lists all. The server starts only with valid settings.",
    ),
    "bad-override": Entry(
        "An override is invalid",
        "The overrides file is not valid YAML, or an entry has a key in a wrong form, an unknown field or a bad value.",
        "Key overrides by METHOD /path as in the document, operation:NAME, tag:NAME or a pattern; `aqlgen explain` "
        "lists operations.",
    ),
    "expired-alias": Entry(
        "The time of an alias has ended",
        "The day in its `until` is over, so calls by the old name fail.",
        "Delete the alias, or write a later day.",
    ),
    "ineffective-override": Entry(
        "An override has no effect",
        "`asked: first` and `asked: never` keep the confirmations of a payment, or of a danger above reversible.",
        "Set `danger: reversible` too, or write an allow rule into adapter.toml; a payment needs the rule.",
    ),
    "unmatched-override": Entry(
        "An override matches nothing",
        "The document has no such operation, tag, parameter, security scheme or content type, or no match for the "
        "pattern.",
        "Fix the name, or delete the entry if the API dropped it.",
    ),
    "contradicted-observation": Entry(
        "The document contradicts an observation",
        "An entry that `aqlgen learn` wrote to overrides.yaml and the newer document disagree.",
        "Run `aqlgen learn` again, or delete the entry if the document is right. Until then the entry applies.",
    ),
    "unmatched-accept": Entry(
        "An entry of accept matches nothing",
        "`adapter: {accept: […]}` in the overrides names an unknown operation, tag or rule.",
        "Fix or delete the entry. Until then it settles no doubt.",
    ),
    "bad-answer": Entry(
        "An answer to a review question is invalid",
        "A line is not JSON, names an unknown operation, or has another answer than always, first and never.",
        "Fix the line; `aqlgen explain --questions` prints the questions. Until then no answer is applied.",
    ),
    "learn-failed": Entry(
        "The API could not be observed",
        "The project's adapter does not start, or its release has no command `learn`.",
        "Fix the adapter's error, or run `aqlgen update`. The adapter's `doctor` shows missing settings.",
    ),
    "unmatched-pattern": Entry(
        "A pattern of --include or --exclude matches nothing",
        "It is misspelt, or the API dropped the tag, path or operation.",
        "Fix the pattern; `aqlgen explain` lists operations. An update continues without it and warns.",
    ),
    "output-not-empty": Entry(
        "The destination is not empty",
        "aqlgen does not overwrite your files.",
        "Choose another folder with -o, or empty it.",
    ),
    "output-unwritable": Entry(
        "The destination cannot be written",
        "The operating system refused: permissions, a full disk, or a file in place of a folder.",
        "Choose another folder with -o, or make it writable.",
    ),
    # Files of a project
    "machine-file-edited": Entry(
        "A generated file was edited",
        "Only aqlgen writes this file, and an update would lose the edit.",
        "Move the change as the message says: to overrides.yaml, the document, an overlay, or hooks.py.",
    ),
    "machine-file-missing": Entry(
        "A generated file is missing",
        "It was deleted, or never committed.",
        "Run `aqlgen update` to write it, or restore it from git.",
    ),
    "machine-file-extra": Entry(
        "A file is in a generated folder",
        "Only aqlgen writes to this folder, and may write a file of this name.",
        "Move it elsewhere in the project.",
    ),
    "module-shadowed": Entry(
        "A file shadows a module",
        "It is under src, and Python would import it instead of a generated module, a library or the standard library.",
        "Delete it. Put helpers of hooks.py into the package, under a name that no generated module has.",
    ),
    "installed-differs": Entry(
        "The installed package differs from the folder",
        "The environment has a copy, or points to another folder: edits here have no effect, and unreviewed code may "
        "run.",
        "Install the project again as README.md says (pip install -e .), or uninstall the other one.",
    ),
    "not-reproducible": Entry(
        "A file differs when generated again",
        "overrides.yaml, MCPAQL-PROVENANCE.json or aqlgen changed since the project was generated.",
        "Run `aqlgen update` and commit the result.",
    ),
    "provenance-damaged": Entry(
        "MCPAQL-PROVENANCE.json is not reliable",
        "Its hashes are missing, or do not match the file itself: an older version wrote it, or it was edited.",
        "Restore it from git, or run `aqlgen update` once.",
    ),
    "template-failed": Entry(
        "A template failed",
        "Rendering or formatting failed: aqlgen or one of its libraries is damaged.",
        "Install aqlgen again; if the error remains, report it with the message.",
    ),
    "nothing-to-compare": Entry(
        "There is nothing to compare with",
        "The argument is neither a file, a folder nor a git revision of this repository.",
        "Check the path, or fetch the branch or tag that a shallow clone lacks.",
    ),
    # A project and its repository
    "not-a-project": Entry(
        "The folder is not an aqlgen project",
        "It is another folder, or MCPAQL-PROVENANCE.json was deleted.",
        "Name the folder with MCPAQL-PROVENANCE.json, or restore the file from git.",
    ),
    "records-in-conflict": Entry(
        "MCPAQL-PROVENANCE.json has a merge conflict",
        "It has conflict marks: two merged branches both updated the project, and this file cannot be merged by lines.",
        "Take the generated files of one side, finish the merge, then update to the newer document.",
    ),
    "project-damaged": Entry(
        "A file about the project cannot be used",
        "MCPAQL-PROVENANCE.json or .copier-answers.yml (the options of the project) is not valid JSON or YAML.",
        "Restore the file from git, or resolve the conflict with one of its versions.",
    ),
    "kept-document-missing": Entry(
        "The stored document is missing",
        "The folder openapi was deleted, renamed or never committed.",
        "Restore it from git, or give the document with --spec.",
    ),
    "git-missing": Entry(
        "Git is not installed",
        "Updates use git, and the PATH has no such command.",
        "Install git, and run the command again.",
    ),
    "git-too-old": Entry(
        "Git is too old",
        "aqlgen is not tested with the merges of older versions.",
        "Install at least the version in the message.",
    ),
    "git-failed": Entry(
        "Git failed",
        "The message contains git's own words.",
        "Do as git asks, such as removing a stale lock or adding the folder to safe.directory.",
    ),
    "not-a-repository": Entry(
        "The project is not in a git repository",
        "It was never put under version control, or was copied without its repository.",
        "Create a repository and commit the project as generated, before you edit it.",
    ),
    "no-commit": Entry(
        "The repository has no commit",
        "An update merges with the last commit.",
        "Commit the project first.",
    ),
    "project-not-committed": Entry(
        "The project is not committed",
        "Its files were never added, or are ignored.",
        "Add the whole project with git add --all --force, and commit it.",
    ),
    "uncommitted-changes": Entry(
        "There are uncommitted changes",
        "The merge would mix with them and could not be undone.",
        "Commit them or run git stash; then update.",
    ),
    "unresolved-conflicts": Entry(
        "There are unresolved conflicts",
        "An earlier update or merge left them.",
        "Edit the files between the conflict marks, git add them, and commit; then update.",
    ),
    "aqlgen-too-old": Entry(
        "A newer aqlgen made this project",
        "This version would undo the newer one's changes.",
        "Install that version, or a newer one.",
    ),
    "merge-in-progress": Entry(
        "A git operation is in progress",
        "A merge, rebase, cherry-pick or revert is not finished.",
        "Finish or abort it, then update. docs/living.md explains conflicts in generated files.",
    ),
    "generated-path-linked": Entry(
        "A link or special file is at a generated path",
        "A generated path or folder is a symbolic link, junction, pipe, socket or device, for example a runtime "
        "shared by two projects. aqlgen does not follow links, since they may leave the project.",
        "Remove it, commit, and update: each project contains its own generated files.",
    ),
    "misleading-repository": Entry(
        "The repository names another work tree",
        "Its configuration sets core.worktree to another folder.",
        "Fix or unset core.worktree.",
    ),
    "untracked-in-the-way": Entry(
        "An uncommitted file is in the way",
        "The update would write to the path of an untracked or ignored file.",
        "Commit the file, even if it is ignored, or move it.",
    ),
}

ELEMENT_ENTRIES: Final[Mapping[str, Entry]] = {
    # Adapter elements
    "not-an-element": Entry(
        "The file is not an adapter element",
        "`aqlgen from-schema` reads files with `type: adapter`.",
        "Use `aqlgen from-openapi` for an OpenAPI document; docs/adapter-element.md shows an element.",
    ),
    "no-front-matter": Entry(
        "The Markdown file has no front matter",
        "The file does not begin with an element between two lines of three dashes.",
        "Put the element between two lines of three dashes at the top of the file.",
    ),
    "schema-missing-field": Entry(
        "The element lacks a field",
        "The protocol requires it, such as name, version and target of an element, or name and maps_to of an "
        "operation.",
        "Add the field as the suggestion shows.",
    ),
    "schema-invalid-type": Entry(
        "A value of the element has the wrong type",
        "Quotes turn a number or a boolean into a string; an unquoted version such as 1.0 is a number.",
        "Write the value as the suggestion shows.",
    ),
    "schema-invalid-value": Entry(
        "A value of the element is invalid",
        "It is not an allowed value, URL, path or content type, or contradicts a bound.",
        "Write a value that the message allows. Credentials belong in environment variables.",
    ),
    "schema-invalid-name": Entry(
        "A name in the element is misspelt",
        "Operations are snake_case; adapters have hyphens.",
        "Use the spelling in the suggestion.",
    ),
    "schema-duplicate-name": Entry(
        "A name in the element is not unique",
        "Two operations (also of different categories), two types, or two parameters of an operation share it.",
        "Rename one of them.",
    ),
    "schema-unresolved-ref": Entry(
        "The element names something undeclared",
        "A placeholder of a path or a query has no parameter, or `ref` names a type that `types` lacks.",
        "Declare it, or fix the name.",
    ),
    "schema-unknown-field": Entry(
        "The element has an unknown field",
        "The key is misspelt, at the wrong depth, or belongs to another form of the element.",
        "Fix or remove it; the message lists the known fields.",
    ),
    "schema-not-used": Entry(
        "A part of the element has no effect",
        "The adapter takes it from elsewhere: limits from adapter.toml, the trust level from "
        "`<name>-adapter trust promote`, hosts from base_url.",
        "Follow the message, or remove the part.",
    ),
}
