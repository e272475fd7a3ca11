"""Clicks as a collector's live events."""
import uuid


def live_click(number, **fields):
    return {"id": str(uuid.uuid4()), "ts": "2026-11-23T09:00:00.000Z",
            "code": f"code{number}", "link_id": str(number),
            "domain": "go.example.com", "account": "acme", "owner": "ann",
            "country": "DE",
            "verdict": "human", "reason": "", "human": True, **fields}
