"""The visitors' agents: browsers by market share, and robots, which are robots
by construction, whatever lists the collector has."""

import itertools
import json

# Agents with their verdict, as their owners document them.
_NAMED = {
    "bot": [
        "Mozilla/5.0 (compatible; Googlebot/2.1; "
        "+http://www.google.com/bot.html)",
        "Mozilla/5.0 (compatible; bingbot/2.0; "
        "+http://www.bing.com/bingbot.htm)",
        "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
        "UniversalFeedParser/6.0.11 +https://github.com/kurtmckee/feedparser/",
        "curl/8.5.0", "python-requests/2.32.3", "Go-http-client/2.0", "-",
    ],
    "preview": [
        "WhatsApp/2.24.20.89 A", "TelegramBot (like TwitterBot)",
        "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
        "facebookexternalhit/1.1 "
        "(+http://www.facebook.com/externalhit_uatext.php)",
    ],
    "monitor": [
        "Mozilla/5.0+(compatible; UptimeRobot/2.0; "
        "http://www.uptimerobot.com/)",
        "Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)",
        "kube-probe/1.29",
    ],
    "scanner": [
        "Mozilla/5.0 zgrab/0.x", "sqlmap/1.8.4#stable (https://sqlmap.org)",
        "Mozilla/5.0 (compatible; Nmap Scripting Engine; "
        "https://nmap.org/book/nse.html)",
    ],
}


def _made_up():
    """Robots without a known owner: the agents that honest robots send."""
    owners = ("example.org", "crawl.example.net", "index.example.com")
    for owner, version in itertools.product(owners, range(1, 5)):
        yield f"Indexer/{version}.0 (help@{owner})"
        yield f"Mozilla/5.0 (compatible; Reader/{version}; +https://{owner}/)"
        yield f"ExampleBot/{version}.2"


def robots():
    """Returns (user agent, verdict) of every robot."""
    named = [(agent, verdict) for verdict, agents in _NAMED.items()
             for agent in agents]
    return named + [(agent, "bot") for agent in _made_up()]


def people(path):
    """Returns (user agents, weights) of people's browsers: npm `user-agents`.
    """
    with open(path) as f:
        entries = json.load(f)
    return [e["userAgent"] for e in entries], [e["weight"] for e in entries]
