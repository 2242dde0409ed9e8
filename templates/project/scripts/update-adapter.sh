# shared: yours to edit; `aqlgen update` merges its own changes into it.
# Generates this adapter again from the API's current document and proposes the difference for review:
#
#   sh scripts/update-adapter.sh            both of these:
#   sh scripts/update-adapter.sh update     changes the files, tests them, writes a report; nothing leaves this machine
#   sh scripts/update-adapter.sh propose    commits to a branch of its own, pushes it, opens or refreshes a pull request
#
# It needs git, aqlgen, and gh (GitHub's command line) to propose. From the environment, each with a default:
#
#   SPEC      the document, a URL or a file; default: the address that the adapter was made from, else the kept document
#   HEADER    a header for the document's server
#   TEST      the command that tests the project; default: $PYTHON -m pytest -q
#   PYTHON    default: .venv/bin/python if it is there, else python
#   REMOTE    default: origin       BRANCH  default: aqlgen/<package>

set -eu
cd -- "$(dirname -- "$0")/.."

venv=.venv/bin/python # of README.md, with the tools of developers
[ -x "$venv" ] || venv=python
PYTHON=${PYTHON:-$venv}
REMOTE=${REMOTE:-origin}
TEST=${TEST:-"$PYTHON -m pytest -q"}
MARK=Aqlgen-Tree

say() { printf '%s\n' "$*" >&2; }
die() {
    say "$@"
    exit 1
}

package=$(cd src && printf '%s\n' */adapter.json)
package=${package%%/*}
BRANCH=${BRANCH:-aqlgen/$package}
report=$(git rev-parse --absolute-git-dir)/aqlgen-$package.md
unready=${report%.md}.unready # is there when the proposal is a draft

recorded_address() {
    "$PYTHON" -c '
import json
with open("MCPAQL-PROVENANCE.json", encoding="utf-8") as file:
    print(json.load(file)["options"].get("spec_url") or "")'
}

conflicted() { git -c core.quotePath=false diff --name-only --diff-filter=U --relative; }

update() {
    rm -f -- "$report" "$unready"
    spec=${SPEC:-$(recorded_address)}
    set --
    [ -z "$spec" ] || set -- "$@" "--spec=$spec"
    [ -z "${HEADER:-}" ] || set -- "$@" "--header=$HEADER"
    code=0
    aqlgen update "$@" || code=$?
    conflicts=$(conflicted)
    [ "$code" -eq 0 ] || [ -n "$conflicts" ] || exit "$code"
    if [ -z "$(git status --porcelain --untracked-files=no -- .)" ]; then
        say "Nothing has changed."
        return
    fi
    aqlgen diff HEAD --output-format markdown --fail-on never >"$report" # begins with credentials and hosts, if they change
    printf '\naqlgen has generated this adapter again.\n' >>"$report"
    if [ -n "$conflicts" ]; then
        : >"$unready"
        {
            printf '\n## Conflicts\n\nBoth sides stand in these files; choose, then commit to this branch:\n\n```\n'
            printf '%s\n' "$conflicts" | head -n 100
            printf '```\n'
        } >>"$report"
    elif sh -c "$TEST" >&2; then
        printf '\nThe tests of the project pass.\n' >>"$report"
    else
        : >"$unready"
        printf '\n**The tests of the project fail.** See the output of the run.\n' >>"$report"
    fi
    [ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat -- "$report" >>"$GITHUB_STEP_SUMMARY"
    say "The report is in $report"
}

# Whether a branch holds one commit at most, and that one as this script made it: then nobody's work is on it.
own() {
    ahead=$(git rev-list --count "HEAD..$1")
    [ "$ahead" -ne 0 ] || return 0
    mark=$(git log -1 --format="%(trailers:key=$MARK,valueonly,separator=)" "$1")
    [ "$ahead" -eq 1 ] && [ "$mark" = "$(git rev-parse "$1^{tree}")" ]
}

propose() {
    if [ ! -f "$report" ]; then
        say "There is nothing to propose."
        return
    fi
    start=$(git symbolic-ref --quiet --short HEAD) || die "Check out a branch first: the pull request needs one to go to."
    [ -z "$(git status --porcelain --untracked-files=no -- :/ ':(exclude).')" ] ||
        die "There are uncommitted changes outside of the adapter's folder: commit or stash them."
    listed=$(git ls-remote "$REMOTE" "refs/heads/$BRANCH")
    old=${listed%%[!0-9a-f]*}
    if [ -n "$old" ]; then
        git fetch --quiet "$REMOTE" "refs/heads/$BRANCH"
        own "$old" || die "The branch $BRANCH holds commits of others and is left alone: merge it, or delete it."
    fi

    git add --update -- .
    tree=$(git write-tree)
    if [ -z "$old" ] || [ "$tree" != "$(git rev-parse "$old^{tree}")" ]; then
        commit=$(printf 'Update the adapter\n\n%s: %s\n' "$MARK" "$tree" | commit_tree "$tree")
        git push --quiet --force-with-lease="refs/heads/$BRANCH:$old" "$REMOTE" "$commit:refs/heads/$BRANCH" ||
            die "The branch could not be pushed. To change .github/workflows it needs a token that may: see AQLGEN_TOKEN there."
    fi
    open_request
    git reset --quiet --hard # all of it stands on the branch
    rm -f -- "$report" "$unready"
}

commit_tree() {
    if git config user.email >/dev/null; then
        git commit-tree "$1" -p HEAD
    else
        git -c user.name=aqlgen -c user.email=aqlgen@localhost commit-tree "$1" -p HEAD
    fi
}

open_request() {
    title="Update $package"
    number=$(gh pr list --head "$BRANCH" --base "$start" --state open --json number --jq '.[0].number // empty')
    if [ -n "$number" ]; then
        gh api --silent --method PATCH "repos/{owner}/{repo}/pulls/$number" -f "title=$title" -F "body=@$report"
        if [ -f "$unready" ]; then gh pr ready "$number" --undo || true; else gh pr ready "$number"; fi
        return
    fi
    set -- --head "$BRANCH" --base "$start" --title "$title" --body-file "$report"
    if [ -f "$unready" ]; then
        gh pr create "$@" --draft || gh pr create "$@" # not every repository has drafts
    else
        gh pr create "$@"
    fi
}

case ${1:-} in
'')
    update
    propose
    ;;
update) update ;;
propose) propose ;;
*) die "What is $1? Say update, propose, or nothing for both." ;;
esac
