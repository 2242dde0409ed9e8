"""Jobs of developers: GitHub, Hetzner and PagerDuty."""

from __future__ import annotations

from collections.abc import Sequence

from bench.jobs.model import Job, Step, changed, ref

__all__ = ["JOBS"]

REPO = {"owner": "acme", "repo": "shop"}
FROM = {"From": "ann@acme.example"}
ISSUES = Step(
    "GET /repos/{owner}/{repo}/issues",
    "list issues of a repository",
    {**REPO, "state": "open", "first": 100},
    id="issues",
)

JOBS: Sequence[Job] = (
    Job(
        "github",
        "Label every open issue with more than 6 comments as hot, and say so in a comment.",
        (
            changed(ISSUES, where={"comments": {"gt": 6}}, shown=("number", "title", "comments")),
            Step(
                "POST /repos/{owner}/{repo}/issues/{issue_number}/labels",
                "add labels to an issue",
                {**REPO, "issue_number": ref("item.number")},
                {"labels": ["hot"]},
                foreach=ref("issues.items"),
                shown=("name",),
            ),
            Step(
                "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
                "comment on an issue",
                {**REPO, "issue_number": ref("item.number")},
                {"body": "Marked as hot: many people wait for this."},
                foreach=ref("issues.items"),
            ),
        ),
        {"issues": ref("issues.items")},
    ),
    Job(
        "github",
        "File a bug about the broken invoice download, for octocat, with a comment that links the support case.",
        (
            Step("GET /repos/{owner}/{repo}/labels", "list labels of a repository", REPO, shown=("name",)),
            Step(
                "POST /repos/{owner}/{repo}/issues",
                "create an issue",
                REPO,
                {"title": "Invoice download is broken", "body": "The PDF is empty.", "labels": ["bug"]},
                id="new",
            ),
            Step(
                "POST /repos/{owner}/{repo}/issues/{issue_number}/assignees",
                "assign a user to an issue",
                {**REPO, "issue_number": ref("new.number")},
                {"assignees": ["octocat"]},
            ),
            Step(
                "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
                "comment on an issue",
                {**REPO, "issue_number": ref("new.number")},
                {"body": "Support case 4711."},
            ),
        ),
        {"number": ref("new.number"), "url": ref("new.html_url")},
    ),
    Job(
        "github",
        "Release v1.6: close the milestones that have no open issue, then publish the release.",
        (
            Step("GET /repos/{owner}/{repo}/releases", "list releases", REPO, shown=("tag_name", "draft")),
            Step(
                "GET /repos/{owner}/{repo}/milestones",
                "list milestones",
                REPO,
                id="milestones",
                where={"open_issues": 0},
                shown=("number", "title", "open_issues"),
            ),
            Step(
                "PATCH /repos/{owner}/{repo}/milestones/{milestone_number}",
                "close a milestone",
                {**REPO, "milestone_number": ref("item.number")},
                {"state": "closed"},
                foreach=ref("milestones.items"),
            ),
            Step(
                "POST /repos/{owner}/{repo}/releases",
                "create a release",
                REPO,
                {"tag_name": "v1.6", "name": "1.6", "generate_release_notes": True},
                id="release",
            ),
        ),
        {"closed": ref("milestones.items[*].title"), "release": ref("release.html_url")},
    ),
    Job(
        "github",
        "Which files do the pull requests that wait for review change, and how much?",
        (
            Step(
                "GET /repos/{owner}/{repo}/pulls",
                "list pull requests",
                {**REPO, "state": "open"},
                id="pulls",
                where={"draft": False},
                shown=("number", "title", "draft"),
            ),
            Step(
                "GET /repos/{owner}/{repo}/pulls/{pull_number}/files",
                "list the files that a pull request changes",
                {**REPO, "pull_number": ref("item.number")},
                id="files",
                foreach=ref("pulls.items"),
                shown=("filename", "changes"),
            ),
        ),
        {"pulls": ref("pulls.items"), "files": ref("files[*].items")},
    ),
    Job(
        "github",
        "If pull request 103 is approved merge it, and thank its author.",
        (
            Step(
                "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews",
                "list reviews of a pull request",
                {**REPO, "pull_number": 103},
                id="reviews",
                where={"state": "APPROVED"},
                shown=("state", "user.login"),
            ),
            Step(
                "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge",
                "merge a pull request",
                {**REPO, "pull_number": 103},
                {"merge_method": "squash"},
                id="merge",
                foreach=ref("reviews.items"),
            ),
            Step(
                "POST /repos/{owner}/{repo}/issues/{issue_number}/comments",
                "comment on an issue",
                {**REPO, "issue_number": 103},
                {"body": "Merged, thank you!"},
            ),
        ),
        {"approvals": ref("reviews.items"), "merged": ref("merge[0].sha")},
    ),
    Job(
        "github",
        "How many issues are open and closed, with how many comments, and how far are the milestones?",
        (
            changed(
                ISSUES,
                params={"state": "all"},
                aggregate={"group_by": "state", "count": True, "sum": "comments"},
            ),
            Step(
                "GET /repos/{owner}/{repo}/milestones",
                "list milestones",
                REPO,
                shown=("title", "open_issues", "closed_issues"),
            ),
            Step("GET /repos/{owner}/{repo}/contributors", "list contributors", REPO, shown=("login", "contributions")),
        ),
    ),
    Job(
        "hetzner",
        "Power on every server that is off, and show their state after it.",
        (
            Step(
                "GET /servers",
                "list servers",
                {"first": 50},
                id="servers",
                where={"status": "off"},
                shown=("id", "name", "status"),
            ),
            Step(
                "POST /servers/{id}/actions/poweron",
                "power on a server",
                {"id": ref("item.id")},
                foreach=ref("servers.items"),
                shown=("action.status",),
            ),
            Step(
                "GET /servers/{id}",
                "get a server",
                {"id": ref("item.id")},
                id="after",
                foreach=ref("servers.items"),
                shown=("server.name", "server.status"),
            ),
        ),
        {"after": ref("after")},
    ),
    Job(
        "hetzner",
        "Create a volume of 50 GB for web-7, attach it, and rename the server to db-1.",
        (
            Step(
                "GET /servers",
                "list servers",
                {"first": 50},
                id="servers",
                where={"name": "web-7"},
                shown=("id", "name"),
            ),
            Step("POST /volumes", "create a volume", {}, {"name": "db", "size": 50, "location": "fsn1"}, id="volume"),
            Step(
                "POST /volumes/{id}/actions/attach",
                "attach a volume to a server",
                {"id": ref("volume.volume.id")},
                {"server": ref("servers.items[0].id"), "automount": True},
            ),
            Step(
                "PUT /servers/{id}",
                "rename a server",
                {"id": ref("servers.items[0].id")},
                {"name": "db-1"},
            ),
        ),
        {"volume": ref("volume.volume.id"), "server": ref("servers.items[0].id")},
    ),
    Job(
        "hetzner",
        "Count the servers by their state, add up the volumes, and name the keys.",
        (
            Step("GET /servers", "list servers", {"first": 50}, aggregate={"group_by": "status", "count": True}),
            Step("GET /volumes", "list volumes", {"first": 50}, aggregate={"count": True, "sum": "size"}),
            Step("GET /ssh_keys", "list ssh keys", shown=("name",)),
        ),
    ),
    Job(
        "hetzner",
        "Delete the volumes that no server has.",
        (
            Step(
                "GET /volumes",
                "list volumes",
                {"first": 50},
                id="volumes",
                where={"server": None},
                shown=("id", "name", "server"),
            ),
            Step(
                "DELETE /volumes/{id}",
                "delete a volume",
                {"id": ref("item.id")},
                foreach=ref("volumes.items"),
            ),
        ),
        {"deleted": ref("volumes.items[*].name")},
    ),
    Job(
        "pagerduty",
        "Acknowledge the triggered incidents of high urgency, and note on each that we look at it.",
        (
            Step(
                "GET /incidents",
                "list incidents",
                {"statuses[]": "triggered", "first": 100},
                id="incidents",
                where={"urgency": "high"},
                shown=("id", "title", "urgency"),
            ),
            Step(
                "PUT /incidents/{id}",
                "acknowledge an incident",
                {**FROM, "id": ref("item.id")},
                {"incident": {"type": "incident_reference", "status": "acknowledged"}},
                foreach=ref("incidents.items"),
            ),
            Step(
                "POST /incidents/{id}/notes",
                "add a note to an incident",
                {**FROM, "id": ref("item.id")},
                {"note": {"content": "We look at it."}},
                foreach=ref("incidents.items"),
            ),
        ),
        {"incidents": ref("incidents.items[*].title")},
    ),
    Job(
        "pagerduty",
        "Open an incident for Service 7 and snooze the low ones that are acknowledged for an hour.",
        (
            Step(
                "GET /services",
                "list services",
                {"first": 100},
                id="services",
                where={"name": "Service 7"},
                shown=("id", "name"),
            ),
            Step(
                "POST /incidents",
                "create an incident",
                FROM,
                {
                    "incident": {
                        "type": "incident",
                        "title": "Payments are slow",
                        "service": {"id": ref("services.items[0].id"), "type": "service_reference"},
                    }
                },
                id="new",
            ),
            Step(
                "GET /incidents",
                "list incidents",
                {"statuses[]": "acknowledged", "first": 100},
                id="low",
                where={"urgency": "low"},
                shown=("id", "title", "urgency"),
            ),
            Step(
                "POST /incidents/{id}/snooze",
                "snooze an incident",
                {**FROM, "id": ref("item.id")},
                {"duration": 3600},
                foreach=ref("low.items"),
            ),
        ),
        {"incident": ref("new.incident.id"), "snoozed": ref("low.items[*].title")},
    ),
    Job(
        "pagerduty",
        "How many incidents are in which state, which teams are there, and who is Person 9?",
        (
            Step("GET /incidents", "list incidents", {"first": 100}, aggregate={"group_by": "status", "count": True}),
            Step("GET /teams", "list teams", shown=("id", "name")),
            Step("GET /users", "list users", {"first": 100}, where={"name": "Person 9"}, shown=("id", "name", "email")),
        ),
    ),
)
