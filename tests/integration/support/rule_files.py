"""The files that a collector reads, as values of settings."""
import maxminddb
from servers import DEPS

UA_RULES = str(DEPS / "uap/regexes.yaml")
BOT_LIST = str(DEPS / "bots/crawler-user-agents.json")
# These take a second of processor time to read, so they are used only where places
# matter.
GEO = [str(DEPS / f"geo/{name}.mmdb")
       for name in ("city-ipv4", "city-ipv6", "asn-country")]


def country_of(address):
    """Returns the installed file's country of an IPv4 address, or "": the next version
    may differ."""
    with maxminddb.open_database(GEO[0]) as places:
        return (places.get(address) or {}).get("country_code", "")
