"""The files that a collector reads, as settings name them."""
import maxminddb
from servers import DEPS

UA_RULES = str(DEPS / "uap/regexes.yaml")
BOT_LIST = str(DEPS / "bots/crawler-user-agents.json")
# A second of processor time to read: only where places matter.
GEO = [str(DEPS / f"geo/{name}.mmdb")
       for name in ("city-ipv4", "city-ipv6", "asn-country")]


def country_of(address):
    """Where the installed file has an IPv4 address, or "": the next may have it
    elsewhere."""
    with maxminddb.open_database(GEO[0]) as places:
        return (places.get(address) or {}).get("country_code", "")
