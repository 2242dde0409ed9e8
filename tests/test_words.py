from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqlgen.words import pascal, plural, singular, snake, split


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("listPets", "list pets"),
        ("PetStore", "pet store"),
        ("list-pets", "list pets"),
        ("list_pets", "list pets"),
        ("compute.instances.list", "compute instances list"),
        ("/repos/{owner}/pullRequests", "repos owner pull requests"),
        ("getDNSRecords", "get dns records"),
        ("listIDs", "list ids"),
        ("DBInstanceIDs", "db instance ids"),
        ("OAuth2Token", "oauth2 token"),
        ("OAuthTokens", "oauth tokens"),
        ("iOS", "ios"),
        ("macOSVersion", "macos version"),
        ("GitHubApp", "github app"),
        ("IPv4Address", "ipv4 address"),
        ("S3Bucket", "s3 bucket"),
        ("EC2Instances", "ec2 instances"),
        ("get2FACode", "get 2fa code"),
        ("v1beta2", "v1beta2"),
        ("users-1-day", "users 1 day"),
        ("user's", "users"),
        ("ÉtatCivil", "etat civil"),
        ("Straße", "strasse"),
        ("名前", "ming qian"),
        ("Питомцы", "pitomtsy"),
        ("ペット", "petto"),
        ("listПитомцы", "list pitomtsy"),
        ("obtenerNiños", "obtener ninos"),
        ("😀", ""),
        ("__", ""),
        ("", ""),
    ],
)
def test_a_name_is_split_into_its_words(name: str, words: str) -> None:
    assert " ".join(split(name)) == words


def test_a_sign_before_a_number_is_a_word_since_reactions_differ_in_it_alone() -> None:
    assert [snake("+1"), snake("-1")] == ["plus_1", "minus_1"]


def test_a_comparison_at_the_end_is_a_word_since_parameters_differ_in_it_alone() -> None:
    assert [snake("DateCreated"), snake("DateCreated<"), snake("DateCreated>=")] == [
        "date_created",
        "date_created_lt",
        "date_created_gte",
    ]


def test_a_name_that_starts_with_a_digit_gets_a_letter() -> None:
    assert [snake("404"), snake("2fa_code"), pascal(("3", "d"))] == ["n404", "n2fa_code", "N3D"]


@pytest.mark.parametrize(
    ("many", "single"),
    [
        ("policies", "policy"),
        ("statuses", "status"),
        ("addresses", "address"),
        ("indices", "index"),
        ("axes", "axis"),
        ("lenses", "lens"),
        ("caches", "cache"),
        ("people", "person"),
        ("ids", "id"),
        ("vpcs", "vpc"),
        ("analyses", "analysis"),
    ],
)
def test_nouns_for_many_have_one_for_one(many: str, single: str) -> None:
    assert singular(many) == single
    assert singular(single) == single
    assert singular(plural(single)) == single


@pytest.mark.parametrize(
    "word", ["metadata", "dns", "sms", "kubernetes", "aws", "news", "series", "analytics", "access"]
)
def test_some_nouns_are_the_same_for_one_and_for_many(word: str) -> None:
    assert (singular(word), plural(word)) == (word, word)


@given(st.text())
def test_no_text_makes_a_name_that_is_none(text: str) -> None:
    name = snake(text)
    assert name == "" or re.fullmatch(r"[a-z][a-z0-9_]*", name)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_text_with_a_letter_or_digit_always_makes_a_name(text: str) -> None:
    assert bool(snake(text)) == any(unicodedata.category(letter)[0] in "LN" for letter in text)


@given(st.lists(st.from_regex(r"[a-z][a-z0-9]{0,8}", fullmatch=True), min_size=1, max_size=5))
def test_snake_case_survives_another_splitting(words: list[str]) -> None:
    assert snake(snake("_".join(words))) == snake("_".join(words))
