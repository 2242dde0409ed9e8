"""What `introspect` finds by the index that is made at generation (R-INT-6), and what the index is like."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.introspection.introspect import Introspection
from aqlgen.runtime.introspection.postings import FILE, Entry, Hit, Postings, index_text, plain_entry
from aqlgen.runtime.introspection.ranking import Ranking
from aqlgen.runtime.introspection.vocabulary import terms
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Table
from aqlgen.table.search import search_index
from tests.cases import each
from tests.documents import TEXT, body_of, list_of, object_of, parameter, ref, replies
from tests.generator.commands import api, tabulate


def reads(summary: str, answer: Any, *queries: str, tag: str = "films") -> dict[str, Any]:
    parameters = [parameter(name) for name in queries]
    return {"summary": summary, "tags": [tag], "parameters": parameters, "responses": replies(answer)}


def of_many(item: Mapping[str, Any]) -> dict[str, Any]:
    return object_of(results=list_of(item))


FILMS = api(
    {
        "GET /search/movie": reads("Search movies", of_many(ref("Movie")), "query"),
        "GET /search/person": reads("Search people", of_many(ref("Person")), "query"),
        "GET /movie/{movie_id}": reads("Details of a movie", ref("Movie")),
        "GET /movie/{movie_id}/credits": reads("Credits of a movie", of_many(ref("Credit"))),
        "GET /person/{person_id}": reads("Details of a person", ref("Person")),
        "GET /playlists": reads("List playlists", {"type": "object"}, tag="music"),
        "POST /playlists": {"summary": "Create a playlist", "tags": ["music"], "responses": replies(status="201")},
        "DELETE /playlists/{playlist_id}": {"summary": "Delete a playlist", "responses": replies(status="204")},
    },
    components={
        "schemas": {
            "Movie": object_of(tagline=TEXT, poster=TEXT),
            "Person": object_of(birthday=TEXT),
            "Credit": object_of(job={"enum": ["director", "writer"], "type": "string"}),
        }
    },
)


def index_of(folder: Path, document: Mapping[str, Any]) -> str:
    return search_index(tabulate(folder, document).prepared.table)


@pytest.fixture
def ranking(tmp_path: Path) -> Ranking:
    return Ranking(Postings(index_of(tmp_path, FILMS)))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("birthday", "search_person"),
        ("whose birthday is it", "search_person"),
        ("tagline of a film", "search_movie"),
        ("director", "list_movie_credits"),
        ("get rid of a playlist", "delete_playlist"),
        ("throw the playlist away", "delete_playlist"),
        ("make a new playlist", "create_playlist"),
        ("Create a playlist with the name 'Details of a person' and the movie 17", "create_playlist"),
        ("playlsits", "list_playlists"),
        ("Details of a person", "get_person"),
    ],
)
def test_an_operation_is_found_by_its_fields_values_and_other_words(ranking: Ranking, text: str, name: str) -> None:
    """R-INT-6"""
    assert ranking.search(text).hits[0].name == name


@pytest.mark.parametrize("key", ["items", "anyOf"])
def test_types_that_are_made_of_each_other_or_of_many_more_are_indexed(tmp_path: Path, key: str) -> None:
    """R-INT-6"""
    chain = {f"Link{number}": ref(f"Link{number + 1}") for number in range(400)} | {"Link400": ref("Movie")}
    others = {"Value": ref("Values"), "Values": ref("Value")} | chain
    written = {name: {"items": to} if key == "items" else {"anyOf": [to, {}]} for name, to in others.items()}
    answer = object_of(value=ref("Value"), link=ref("Link0"), runtime=TEXT)
    document = copy.deepcopy(FILMS) | {"paths": {"/shows": {"get": reads("Shows", answer)}}}
    document["components"]["schemas"] |= written
    assert Ranking(Postings(index_of(tmp_path, document))).search("runtime").hits[0].name.endswith("_shows")


def test_what_finds_things_by_their_names_rises_when_names_are_asked_for(ranking: Ranking) -> None:
    """R-INT-6: a title is no word of the index, and the movie has to be found first."""
    names = [hit.name for hit in ranking.search("Who was the director of the movie Mulholland Drive?").hits]
    assert names.index("search_movie") < 4
    assert names[0] == "list_movie_credits"


def summarised(summaries: Mapping[str, str]) -> dict[str, Any]:
    """Return a document with an operation for each `METHOD /path`, which has nothing but a summary."""
    return api({key: {"summary": text, "responses": replies(status="204")} for key, text in summaries.items()})


CALENDARS = summarised(
    {
        "GET /calendars": "List all calendars",
        "GET /me/calendars": "List calendars",
        "PUT /calendars/{calendar}": "Updates a calendar.",
        "PATCH /calendars/{calendar}": "Updates a calendar. With patch semantics.",
        "GET /calendars/{calendar}/members": "Members of a calendar",
        "POST /calendars/{calendar}/clear": "Clear a calendar",
        "POST /calendars/batchClear": "Clear calendars",
        "GET /rooms/{room}/bookings": "Bookings of a room",
        "GET /bookings": "Bookings",
        "POST /calendars/{calendar}/invitations": "Add people",
    }
)


HOSTING = summarised(
    {
        "GET /v1/me": "A simple check of the token",
        "POST /login": "Authenticate",
        "GET /audit": "Entries of the audit log",
        "GET /commands/send": "Commands that a device may be sent",
        "POST /commands/send": "Dispatch commands to a device",
        "GET /orgs/{org}/repos": "All of them",
        "GET /orgs/{org}/repositories/enabled": "Enabled",
        "GET /repos/{repo}/forks": "Forks",
        "POST /repos/{repo}/forks": "Forks a copy",
        "POST /apps/{app}/deployments": "Bring an app out",
        "PUT /apps/{app}": "Update an app",
        "POST /builds/{build}/start": "Start build",
        "POST /sites/{site}/builds": "Runs a build for a site",
        "GET /domains/{domain}": "A domain",
        "POST /domains": "A domain is created",
        "POST /domains/{domain}/records": "A domain record is created",
        "GET /teams/{team}": "A team",
        "GET /teams/{team}/memberships": "Memberships of a team",
        "GET /memberships": "Memberships of teams or users",
        "GET /users/{user}": "A user",
        "GET /webhooks/info": "Information",
        "GET /chats/{chat}": "A chat",
        "DELETE /branches/{branch}/protection": "Delete branch protection",
        "DELETE /git/refs/{ref}": "Delete a reference",
        "DELETE /chats/{chat}/followers": "Remove the followers of a chat",
    }
)
STATE = {
    "summary": "Update the state of a chat",
    "requestBody": body_of(object_of(kind={"enum": ["open", "archived"]})),
}
HOSTING["paths"]["/chats/{chat}/state"] = {"put": STATE | {"responses": replies(status="204")}}
for path, filters in (("/teams/{team}/memberships", ["page"]), ("/memberships", ["team", "user"])):
    HOSTING["paths"][path]["get"] |= {"parameters": [parameter(name) for name in filters], "responses": replies({})}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Update the calendar with ID 'x', setting its title to 'Work'", "PUT /calendars/{calendar}"),
        ("Clear the calendar with ID 'x'", "POST /calendars/{calendar}/clear"),
        ("list my calendars", "GET /me/calendars"),
        ("Get the bookings of the room with ID 'r4'", "GET /rooms/{room}/bookings"),
        ("list bookings", "GET /bookings"),
        ("log in", "POST /login"),
        ("get my profile", "GET /v1/me"),
        ("get chat info", "GET /chats/{chat}"),
        ("delete a branch", "DELETE /git/refs/{ref}"),
        ("delete the protection of a branch", "DELETE /branches/{branch}/protection"),
        ("stop following this chat", "DELETE /chats/{chat}/followers"),
        ("send a command to a device", "POST /commands/send"),
        ("list repositories of an organization", "GET /orgs/{org}/repos"),
        ("fork a repo", "POST /repos/{repo}/forks"),
        ("trigger a new build for a site", "POST /sites/{site}/builds"),
        ("add a record to a domain", "POST /domains/{domain}/records"),
        ("archive a chat", "PUT /chats/{chat}/state"),
        ("Get the memberships of the team with ID '7'", "GET /teams/{team}/memberships"),
        ("Get the memberships of the team with ID '7' and the user with ID '9'", "GET /memberships"),
    ],
)
def test_what_a_question_asks_to_be_done_and_with_what_decides(tmp_path: Path, text: str, key: str) -> None:
    """R-INT-6: acts and reading, short forms, verbs of two words, values of fields, whose things, and ids."""
    document = HOSTING if {"calendar", "calendars", "bookings"}.isdisjoint(text.split()) else CALENDARS
    table = tabulate(tmp_path, document).prepared.table
    keys = {row.name: row.row.key for row in table.rows}
    assert keys[Ranking(Postings(search_index(table))).search(text).hits[0].name] == key


def test_a_harmless_operation_goes_before_an_equal_one_that_destroys(tmp_path: Path) -> None:
    """R-INT-6"""
    document = summarised({f"{method} /caches/{{cache}}/mode": "Mode of a cache" for method in ("GET", "DELETE")})
    index = Ranking(Postings(index_of(tmp_path, document)))
    for text in ("mode of a cache", "cache mode", "development mode"):
        assert [hit.family for hit in index.search(text).hits] == ["read", "delete"]


def test_an_exact_name_goes_before_one_of_the_same_words_without_small_ones() -> None:
    """R-INT-6"""
    entries = [plain_entry(name, "read", "safe", "user", summary)
               for name, summary in (("get_user", "Get User"), ("get_my_user", "Get Current User"))]  # fmt: skip
    index = Ranking(Postings(index_text(entries)))
    assert [index.search(name).hits[0].name for name in ("get_my_user", "get_user")] == ["get_my_user", "get_user"]


def test_the_exact_name_of_a_parameter_counts_as_a_whole() -> None:
    """R-INT-6: words that stand in another order are not that name."""
    flag, other = terms("cancel_at_period_end"), terms("end_at_period_cancel")
    plans = [
        Entry(Hit(name, "update", "reversible", "plan", (), "Change a plan"), {"name": ("plan",), "parameters": words})
        for name, words in (("a_plan", (*other, "".join(other))), ("b_plan", (*flag, "".join(flag))))
    ]
    shops = [plain_entry(f"list_shops{number}", "read", "safe", "shop", "List shops") for number in range(50)]
    index = Ranking(Postings(index_text([*plans, *shops])))
    for words in ("update plan cancel_at_period_end", "update the plan so that it cancels at period end"):
        assert index.search(words).hits[0].name == "b_plan"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("room in Oslo on 2026-11-30", "find_rooms_by_date"),
        ("room in Oslo on November 30th", "find_rooms_by_date"),
        ("room in Oslo on May 3, 2026", "find_rooms_by_date"),
        ("room in Oslo at 8:30", "find_rooms_by_time"),
        ("room 12 in Oslo for 4 people", "find_rooms"),
    ],
)
def test_a_value_that_is_a_date_or_a_time_by_its_form_finds_what_takes_one(text: str, first: str) -> None:
    """R-INT-6"""
    names = ("find_rooms", "find_rooms_by_date", "find_rooms_by_time")
    entries = [plain_entry(name, "read", "safe", "room", "Find rooms") for name in names]
    shops = [plain_entry(f"list_shops{number}", "read", "safe", "shop", "List shops") for number in range(50)]
    assert Ranking(Postings(index_text([*entries, *shops]))).search(text).hits[0].name == first


@pytest.mark.parametrize("text", ["", "???", "xylophone", "the of and", "🦄", "12345", "<id>", "映画を探す"])
def test_a_search_of_unknown_words_finds_nothing(ranking: Ranking, text: str) -> None:
    """R-INT-6: nothing rather than anything, in a script that the index does not have too."""
    assert ranking.search(text).hits == []
    assert ranking.search(text).weak


def test_what_probably_is_not_meant_is_weak_and_unknown_words_are_named(ranking: Ranking) -> None:
    """R-INT-6"""
    assert not ranking.search("details of a movie").weak
    matches = ranking.search("reboot the xylophone with details")
    assert matches.weak
    assert "xylophone" in matches.unknown


def test_a_new_operation_changes_only_the_lines_of_its_own_words(tmp_path: Path) -> None:
    document = copy.deepcopy(FILMS)
    document["paths"]["/studios"] = {"get": reads("List studios", {"type": "object"}, tag="studios")}
    (tmp_path / "more").mkdir()
    before, after = (
        set(text.splitlines()) for text in (index_of(tmp_path, FILMS), index_of(tmp_path / "more", document))
    )
    words = {line.split("\t")[0] for line in before - after}
    assert words <= {"list"}
    assert {line.split("\t")[0] for line in after - before} - words >= {"studio"}


def written(folder: Path, document: Mapping[str, Any], index: str | None) -> Introspection:
    tabulate(folder, document).write(folder)
    introspection = Introspection(Adapter.load(folder), Table(folder), Config())
    if index is not None:
        (folder / FILE).write_text(index, encoding="utf-8")
    return introspection


def names_of(introspection: Introspection, **params: str) -> list[str]:
    answer = introspection.answer({"query": "operations", **params}, None)
    return [operation["name"] for operation in answer["data"]["operations"]]


@pytest.mark.parametrize("index", [None, "", "of a later format\n\n"])
def test_a_project_without_an_index_is_searched_by_names_and_summaries(tmp_path: Path, index: str | None) -> None:
    """R-INT-6"""
    introspection = written(tmp_path, FILMS, index)
    assert names_of(introspection, search="movie details")[0] == "get_movie"


def test_the_index_is_read_at_the_first_search_and_can_be_narrowed(tmp_path: Path) -> None:
    """R-INT-6: nothing is read at start, and the operations are not read for a search."""
    index = index_of(tmp_path, FILMS)
    (tmp_path / "package").mkdir()
    introspection = written(tmp_path / "package", FILMS, index)
    for path in (tmp_path / "package" / "operations").iterdir():
        path.unlink()
    assert names_of(introspection, search="birthday") == ["search_person", "get_person"]
    assert names_of(introspection, search="playlist", category="DELETE") == ["delete_playlist"]
    assert names_of(introspection, search="playlist", resource="playlists")[0] == "list_playlists"
    assert names_of(introspection, search="confirm operation")[0] == "confirm_operation"


def test_an_unknown_operation_is_answered_with_candidates_of_other_words(tmp_path: Path) -> None:
    """R-ERR-1: one is proposed only if it is meant beyond reasonable doubt."""
    introspection = written(tmp_path, FILMS, index_of(tmp_path, FILMS))
    removed = introspection.unknown("remove_playlist")
    assert "Did you mean 'delete_playlist'?" in removed.message
    assert "Did you mean" not in introspection.unknown("start_playlist").message
    rated = introspection.unknown("rate_movie")
    assert "Did you mean" not in rated.message
    assert len(rated.details["available"]) <= 5
    assert rated.details["candidates"]["get_movie"].startswith("Details of a movie")
    assert list(rated.details["candidates"]) == rated.details["available"]


def test_a_name_is_found_among_many_operations_of_the_same_words(tmp_path: Path) -> None:
    """R-INT-6"""
    operations = {
        f"GET /orgs{number}/teams": {"summary": "List teams", "operationId": f"orgs{number}/list-teams"}
        for number in range(70)
    }
    document = api(operations | {"GET /user/teams": {"summary": "List teams of yours", "operationId": "listMyTeams"}})
    introspection = written(tmp_path, document, index_of(tmp_path, document))
    answered = introspection.answer({"query": "search", "search": "list_my_teams"}, None)["data"]
    assert [operation["name"] for operation in answered["operations"]] == ["list_my_teams"]


def test_a_name_that_is_asked_for_stands_before_a_summary_and_a_longer_name(tmp_path: Path) -> None:
    """R-INT-6"""
    ping, get, put = (
        {"summary": text, "responses": replies()} for text in ("Ping", "Get an archive", "Put an archive")
    )
    ways = {"GET /_ping": ping | {"operationId": "ping"}, "HEAD /_ping": ping | {"operationId": "pingHead"}}
    boxes = {
        "GET /a/{id}/archive": get | {"operationId": "ArchiveBox"},
        "PUT /a/{id}/archive": put | {"operationId": "PutBoxArchive"},
    }
    for paths in (ways, boxes):
        index = Ranking(Postings(index_of(tmp_path, api(paths))))
        names = [hit.name for hit in index.hits()]
        assert [index.search(name).hits[0].name for name in names] == names, names
    page = plain_entry(
        "create_site_page", "create", "safe", "site_page", "Create a page. Its day counts, not its time."
    )
    mark = plain_entry("create_page_mark", "create", "safe", "page_mark", "Add a mark to a page")
    assert Ranking(Postings(index_text([mark, page]))).search("create a page").hits[0].name == "create_site_page"


@each("text", ["how far is my parcel", "where is the parcel", "everything about my parcel", "parcels of my friends"])
def test_what_begins_as_a_question_is_answered_by_a_read(text: str) -> None:
    """R-INT-6"""
    entries = [
        plain_entry("create_parcel", "create", "safe", "parcel", "Send a parcel"),
        plain_entry("update_parcel", "update", "safe", "parcel", "Change a parcel"),
        plain_entry("get_parcel", "read", "safe", "parcel", "Show one parcel with its route"),
    ]
    ranking = Ranking(Postings(index_text(entries)))
    assert ranking.search("my parcel").hits[0].name != "get_parcel"
    assert ranking.search(text).hits[0].name == "get_parcel"
