"""Documents in several files: the bundle, and its diagnostics."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from commands import run

from aqlgen.diagnostics.errors import AqlgenError, DocumentError
from aqlgen.document.assemble import Assembled, assemble
from aqlgen.document.read import Limits
from aqlgen.document.request import Request

HEAD = 'openapi: "{version}"\ninfo: {{title: Shop, version: "1"}}\n'
PETS = """paths:
  /pets:
    get:
      operationId: listPets
      responses:
        "200":
          description: all
          content:
            application/json:
              schema: {$ref: %s}
"""

Write = Callable[[Mapping[str, str]], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes files below a new folder and returns the path of `api.yaml` there."""

    def written(files: Mapping[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / "doc" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path / "doc" / "api.yaml"

    return written


def api(body: str, version: str = "3.1.0") -> str:
    return HEAD.format(version=version) + body


def pets(reference: str, version: str = "3.1.0") -> str:
    return api(PETS % json.dumps(reference), version)


def schema(assembled: Assembled) -> Any:
    return assembled.root["paths"]["/pets"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]


def schemas(assembled: Assembled) -> Any:
    return assembled.root["components"]["schemas"]


def bundle(path: Path, *allow: str, limits: Limits | None = None) -> Assembled:
    return assemble(Request(str(path), allow=allow), limits)


def located(assembled: Assembled) -> list[tuple[str, str, int]]:
    return [(diagnostic.code, Path(diagnostic.file).name, diagnostic.line) for diagnostic in assembled.diagnostics]


def test_a_file_becomes_a_component_named_after_its_stem(write: Write):
    assembled = bundle(write({"api.yaml": pets("models/Pet.yaml"), "models/Pet.yaml": "type: object\n"}))
    assert schema(assembled) == {"$ref": "#/components/schemas/Pet"}
    assert schemas(assembled) == {"Pet": {"type": "object"}}
    assert [Path(source.name).name for source in assembled.sources] == ["api.yaml", "Pet.yaml"]


def test_a_part_of_a_file_is_named_after_the_last_part_of_its_pointer(write: Write):
    assembled = bundle(write({"api.yaml": pets("all.yaml#/models/Pet"), "all.yaml": "models: {Pet: {type: object}}"}))
    assert schema(assembled) == {"$ref": "#/components/schemas/Pet"}


def test_what_the_root_document_names_keeps_its_name(write: Write):
    named = "components: {schemas: {Animal: {$ref: pet.yaml}}}\n"
    assembled = bundle(write({"api.yaml": pets("pet.yaml") + named, "pet.yaml": "type: object\n"}))
    assert schema(assembled) == {"$ref": "#/components/schemas/Animal"}
    assert schemas(assembled) == {"Animal": {"type": "object"}}


def test_files_that_refer_to_one_another_and_back_to_the_root_stay_cyclic(write: Write):
    assembled = bundle(
        write(
            {
                "api.yaml": pets("pet.yaml")
                + "components: {schemas: {Shop: {properties: {best: {$ref: pet.yaml}}}}}\n",
                "pet.yaml": "properties:\n  owner: {$ref: owner.yaml}\n"
                + "  shop: {$ref: 'api.yaml#/components/schemas/Shop'}\n",
                "owner.yaml": "properties: {pets: {items: {$ref: pet.yaml}}, self: {$ref: '#'}}",
            }
        )
    )
    assert schemas(assembled) == {
        "Shop": {"properties": {"best": {"$ref": "#/components/schemas/pet"}}},
        "owner": {
            "properties": {
                "pets": {"items": {"$ref": "#/components/schemas/pet"}},
                "self": {"$ref": "#/components/schemas/owner"},
            }
        },
        "pet": {
            "properties": {
                "owner": {"$ref": "#/components/schemas/owner"},
                "shop": {"$ref": "#/components/schemas/Shop"},
            }
        },
    }


def test_names_that_collide_are_distinguished_by_their_folders_in_any_order(write: Write):
    files = {"api.yaml": pets("all.yaml"), "cats/pet.yaml": "title: cat", "dogs/pet.yaml": "title: dog"}
    cats_first = "oneOf: [{$ref: cats/pet.yaml}, {$ref: dogs/pet.yaml}]"
    dogs_first = "oneOf: [{$ref: dogs/pet.yaml}, {$ref: cats/pet.yaml}]"
    names = [sorted(schemas(bundle(write({**files, "all.yaml": text})))) for text in (cats_first, dogs_first)]
    assert names == [["all", "cats_pet", "dogs_pet"]] * 2


def test_path_items_and_operations_are_put_in_place(write: Write):
    assembled = bundle(
        write(
            {
                "api.yaml": api("paths: {$ref: paths/index.yaml}\n"),
                "paths/index.yaml": "/pets: {$ref: pets.yaml}\n",
                "paths/pets.yaml": "get: {$ref: list.yaml}\nparameters: [{$ref: '../limit.yaml#/limit'}]\n",
                "paths/list.yaml": "responses: {'200': {$ref: ../ok.yaml}}\n",
                "limit.yaml": "limit: {name: limit, in: query, schema: {type: integer}}\n",
                "ok.yaml": "description: fine\n",
            }
        )
    )
    assert assembled.root["paths"] == {
        "/pets": {
            "get": {"responses": {"200": {"$ref": "#/components/responses/ok"}}},
            "parameters": [{"$ref": "#/components/parameters/limit"}],
        }
    }


def test_properties_and_tags_that_are_elsewhere_are_put_in_place(write: Write):
    assembled = bundle(
        write(
            {
                "api.yaml": pets("pet.yaml") + "tags: [{$ref: 'tags.yaml#/pets'}]\n",
                "pet.yaml": "properties: {$ref: properties.yaml, own: {type: string}}\n",
                "properties.yaml": "id: {$ref: id.yaml}\nown: {type: integer}\n",
                "id.yaml": "type: string",
                "tags.yaml": "pets: {name: pets}",
            }
        )
    )
    properties = schemas(assembled)["pet"]["properties"]
    assert properties == {"id": {"$ref": "#/components/schemas/id"}, "own": {"type": "string"}}
    assert assembled.root["tags"] == [{"name": "pets"}]


def test_a_discriminator_may_name_files(write: Write):
    text = "oneOf: [{$ref: cat.yaml}]\ndiscriminator: {propertyName: kind, mapping: {c: cat.yaml, d: Dog}}\n"
    assembled = bundle(write({"api.yaml": pets("pet.yaml"), "pet.yaml": text, "cat.yaml": "type: object"}))
    assert schemas(assembled)["pet"]["discriminator"]["mapping"] == {"c": "#/components/schemas/cat", "d": "Dog"}


def test_references_in_data_are_data(write: Write):
    data = "example: {$ref: no.yaml}\nx-a: {$ref: no.yaml}\ndefault: {$ref: /etc/passwd}\nenum: [{$ref: no.yaml}]\n"
    assembled = bundle(write({"api.yaml": pets("pet.yaml"), "pet.yaml": data}))
    assert assembled.diagnostics == ()
    assert schemas(assembled)["pet"]["x-a"] == {"$ref": "no.yaml"}


def test_a_diagnostic_names_the_file_the_line_and_the_column(write: Write):
    path = write({"api.yaml": pets("pet.yaml"), "pet.yaml": "type: object\nproperties:\n  tag:\n    $ref: tag.yaml\n"})
    (warning,) = bundle(path).diagnostics
    assert (warning.code, warning.severity) == ("unresolved-reference", "warning")
    assert (warning.file, warning.line, warning.column) == (str(path.parent / "pet.yaml"), 4, 5)
    assert "tag.yaml: no such file" in warning.message
    assert warning.pointer == "/properties/tag/$ref"


def test_a_finding_of_a_later_stage_names_the_file_that_it_is_about(write: Write):
    item = "get:\n  responses: {}\n  parameters:\n    - name: a\n      in: nowhere\n      required: true\n"
    path = write({"api.yaml": pets("pet.yaml") + "  /b: {$ref: b.yaml}\n", "b.yaml": item, "pet.yaml": "type: object"})
    done = run("explain", path, "--output-format", "json")
    (diagnostic,) = (entry for entry in done.json["diagnostics"] if entry["code"] == "bad-parameter")
    assert (Path(diagnostic["file"]).name, diagnostic["line"], diagnostic["column"]) == ("b.yaml", 4, 7)


def test_a_file_that_cannot_be_parsed_is_any_value_and_reported_with_its_line(write: Write):
    assembled = bundle(write({"api.yaml": pets("pet.yaml"), "pet.yaml": "a: 1\n\tb: 2\n"}))
    assert schema(assembled) == {}
    assert located(assembled) == [("unresolved-reference", "api.yaml", 12), ("yaml-syntax", "pet.yaml", 2)]


def test_what_nothing_uses_warns_nothing(write: Write):
    unused = "components: {schemas: {Old: {$ref: gone.yaml}}}\n"
    assembled = bundle(write({"api.yaml": pets("pet.yaml") + unused, "pet.yaml": "type: object"}))
    assert assembled.diagnostics == ()


def test_a_reference_out_of_the_folder_is_read_only_when_allowed(write: Write, tmp_path: Path):
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "pet.yaml").write_text("title: outside")
    path = write({"api.yaml": pets("../common/pet.yaml")})
    assembled = bundle(path)
    assert schema(assembled) == {}
    assert located(assembled) == [("outside-reference", "api.yaml", 12)]
    assert f"--allow-refs {tmp_path / 'common'}" in assembled.diagnostics[0].help
    assert schemas(bundle(path, str(tmp_path / "common"))) == {"pet": {"title": "outside"}}


def test_a_link_that_leads_out_of_the_folder_is_not_followed(write: Write, tmp_path: Path):
    (tmp_path / "secret.yaml").write_text("title: outside")
    path = write({"api.yaml": pets("pet.yaml")})
    (path.parent / "pet.yaml").symlink_to(tmp_path / "secret.yaml")
    assert located(bundle(path)) == [("outside-reference", "api.yaml", 12)]


@pytest.mark.parametrize(
    "reference",
    [
        "/etc/passwd",
        "file:///etc/passwd",
        "FILE:etc/passwd",
        "C:\\secret.yaml",
        "\\\\server\\share",
        "//server/share",
        "%2Fetc/passwd",
        "../" * 60 + "etc/passwd",
        "%2e%2e/" * 60 + "etc/passwd",
    ],
)
def test_a_reference_that_no_good_document_has_refuses_it(write: Write, reference: str):
    with pytest.raises(DocumentError) as caught:
        bundle(write({"api.yaml": pets(reference)}))
    (error,) = caught.value.diagnostics
    assert (error.code, error.line, error.severity) == ("forbidden-reference", 12, "error")


@pytest.mark.parametrize(
    "reference",
    ["http://[", "", "\0", "x" * 5000, "urn:a:b", "?", "http://", ".", "..", "%00", "a.yaml#%", "a.yaml#/~", "é"],
)
def test_a_reference_that_makes_no_sense_is_any_value_with_a_warning(write: Write, reference: str):
    assembled = bundle(write({"api.yaml": pets(reference), "a.yaml": "{}"}))
    assert schema(assembled) == {}
    assert [line for _, _, line in located(assembled)] == [12]


def test_an_http_reference_is_not_read(write: Write):
    assembled = bundle(write({"api.yaml": pets("http://127.0.0.1:9/pet.yaml")}))
    assert located(assembled) == [("outside-reference", "api.yaml", 12)]
    assert "--allow-refs http://127.0.0.1:9/" in assembled.diagnostics[0].help


@pytest.mark.parametrize("name", ["pipe", "folder"])
def test_what_is_no_file_is_not_read(write: Write, name: str):
    path = write({"api.yaml": pets(name)})
    (path.parent / "folder").mkdir()
    os.mkfifo(path.parent / "pipe")
    assert located(bundle(path)) == [("unresolved-reference", "api.yaml", 12)]


def test_an_operation_whose_body_cannot_be_read_is_skipped(write: Write):
    post = "  /things: {post: {requestBody: {$ref: gone.yaml}, responses: {}}}\n"
    done = run("explain", write({"api.yaml": pets("pet.yaml") + post, "pet.yaml": "{}"}), "--output-format", "json")
    assert [skipped["path"] for skipped in done.json["skipped"]] == ["/things"]


def test_percent_signs_in_references_are_decoded(write: Write):
    assembled = bundle(write({"api.yaml": pets("a%7Bb%7D%20c.yaml#/a~1b"), "a{b} c.yaml": "{a/b: {type: object}}"}))
    assert schemas(assembled) == {"a_b": {"type": "object"}}


def test_circles_of_whole_operations_end(write: Write):
    item = "post: {callbacks: {again: {'{$url}': {$ref: item.yaml}}}, responses: {}}\n"
    assembled = bundle(write({"api.yaml": api("paths: {/a: {$ref: item.yaml}}"), "item.yaml": item}))
    assert assembled.root["paths"]["/a"]["post"]["callbacks"] == {"again": {}}
    assert located(assembled) == [("unresolved-reference", "item.yaml", 1)]


def test_files_that_multiply_one_another_are_refused(write: Write):
    item = "post: {callbacks: {a: {x: {$ref: pNEXT.yaml}}, b: {y: {$ref: pNEXT.yaml}}}}"
    files = {f"p{at}.yaml": item.replace("NEXT", str(at + 1)) for at in range(40)}
    with pytest.raises(DocumentError) as caught:
        bundle(write({"api.yaml": api("paths: {/a: {$ref: p0.yaml}}"), **files}), limits=Limits(nodes=10_000))
    assert caught.value.diagnostics[0].code == "document-too-large"


def test_too_many_files_are_refused(write: Write):
    text = "\n".join(f"- {{$ref: f{at}.yaml}}" for at in range(20))
    path = write({"api.yaml": pets("all.yaml"), "all.yaml": f"oneOf:\n{text}\n", "f0.yaml": "{}"})
    with pytest.raises(AqlgenError, match="more than 10 files"):
        bundle(path, limits=Limits(files=10))


def test_definitions_are_also_found_in_the_schema_around(write: Write):
    text = "components: {schemas: {Pet: {$defs: {tag: {}}, items: {$ref: '#/$defs/tag'}}}}"
    assembled = bundle(write({"api.yaml": pets("#/components/schemas/Pet") + text}))
    assert schemas(assembled)["Pet"]["items"] == {"$ref": "#/components/schemas/Pet/$defs/tag"}


def test_a_recursive_reference_means_the_schema_around_that_is_marked(write: Write):
    text = "components: {schemas: {Tree: {$recursiveAnchor: true, properties: {up: {$recursiveRef: '#'}}}}}"
    components = schemas(bundle(write({"api.yaml": pets("#/components/schemas/Tree") + text})))
    assert components == {"Tree": {"properties": {"up": {"$ref": "#/components/schemas/Tree"}}}}


def test_the_project_keeps_the_bundle_and_gives_the_same_again(write: Write, tmp_path: Path):
    path = write({"api.yaml": pets("pet.yaml"), "pet.yaml": "type: object\nproperties: {name: {type: string}}\n"})
    for spec, folder in ((path, "one"), (tmp_path / "one" / "openapi" / "openapi.json", "two")):
        assert run("from-openapi", spec, "-o", tmp_path / folder).code == 0
    trees = [
        {file.relative_to(base): file.read_bytes() for file in base.rglob("*") if file.is_file()}
        for base in (tmp_path / "one", tmp_path / "two")
    ]
    assert trees[0] == trees[1]


def test_a_single_file_is_kept_as_it_is(write: Write, tmp_path: Path):
    path = write({"api.yaml": pets("#/$defs/x") + "# mine\n"})
    run("from-openapi", path, "-o", tmp_path / "project")
    assert (tmp_path / "project" / "openapi" / "openapi.yaml").read_bytes() == path.read_bytes()
