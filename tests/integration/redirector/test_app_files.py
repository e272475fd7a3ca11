"""Files that tell phones that an app opens a domain's links."""
import json
import signal

import pytest
import requests

from support.program import eventually
from support.redirects import (  # noqa: F401 (fixtures)
    LINKS_SECTION, clicks, links, make_links, start, visit)
from support.spaces import aliases

APPLE = "/.well-known/apple-app-site-association"
LEGACY = "/apple-app-site-association"
ANDROID = "/.well-known/assetlinks.json"
# The file is served byte by byte, including its spaces.
MAIN_APPLE = '{"applinks": {"details":\n  [{"appIDs": ["ABCDE12345.app"]}]}}\n'
MAIN_ANDROID = json.dumps([{"relation": ["delegate_permission/common.handle"]}])
PROMO_ANDROID = json.dumps([{"relation": [], "target": {"site": "x" * 100000}}])
REJECTED = "app files rejected, the old ones stay"
LINKS_SECTION = {**LINKS_SECTION, "spaces": [*LINKS_SECTION["spaces"], aliases()]}


@pytest.fixture
def files(workdir):
    found = {name: workdir / name for name in ("apple", "android", "promo")}
    for path, text in zip(found.values(), (MAIN_APPLE, MAIN_ANDROID,
                                           PROMO_ANDROID)):
        path.write_text(text)
    return found


@pytest.fixture
def domains_config(files):
    return {"list": [
        {"name": "main", "hosts": ["sho.rt"],
         "fallback_url": "https://www.example.org/",
         "apple_app_site_association": str(files["apple"]),
         "assetlinks": str(files["android"])},
        {"name": "promo", "hosts": ["promo.example"],
         "assetlinks": str(files["promo"])}]}


def ask(redirector, path, host="sho.rt", method="GET", **headers):
    return visit(redirector.url + path, method, headers={"Host": host, **headers})


def body(redirector, path, host="sho.rt"):
    return ask(redirector, path, host).text


def test_each_domain_serves_its_own_files(links, start, clicks):
    redirector = start(fallback_unknown=True)
    for path, host, text in [
            (APPLE, "sho.rt", MAIN_APPLE), (LEGACY, "SHO.RT:80", MAIN_APPLE),
            (APPLE + "?a=b", "sho.rt", MAIN_APPLE),
            (ANDROID, "sho.rt", MAIN_ANDROID),
            # A Host that belongs to no domain gets the default domain's file.
            (ANDROID, "other.example", MAIN_ANDROID),
            (ANDROID, "promo.example", PROMO_ANDROID)]:
        answer = ask(redirector, path, host)
        assert (answer.status_code, answer.text) == (200, text)
        assert answer.headers["Content-Type"] == "application/json"
        head = ask(redirector, path, host, "HEAD")
        assert head.status_code == 200 and not head.content
        assert {**head.headers, "Date": ""} == {**answer.headers, "Date": ""}
    assert ask(redirector, APPLE, method="POST").status_code == 405
    # A file that does not exist is a 404, and leads nowhere.
    for path, host in [(APPLE, "promo.example"), (APPLE + "/", "sho.rt"),
                       ("/.well-known/security.txt", "sho.rt"),
                       ("/.well-known/", "sho.rt"),
                       ("/assetlinks.json", "sho.rt")]:
        answer = ask(redirector, path, host)
        assert answer.status_code == 404 and "Not found" in answer.text
    redirector.wait_metric(12, "shortloop_redirector_answers_total",
                           outcome="app_file", status="200")
    assert redirector.metric("shortloop_redirector_cache_lookups_total") == 0
    assert clicks(redirector) == []


def test_one_that_has_not_changed_is_not_sent_again(links, start):
    redirector = start()
    first = ask(redirector, APPLE)
    tag = first.headers["ETag"]
    for given in (tag, f'"x", W/{tag}', "*"):
        answer = ask(redirector, APPLE, **{"If-None-Match": given})
        assert (answer.status_code, answer.content) == (304, b"")
        assert answer.headers["ETag"] == tag
        assert answer.headers["Cache-Control"] == first.headers["Cache-Control"]
    answer = ask(redirector, APPLE, **{"If-None-Match": '"x"'})
    assert (answer.status_code, answer.text) == (200, MAIN_APPLE)
    redirector.wait_metric(3, "shortloop_redirector_answers_total",
                           outcome="app_file", status="304")


def test_the_old_path_is_a_code_where_there_is_no_file(links, start):
    links.create("https://alias.example/", code=LEGACY[1:], domain="promo")
    redirector = start()
    assert ask(redirector, LEGACY, "promo.example").headers["Location"] == \
        "https://alias.example/"
    assert body(redirector, LEGACY) == MAIN_APPLE


@pytest.fixture(params=["list", "file", "shared"])
def section(request, domains_config, workdir):
    """Returns the section with the domains; Redis has no shared ones yet."""
    if request.param == "file":
        path = workdir / "domains.yaml"
        path.write_text(json.dumps({"domains": domains_config}))
        return {"file": str(path)}
    return {**domains_config, "shared": request.param == "shared"}


def test_sighup_reads_them_again_and_rejects_a_mistake(links, start, files,
                                                       section):
    code = links.create()
    redirector = start(domains=section)
    files["apple"].write_text('{"applinks": {}}')
    redirector.process.signal(signal.SIGHUP)
    eventually(lambda: body(redirector, APPLE) == '{"applinks": {}}')
    tag = ask(redirector, APPLE).headers["ETag"]

    files["apple"].write_text('{"applinks":\n  [}')
    files["android"].write_text("[1]")
    redirector.process.signal(signal.SIGHUP)
    redirector.wait_log(REJECTED)
    assert f"{files['apple']}: not JSON: line 2, column 4: " in redirector.log()
    # The other files are reloaded nevertheless.
    eventually(lambda: body(redirector, ANDROID) == "[1]")
    for _ in range(10):
        answer = ask(redirector, APPLE)
        assert (answer.text, answer.headers["ETag"]) == ('{"applinks": {}}', tag)
    assert ask(redirector, f"/{code}").status_code == 302
    assert redirector.metric("shortloop_redirector_reload_failures_total") == 1


def test_a_file_with_a_mistake_ends_the_start(links, start, files, program,
                                              links_config, domains_config):
    files["promo"].write_text("[]\n\n]")
    said = (f"domains.list: promo: assetlinks: {files['promo']}: not JSON: "
            "line 3, column 1: end of file expected near ']'")
    sections = {"links": links_config, "domains": domains_config}
    for args in ([], ["--check"]):
        got, text = program("redirector", sections, start=False,
                            args=args).run()
        assert got == 78 and said in text, text
    files["promo"].unlink()
    got, text = program("redirector", sections, start=False).run()
    assert got == 78 and f"{files['promo']}: No such file" in text, text


def test_visits_and_files_share_a_connection(links, start):
    code = links.create(domain="promo")
    redirector = start(threads=1)
    with requests.Session() as session:
        for _ in range(5):
            for path, found in ((ANDROID, 200), (f"/{code}", 302), (APPLE, 404)):
                assert session.get(redirector.url + path, headers={
                    "Host": "promo.example"}, allow_redirects=False,
                    timeout=60).status_code == found
