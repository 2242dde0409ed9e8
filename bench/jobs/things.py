"""The things that there are before each job, by the collection of the stand-in that holds them."""

from __future__ import annotations

from collections.abc import Mapping

from bench.jobs.model import Api

__all__ = ["APIS"]

SHOP = "/repos/acme/shop"
_GITHUB = {
    f"{SHOP}/issues": [
        {
            "number": number,
            "title": f"{('Checkout fails', 'Slow search', 'Typo in the footer')[number % 3]} ({number})",
            "state": "closed" if number % 4 == 0 else "open",
            "comments": number % 9,
        }
        for number in range(1, 35)
    ],
    f"{SHOP}/labels": [
        {"id": number, "name": name, "color": "d73a4a"}
        for number, name in enumerate(("bug", "hot", "docs", "help wanted", "performance", "security"), 1)
    ],
    f"{SHOP}/milestones": [
        {"number": number, "title": f"1.{number}", "state": "open", "open_issues": 4 - number, "closed_issues": 9}
        for number in range(1, 5)
    ],
    f"{SHOP}/pulls": [
        {"number": 100 + number, "title": f"Change {number}", "state": "open", "draft": number % 2 == 0}
        for number in range(1, 11)
    ],
    f"{SHOP}/releases": [{"id": number, "tag_name": f"v1.{number}", "draft": False} for number in range(1, 6)],
    **{
        f"{SHOP}/pulls/{100 + number}/files": [
            {"filename": f"src/part{index}.py", "changes": index * 7, "status": "modified"} for index in range(1, 5)
        ]
        for number in range(1, 11)
    },
    f"{SHOP}/pulls/103/reviews": [
        {"id": 1, "state": "APPROVED", "body": "Fine."},
        {"id": 2, "state": "COMMENTED", "body": "?"},
    ],
}
_ASANA = {
    "/workspaces": [{"gid": "500", "name": "Acme"}],
    "/projects": [{"gid": "900", "name": "Launch"}, {"gid": "901", "name": "Hiring"}],
    "/projects/900/sections": [
        {"gid": str(910 + number), "name": name} for number, name in enumerate(("To do", "Done"))
    ],
    "/users": [{"gid": str(40 + number), "name": name} for number, name in enumerate(("Ann Lee", "Bo Kim", "Cy Roth"))],
    "/tasks": [
        {
            "gid": str(1000 + number),
            "name": f"{('Write', 'Review', 'Ship')[number % 3]} page {number}",
            "completed": number % 3 == 0,
            "due_on": f"2026-11-{number % 28 + 1:02}",
            "notes": "As agreed in the meeting. " * 10,
        }
        for number in range(1, 41)
    ],
}
_SPOTIFY = {
    "/playlists": [
        {"id": f"pl{number}", "name": name, "public": number % 2 == 0, "description": "Songs"}
        for number, name in enumerate(("Road", "old Gym", "Focus", "old Party", "Sleep", "old Summer"))
    ],
    "/playlists/pl0/items": [
        {
            "added_at": "2026-01-01T00:00:00Z",
            "track": {
                "id": f"t{number}",
                "uri": f"spotify:track:t{number}",
                "name": f"Song {number}",
                "popularity": number * 3,
            },
        }
        for number in range(1, 31)
    ],
    "/artists/ar1/albums": [
        {"id": f"al{number}", "name": f"Album {number}", "total_tracks": 8 + number, "album_type": "album"}
        for number in range(1, 13)
    ],
    **{
        f"/albums/al{number}/tracks": [
            {"id": f"t{number}{index}", "uri": f"spotify:track:t{number}{index}", "name": f"Take {index}"}
            for index in range(1, 9)
        ]
        for number in range(1, 13)
    },
    "/me/albums": [],
    "/me/tracks": [],
}
_HETZNER = {
    "/servers": [
        {"id": number, "name": f"web-{number}", "status": "off" if number % 5 == 0 else "running"}
        for number in range(1, 26)
    ],
    "/volumes": [
        {
            "id": 300 + number,
            "name": f"data-{number}",
            "size": 10 * number,
            "server": None if number % 4 == 0 else number,
        }
        for number in range(1, 13)
    ],
    "/ssh_keys": [{"id": 20, "name": "ann"}],
}
_PAGERDUTY = {
    "/incidents": [
        {
            "id": f"P{number}",
            "incident_number": number,
            "title": f"Queue {number} is long",
            "status": ("triggered", "acknowledged", "resolved")[number % 3],
            "urgency": "high" if number % 2 else "low",
        }
        for number in range(1, 25)
    ],
    "/services": [{"id": f"S{number}", "name": f"Service {number}", "status": "active"} for number in range(1, 13)],
    "/users": [
        {"id": f"U{number}", "name": f"Person {number}", "email": f"p{number}@acme.example"} for number in range(1, 16)
    ],
    "/teams": [{"id": "T1", "name": "Payments"}, {"id": "T2", "name": "Search"}],
}

APIS: Mapping[str, Api] = {
    "github": Api("github.json", "GITHUB_TOKEN", _GITHUB),
    "asana": Api(
        "asana.yaml",
        "ASANA_PERSONAL_ACCESS_TOKEN",
        _ASANA,
        {r"/workspaces/500/users$": "/users", r"/(projects|sections)/9\d\d/tasks$": "/tasks"},
        "PUT /tasks/{task_gid}: {send: named}",
    ),
    "spotify": Api(
        "spotify.yaml", "SPOTIFY_WEB_OAUTH_2_0_TOKEN", _SPOTIFY, {r"^/(users/\w+|me)/playlists$": "/playlists"}
    ),
    "hetzner": Api("hetzner-cloud.json", "HETZNER_CLOUD_API_TOKEN", _HETZNER),
    "pagerduty": Api("pagerduty.json", "PAGERDUTY_API_KEY", _PAGERDUTY),
}
