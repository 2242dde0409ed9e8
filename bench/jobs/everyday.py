"""Jobs of everyday work: Asana and Spotify."""

from __future__ import annotations

from collections.abc import Sequence

from bench.jobs.model import Job, Step, ref

JOBS: Sequence[Job] = (
    Job(
        "asana",
        "Move the open tasks of Launch that were due before 6 November to the 30th.",
        (
            Step(
                "GET /projects",
                "list projects of a workspace",
                {"workspace": "500"},
                id="projects",
                where={"name": "Launch"},
                shown=("gid", "name"),
            ),
            Step(
                "GET /projects/{project_gid}/tasks",
                "list tasks of a project",
                {
                    "project_gid": ref("projects.items[0].gid"),
                    "opt_fields": ["name", "due_on", "completed"],
                    "first": 100,
                },
                id="tasks",
                where={"completed": False, "due_on": {"lt": "2026-11-06"}},
                shown=("gid", "name", "due_on", "completed"),
            ),
            Step(
                "PUT /tasks/{task_gid}",
                "update a task",
                {"task_gid": ref("item.gid")},
                {"data": {"due_on": "2026-11-30"}},
                foreach=ref("tasks.items"),
            ),
        ),
        {"moved": ref("tasks.items[*].name")},
    ),
    Job(
        "asana",
        "Set up the project Spring Sale with the sections Plan, Build and Sell, and a task in the first.",
        (
            Step("GET /workspaces", "list workspaces", id="spaces", shown=("gid", "name")),
            Step(
                "POST /projects",
                "create a project",
                {},
                {"data": {"name": "Spring Sale", "workspace": ref("spaces.items[0].gid")}},
                id="project",
            ),
            Step(
                "POST /projects/{project_gid}/sections",
                "create a section in a project",
                {"project_gid": ref("project.data.gid")},
                {"data": {"name": ref("item")}},
                id="sections",
                foreach=["Plan", "Build", "Sell"],
            ),
            Step(
                "POST /tasks",
                "create a task",
                {},
                {"data": {"name": "Write the brief", "projects": [ref("project.data.gid")], "due_on": "2026-12-10"}},
                id="task",
            ),
            Step(
                "POST /sections/{section_gid}/addTask",
                "add a task to a section",
                {"section_gid": ref("sections[0].data.gid")},
                {"data": {"task": ref("task.data.gid")}},
            ),
        ),
        {"project": ref("project.data.gid"), "task": ref("task.data.gid")},
    ),
    Job(
        "asana",
        "Give Bo Kim the open review tasks of Launch, and tell him on each of them.",
        (
            Step(
                "GET /workspaces/{workspace_gid}/users",
                "find users of a workspace",
                {"workspace_gid": "500"},
                id="users",
                where={"name": "Bo Kim"},
                shown=("gid", "name"),
            ),
            Step(
                "GET /projects/{project_gid}/tasks",
                "list tasks of a project",
                {"project_gid": "900", "opt_fields": ["name", "completed", "due_on"], "first": 100},
                id="tasks",
                where={"completed": False, "name": {"contains": "Review page 1"}},
                shown=("gid", "name", "completed"),
            ),
            Step(
                "PUT /tasks/{task_gid}",
                "assign a task to a user",
                {"task_gid": ref("item.gid")},
                {"data": {"assignee": ref("users.items[0].gid")}},
                foreach=ref("tasks.items"),
            ),
            Step(
                "POST /tasks/{task_gid}/stories",
                "comment on a task",
                {"task_gid": ref("item.gid")},
                {"data": {"text": "Bo, please take this one."}},
                foreach=ref("tasks.items"),
            ),
        ),
        {"given": ref("tasks.items[*].name")},
    ),
    Job(
        "asana",
        "How many tasks of Launch are done, which sections has it, and what is due on the 20th?",
        (
            Step(
                "GET /projects/{project_gid}/tasks",
                "list tasks of a project",
                {"project_gid": "900", "opt_fields": ["completed"], "first": 100},
                aggregate={"group_by": "completed", "count": True},
            ),
            Step(
                "GET /projects/{project_gid}/sections",
                "list sections of a project",
                {"project_gid": "900"},
                shown=("name",),
            ),
            Step(
                "GET /projects/{project_gid}/tasks",
                "list tasks of a project",
                {"project_gid": "900", "opt_fields": ["name", "due_on"], "first": 100},
                where={"due_on": "2026-11-20"},
                shown=("gid", "name", "due_on"),
            ),
        ),
    ),
    Job(
        "spotify",
        "Make a private playlist Best of Road of the tracks of Road with a popularity over 60.",
        (
            Step("GET /me/playlists", "list my playlists", id="mine", where={"name": "Road"}, shown=("id", "name")),
            Step(
                "GET /playlists/{playlist_id}/items",
                "list items of a playlist",
                {"playlist_id": ref("mine.items[0].id"), "first": 50},
                id="tracks",
                where={"track.popularity": {"gt": 60}},
                shown=("track.uri", "track.name", "track.popularity"),
            ),
            Step(
                "POST /me/playlists",
                "create a playlist",
                {},
                {"name": "Best of Road", "public": False},
                id="new",
            ),
            Step(
                "POST /playlists/{playlist_id}/items",
                "add items to a playlist",
                {"playlist_id": ref("new.id")},
                {"uris": ref("tracks.items[*].track.uri")},
            ),
        ),
        {"playlist": ref("new.id"), "names": ref("tracks.items[*].track.name")},
    ),
    Job(
        "spotify",
        "Make my old playlists private, and mark them as archived.",
        (
            Step(
                "GET /me/playlists",
                "list my playlists",
                id="mine",
                where={"name": {"contains": "old "}},
                shown=("id", "name", "public"),
            ),
            Step(
                "PUT /playlists/{playlist_id}",
                "change the details of a playlist",
                {"playlist_id": ref("item.id")},
                {"public": False, "description": "Archived"},
                foreach=ref("mine.items"),
            ),
        ),
        {"archived": ref("mine.items[*].name")},
    ),
    Job(
        "spotify",
        "Which tracks are on the albums of artist ar1 with more than 16 tracks?",
        (
            Step(
                "GET /artists/{id}/albums",
                "list albums of an artist",
                {"id": "ar1", "first": 50},
                id="albums",
                where={"total_tracks": {"gt": 16}},
                shown=("id", "name", "total_tracks"),
            ),
            Step(
                "GET /albums/{id}/tracks",
                "list tracks of an album",
                {"id": ref("item.id")},
                id="tracks",
                foreach=ref("albums.items"),
                shown=("name",),
            ),
        ),
        {"albums": ref("albums.items"), "tracks": ref("tracks[*].items")},
    ),
)
