#include "collector/enrich/geo/special.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum address_kind {
	PUBLIC,
	PRIVATE,
	LOOPBACK,
	LINK_LOCAL,
	SHARED,
	DOCUMENTATION,
	RESERVED,
	MULTICAST,
};

static const char *const names[] = {
	"",	  "private",	   "loopback", "link-local",
	"shared", "documentation", "reserved", "multicast",
};

struct address_range {
	uint8_t prefix[4]; /* the first 32 bits are enough for all ranges */
	unsigned bits;
	enum address_kind kind;
};

static const struct address_range v4_ranges[] = {
	{{0, 0, 0, 0}, 8, RESERVED},
	{{10, 0, 0, 0}, 8, PRIVATE},
	{{100, 64, 0, 0}, 10, SHARED},
	{{127, 0, 0, 0}, 8, LOOPBACK},
	{{169, 254, 0, 0}, 16, LINK_LOCAL},
	{{172, 16, 0, 0}, 12, PRIVATE},
	{{192, 0, 0, 0}, 24, RESERVED},
	{{192, 0, 2, 0}, 24, DOCUMENTATION},
	{{192, 88, 99, 0}, 24, RESERVED}, /* former 6to4 relays */
	{{192, 168, 0, 0}, 16, PRIVATE},
	{{198, 18, 0, 0}, 15, RESERVED},
	{{198, 51, 100, 0}, 24, DOCUMENTATION},
	{{203, 0, 113, 0}, 24, DOCUMENTATION},
	{{224, 0, 0, 0}, 4, MULTICAST},
	{{240, 0, 0, 0}, 4, RESERVED},
};

/* The first match counts. */
static const struct address_range v6_ranges[] = {
	{{0x00, 0x64, 0xff, 0x9b}, 32, PRIVATE},  /* local-use NAT64 */
	{{0x20, 0x01, 0x00, 0x02}, 32, RESERVED}, /* benchmarks */
	{{0x20, 0x01, 0x00, 0x10}, 28, RESERVED}, /* former ORCHID */
	{{0x20, 0x01, 0x00, 0x20}, 28, RESERVED}, /* ORCHIDv2: no addresses */
	{{0x20, 0x01, 0x0d, 0xb8}, 32, DOCUMENTATION},
	{{0x3f, 0xff, 0, 0}, 20, DOCUMENTATION},
	{{0x20, 0, 0, 0}, 3, PUBLIC}, /* all public addresses, RFC 4291 */
	{{0xfc, 0, 0, 0}, 7, PRIVATE},
	{{0xfe, 0x80, 0, 0}, 10, LINK_LOCAL},
	{{0xfe, 0xc0, 0, 0}, 10, PRIVATE}, /* former site-local */
	{{0xff, 0, 0, 0}, 8, MULTICAST},
	{{0, 0, 0, 0}, 0, RESERVED},
};

static uint32_t first_word(const uint8_t bytes[4])
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
	       (uint32_t)bytes[2] << 8 | bytes[3];
}

static enum address_kind find_kind_in_ranges(const struct address_range *ranges,
					     size_t count,
					     const uint8_t bytes[4])
{
	for (size_t i = 0; i < count; i++) {
		uint32_t differ =
			first_word(bytes) ^ first_word(ranges[i].prefix);

		if ((uint64_t)differ >> (32 - ranges[i].bits) == 0)
			return ranges[i].kind;
	}
	return PUBLIC;
}

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

unsigned special_unwrap(const uint8_t ip[16], uint8_t ret_ip[16])
{
	static const uint8_t teredo[4] = {0x20, 0x01};
	static const uint8_t nat64[12] = {0x00, 0x64, 0xff, 0x9b};
	bool six_to_four = ip[0] == 0x20 && ip[1] == 0x02;
	uint8_t flip = memcmp(ip, teredo, sizeof(teredo)) ? 0 : 0xff;

	if (!six_to_four && !flip && memcmp(ip, nat64, sizeof(nat64)) != 0) {
		memcpy(ret_ip, ip, 16);
		return 0;
	}
	memcpy(ret_ip, mapped, sizeof(mapped));
	for (int i = 0; i < 4; i++)
		ret_ip[12 + i] = six_to_four ? ip[2 + i] : ip[12 + i] ^ flip;
	return six_to_four ? 80 : 0;
}

uint32_t special_kind(const uint8_t ip[16], unsigned *ret_bits)
{
	static const uint8_t zeros[15] = {0};

	if (!memcmp(ip, mapped, sizeof(mapped))) {
		*ret_bits = 96 + 24;
		return find_kind_in_ranges(
			v4_ranges, sizeof(v4_ranges) / sizeof(*v4_ranges),
			ip + 12);
	}
	/* All other ranges longer than a /48 begin with a zero byte. */
	*ret_bits = ip[0] ? 48 : 128;
	if (!memcmp(ip, zeros, sizeof(zeros)) && ip[15] == 1)
		return LOOPBACK;
	return find_kind_in_ranges(v6_ranges,
				   sizeof(v6_ranges) / sizeof(*v6_ranges), ip);
}

const char *special_name(uint32_t kind)
{
	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "";
}
