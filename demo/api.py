"""The two HTTP APIs, as a customer calls them."""

import datetime
import json

import requests


class ApiError(Exception):
    pass


def _check(answer):
    if answer.status_code >= 400:
        try:
            problem = answer.json()
            text = problem.get("detail") or problem.get("title")
        except ValueError:
            text = answer.text.strip()
        raise ApiError(
            f"{answer.request.method} {answer.url}: "
            f"{answer.status_code}: {text}"
        )
    return answer.json()


class Allocator:
    def __init__(self, base, key):
        self.base = base
        self.http = requests.Session()
        self.http.headers["Authorization"] = f"Bearer {key}"

    def create(self, url, ttl, idempotency_key=None, **fields):
        body = {"url": url, "ttl": ttl, **fields}
        headers = ({"Idempotency-Key": idempotency_key} if idempotency_key
                   else {})
        return _check(self.http.post(f"{self.base}/v1/links", json=body,
                                     headers=headers))

    def batch(self, lines):
        answer = self.http.post(
            f"{self.base}/v1/links/batch", data="\n".join(lines).encode(),
            headers={"Content-Type": "application/x-ndjson"})
        if answer.status_code != 200:
            _check(answer)
        return [json.loads(line) for line in answer.iter_lines()]

    def edit(self, code, **fields):
        return _check(self.http.patch(f"{self.base}/v1/links/{code}",
                                      json=fields))

    def delete(self, code):
        answer = self.http.delete(f"{self.base}/v1/links/{code}")
        if answer.status_code != 204:
            _check(answer)

    def restore(self, code):
        return _check(self.http.post(f"{self.base}/v1/links/{code}/restore"))

    def is_live(self, code):
        answer = self.http.get(f"{self.base}/v1/links/{code}")
        if answer.status_code in (404, 410):
            return False
        _check(answer)
        return True


def whole_hours_around_now():
    """Returns a half-open range, wide enough for a demo that crosses the full
    hour."""
    now = datetime.datetime.now(datetime.timezone.utc)
    start = now.replace(minute=0, second=0, microsecond=0)
    hour = datetime.timedelta(hours=1)
    return [
        t.strftime("%Y-%m-%dT%H:%M:%SZ") for t in (start - hour, start + 2 * hour)
    ]


class Aggregator:
    def __init__(self, base):
        self.base = base
        self.http = requests.Session()
        self.start, self.end = whole_hours_around_now()

    def clicks(self, **params):
        params = {"from": self.start, "to": self.end, "interval": "hour",
                  "bots": "include", **params}
        return _check(self.http.get(f"{self.base}/v1/clicks", params=params))

    def history(self, code):
        return _check(self.http.get(f"{self.base}/v1/links/{code}/history"))["links"]

    def pipeline(self):
        return _check(self.http.get(f"{self.base}/v1/pipeline"))

    def top(self, limit):
        return _check(self.http.get(
            f"{self.base}/v1/top",
            params={"from": self.start, "to": self.end, "limit": limit},
        ))
