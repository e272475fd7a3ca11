"""The files that a collector reads, as settings name them."""
from servers import DEPS

UA_RULES = str(DEPS / "uap/regexes.yaml")
BOT_LIST = str(DEPS / "bots/crawler-user-agents.json")
# A second of processor time to read: only where places matter.
GEO = [str(DEPS / f"geo/{name}.mmdb")
       for name in ("city-ipv4", "city-ipv6", "asn-country")]
