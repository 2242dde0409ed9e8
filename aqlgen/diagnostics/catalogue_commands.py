"""The codes of what a user asks for, and of projects and their repositories; the rest is in `catalogue`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["COMMAND_ENTRIES", "Entry"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One kind of finding, explained once: its title, its usual cause, and the way out."""

    title: str
    cause: str
    fix: str


COMMAND_ENTRIES: Final[Mapping[str, Entry]] = {
    # What the user asked for
    "bad-option": Entry(
        "An option cannot be used",
        "The value given on the command line or in the environment is mistyped or matches nothing.",
        "See aqlgen --help for what each option takes.",
    ),
    "bad-policy": Entry(
        "The policy of the safety server cannot be used",
        "A key of the file is mistyped or belongs to an adapter of an API, a value is none that it takes, or a "
        "variable MCP_AQL_… is wrong.",
        "Correct what the message names; docs/safety-server.md shows a policy. No server runs without a whole one.",
    ),
    "bad-setting": Entry(
        "A setting of the adapter cannot be used",
        "A variable MCP_AQL_… or a key of adapter.toml is mistyped, or its value is none that it takes.",
        "Correct what the message names; docs/settings.md lists every setting. No server starts with a wrong one.",
    ),
    "bad-override": Entry(
        "An override cannot be used",
        "The overrides file is not valid, or an entry names an operation, field or value that there is not.",
        "Key overrides by METHOD /path as in the document, by operation:NAME, tag:NAME or a pattern; aqlgen explain "
        "lists the operations.",
    ),
    "unmatched-override": Entry(
        "An override fits nothing",
        "The overrides name an operation, a tag, a parameter, a security scheme or a content type that the document "
        "lacks, or a pattern matches nothing.",
        "Correct the name; where the API gave it up, delete the entry.",
    ),
    "contradicted-observation": Entry(
        "The document contradicts what was observed of the API",
        "An entry of overrides.yaml was observed, and the newer document says something else there than it did before.",
        "Run `aqlgen learn` again, or delete the field where the document is right now; until then the entry holds.",
    ),
    "unmatched-accept": Entry(
        "An entry of accept is about nothing",
        "`adapter: {accept: […]}` in the overrides names an operation, tag or rule that there is not, or no longer.",
        "Correct the entry, or delete it. Until then, what it was meant for is under review.",
    ),
    "bad-answer": Entry(
        "An answer to a question of the review cannot be used",
        "A line is not JSON, names an operation that there is not, or has another answer than always, first and never.",
        "Correct the line; aqlgen explain --questions prints the questions. Until then nothing of the file is written.",
    ),
    "learn-failed": Entry(
        "The API could not be observed",
        "The adapter of the project does not start, or it is of a release that has no command `learn`.",
        "Correct what the adapter says, or run aqlgen update. Its command doctor shows what is missing.",
    ),
    "unmatched-pattern": Entry(
        "A pattern of --include or --exclude matches nothing",
        "It is mistyped, or the API gave up the tag, path or operation that it was for.",
        "Correct the pattern; aqlgen explain lists the operations. An update goes on without it and warns.",
    ),
    "output-not-empty": Entry(
        "The destination is in use",
        "The folder exists and is not empty, and nothing of yours is ever overwritten.",
        "Choose another folder with -o, or empty it.",
    ),
    "output-unwritable": Entry(
        "The destination cannot be written",
        "The operating system refused: permissions, a full disk, or a file where a folder should be.",
        "Choose another place with -o, or make it writable.",
    ),
    "machine-file-edited": Entry(
        "A generated file was edited by hand",
        "The file is written anew on every update. The message names the override that does the same, if there is one.",
        "Make the change where the message says: in overrides.yaml, in the document, by an overlay, or in hooks.py.",
    ),
    "machine-file-forked": Entry(
        "A file of code is kept as it was edited",
        "It was edited by hand, and aqlgen update --keep-edits made it a fork: it is never replaced, and may not fit "
        "the rest of the runtime, which is.",
        "Move the change to hooks.py, adapter.toml or overrides.yaml; then delete the file, commit, and update. To "
        "check a project that is to stay a fork, give --keep-edits.",
    ),
    "machine-file-missing": Entry(
        "A generated file is missing",
        "It was deleted, or never committed.",
        "Run aqlgen update, which writes it anew, or bring it back from the repository.",
    ),
    "machine-file-extra": Entry(
        "A file is where only generated ones belong",
        "It was put into a folder that aqlgen alone writes to, and may write to under the same name.",
        "Move it elsewhere in the project.",
    ),
    "module-shadowed": Entry(
        "A file takes the place of a module",
        "It stands under src, aqlgen did not write it, and Python would import it instead of a generated module, of a "
        "library or of Python's own.",
        "Delete it. Helpers of hooks.py belong into the package, under a name that no generated module has.",
    ),
    "installed-differs": Entry(
        "What is installed is another package than that in the folder",
        "The environment of the project holds a copy, or leads to another folder, so that an edit here has no effect "
        "there, and code may run that nobody looks at here.",
        "Install the project again, as README.md says (pip install -e .), or remove what is installed.",
    ),
    "not-reproducible": Entry(
        "Generated again, a file comes out otherwise",
        "The overrides were changed since the project was generated, or its record or aqlgen itself was.",
        "Run aqlgen update, and commit what comes of it.",
    ),
    "provenance-damaged": Entry(
        "The record of the project cannot be relied on",
        "MCPAQL-PROVENANCE.json was edited, or is of an aqlgen that did not record the hashes of files.",
        "Bring it back from the repository, or run aqlgen update once.",
    ),
    "template-failed": Entry(
        "A template failed",
        "The project could not be rendered or formatted: aqlgen or one of its libraries is damaged.",
        "Install aqlgen again; if it stays, report it with the message.",
    ),
    "nothing-to-compare": Entry(
        "It is not known what is to be compared",
        "What was given is no file and no folder, and git knows no such revision in this repository.",
        "Check the path; fetch the branch or the tag, which a shallow clone may lack.",
    ),
    # A project and its repository
    "not-a-project": Entry(
        "The folder is no project of aqlgen",
        "Another folder was named, or the project's MCPAQL-PROVENANCE.json was deleted.",
        "Name the folder that holds MCPAQL-PROVENANCE.json; bring the file back from git if it is gone.",
    ),
    "records-in-conflict": Entry(
        "The records of the project are in conflict",
        "Two branches both updated the project and were merged; what aqlgen wrote of each cannot be merged by lines.",
        "Take the generated files of one side, finish the merge, then update to the newer document.",
    ),
    "project-damaged": Entry(
        "A record of the project cannot be used",
        "A file that aqlgen wrote about the project was edited, or holds a conflict that is not resolved.",
        "Bring the file back from git, or resolve the conflict by taking one of its versions whole.",
    ),
    "kept-document-missing": Entry(
        "The kept document is gone",
        "The project's folder openapi was deleted, renamed or never committed.",
        "Bring it back from git, or give the document again with --spec.",
    ),
    "git-missing": Entry(
        "Git is not there",
        "An update is a merge by git, and no command of that name is on the PATH.",
        "Install git, and run the command again.",
    ),
    "git-too-old": Entry(
        "Git is too old",
        "Older versions merge and find renames in another way than those that aqlgen is tested with.",
        "Install a newer git; the message names the oldest that will do.",
    ),
    "git-failed": Entry(
        "Git failed",
        "Git refused or could not do what it was asked; the message has its own words.",
        "Do what git asks for, such as removing a stale lock or trusting the folder by safe.directory.",
    ),
    "not-a-repository": Entry(
        "The project is in no git repository",
        "The project was never put under version control, or the folder was copied without its repository.",
        "Make a repository and commit the project as it was generated, before anything is edited.",
    ),
    "no-commit": Entry(
        "The repository has no commit yet",
        "An update merges with the last commit, and there is none.",
        "Commit the project first.",
    ),
    "project-not-committed": Entry(
        "The project is not committed",
        "The repository does not hold the project's files: they were never added, or are ignored.",
        "Add the whole project by git add --all --force, and commit it.",
    ),
    "uncommitted-changes": Entry(
        "There are changes that are not committed",
        "The merge could not be told from them, nor taken back without them.",
        "Commit them or put them aside by git stash; then update.",
    ),
    "unresolved-conflicts": Entry(
        "Conflicts are not resolved",
        "An earlier update or merge left files to be decided on, and they still are.",
        "Edit what stands between the marks, add the files by git add, and commit; then update.",
    ),
    "aqlgen-too-old": Entry(
        "The project was made by a newer aqlgen",
        "Somebody updated it with a newer version; this one would take back what that brought.",
        "Install that version, or a newer one.",
    ),
    "merge-in-progress": Entry(
        "Git is in the middle of something",
        "A merge, rebase, cherry-pick or revert was begun and not finished.",
        "Finish it or abort it; then update.",
    ),
    "content-elsewhere": Entry(
        "Git has only pointers to the files",
        "The repository keeps files in Git LFS, and this clone was made without their contents.",
        "Bring them by `git lfs pull`, then update.",
    ),
    "generated-path-linked": Entry(
        "A link or a special file is where aqlgen generates",
        "A generated path, or a folder of it, is a symbolic link, a junction, a pipe, a socket or a device, as when "
        "two projects share a runtime by a link. aqlgen follows none, since it may lead out of the project.",
        "Remove it, commit, and update: each project holds its own generated files.",
    ),
    "misleading-repository": Entry(
        "The repository names another work tree",
        "The configuration of the repository that git finds for the folder says that the work tree is elsewhere.",
        "Correct or unset core.worktree in its configuration.",
    ),
    "untracked-in-the-way": Entry(
        "Something that is not committed is in the way",
        "The update would write a file where one lies that git does not keep: untracked, or ignored.",
        "Commit it, also when it is ignored, or move it away.",
    ),
}
