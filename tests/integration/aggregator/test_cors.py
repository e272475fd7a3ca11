"""Which pages may read the aggregator's answers in a browser (CORS)."""
import pytest
import requests

from support.asking import aggregator  # noqa: F401

LISTED, OTHER = "https://stats.example", "https://stats.example.evil.example"
EXPOSED = ("ETag, Retry-After, Complete-Until, Complete, Waiting, Unique-Error, "
           "Approximate, Lower-Bound")
PREFLIGHT = {"Access-Control-Request-Method": "GET",
             "Access-Control-Request-Headers": "authorization"}
PATHS = [("/v1/clicks", 200), ("/openapi.json", 200), ("/none", 404),
         ("/v1/clicks?no=such", 400), ("/v1/links/none/summary", 404)]


def get(made, path="/v1/clicks", origin=None, method="GET", **headers):
    if origin is not None:
        headers["Origin"] = origin
    return requests.request(method, made.url + path, headers=headers,
                            timeout=60)


def vary(answer):
    return {name.strip() for name in answer.headers.get("Vary", "").split(",")}


def cors(answer):
    return {name: value for name, value in answer.headers.items()
            if name.lower().startswith("access-control-")}


def test_a_listed_origin_may_read_every_answer(aggregator):  # noqa: F811
    made = aggregator(cors_origins=["http://localhost:3000", LISTED])

    for path, status in PATHS:
        answer = get(made, path, LISTED)
        assert answer.status_code == status
        assert cors(answer) == {
            "Access-Control-Allow-Origin": LISTED,
            "Access-Control-Expose-Headers": EXPOSED}
        assert "Origin" in vary(answer)
    etag = get(made, "/openapi.json").headers["ETag"]
    again = get(made, "/openapi.json", LISTED, **{"If-None-Match": etag})
    assert again.status_code == 304
    assert cors(again)["Access-Control-Allow-Origin"] == LISTED
    assert vary(again) == {"Origin", "Accept-Encoding"}
    refused = get(made, "/v1/clicks", LISTED, "DELETE")
    assert refused.status_code == 405
    assert cors(refused)["Access-Control-Allow-Origin"] == LISTED


def test_another_origin_may_not(aggregator):  # noqa: F811
    made = aggregator(cors_origins=[LISTED])

    for origin in (OTHER, "http://stats.example", "null", "", LISTED + "/",
                   LISTED.upper(), None):
        for path, status in PATHS:
            answer = get(made, path, origin)
            assert answer.status_code == status
            assert cors(answer) == {}, origin
            # Otherwise a cache would give the answer to a page of a listed origin.
            assert "Origin" in vary(answer)
        answer = get(made, origin=origin, method="OPTIONS", **PREFLIGHT)
        assert (answer.status_code, cors(answer)) == (405, {})
        assert "Origin" in vary(answer)


@pytest.mark.parametrize("origins, allowed", [([LISTED], LISTED),
                                              (["*"], "*")])
def test_a_preflight_says_what_may_be_sent(aggregator, origins,  # noqa: F811
                                           allowed):
    made = aggregator(cors_origins=origins)

    for path in ("/v1/clicks", "/v1/links/any/summary"):
        answer = get(made, path, LISTED, "OPTIONS", **PREFLIGHT)
        assert (answer.status_code, answer.content) == (204, b"")
        assert cors(answer) == {
            "Access-Control-Allow-Origin": allowed,
            "Access-Control-Allow-Methods": "GET, HEAD, POST, DELETE",
            "Access-Control-Allow-Headers":
                "Authorization, Content-Type, If-None-Match, Share-Password",
            "Access-Control-Max-Age": "3600",
            "Access-Control-Expose-Headers": EXPOSED}
    # An OPTIONS without the preflight headers is not a preflight.
    assert get(made, origin=LISTED, method="OPTIONS").status_code == 405
    assert get(made, method="OPTIONS", **PREFLIGHT).status_code == 405


def test_everyone_may_where_it_says_so(aggregator):  # noqa: F811
    made = aggregator(cors_origins=["*"])

    for origin in (LISTED, OTHER, "null", None):
        for path, status in PATHS:
            answer = get(made, path, origin)
            assert answer.status_code == status
            assert cors(answer)["Access-Control-Allow-Origin"] == "*"
            assert "Origin" not in vary(answer)


def test_by_default_nobody_may(aggregator):  # noqa: F811
    made = aggregator()

    for path, _ in PATHS:
        answer = get(made, path, LISTED)
        assert cors(answer) == {}
        assert "Origin" not in vary(answer)
    answer = get(made, origin=LISTED, method="OPTIONS", **PREFLIGHT)
    assert (answer.status_code, cors(answer)) == (405, {})


@pytest.mark.parametrize("origins, said", [
    ([LISTED, "https://Stats.example/page"], "https://Stats.example/page"),
    (["null"], "null"),
    ([LISTED, "*"], "stands alone"),
])
def test_what_is_no_origin_is_a_configuration_error(program, origins, said):
    made = program("aggregator", {"aggregator": {"cors_origins": origins}},
                   start=False, args=["--check"])

    status, output = made.run()

    assert status == 78
    assert "aggregator.cors_origins: " in output and said in output
