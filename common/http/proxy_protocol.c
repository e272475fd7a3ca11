#include "common/http/proxy_protocol.h"

#include <arpa/inet.h>
#include <string.h>

#include "common/ip.h"

static void set_v4(struct proxy_header *h, const void *ip, unsigned port)
{
	struct sockaddr_in in = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port)};

	memcpy(&in.sin_addr, ip, sizeof(in.sin_addr));
	memcpy(&h->source, &in, sizeof(in));
	h->has_source = true;
}

static void set_v6(struct proxy_header *h, const uint8_t *ip, unsigned port)
{
	struct sockaddr_in6 in = {.sin6_family = AF_INET6,
				  .sin6_port = htons((uint16_t)port)};

	memcpy(&in.sin6_addr, ip, sizeof(in.sin6_addr));
	memcpy(&h->source, &in, sizeof(in));
	ip_unmap_peer(&h->source);
	h->has_source = true;
}

/* --- version 1, section 2.1 ------------------------------------------------
 */

#define V1_PREFIX     "PROXY "
#define V1_PREFIX_LEN (sizeof(V1_PREFIX) - 1)
/* CRLF included. */
#define V1_MAX 107

/* The rest of the line. */
struct proxy_line {
	const char *at, *end;
};

/* Copies a word, and skips it with the one space after it, or up to the end of
 * the line.  An empty word is an error. */
static bool take_word(struct proxy_line *line, char word[INET6_ADDRSTRLEN])
{
	const char *space =
		memchr(line->at, ' ', (size_t)(line->end - line->at));
	const char *end = space ? space : line->end;
	size_t len = (size_t)(end - line->at);

	if (len == 0 || len >= INET6_ADDRSTRLEN || memchr(line->at, '\0', len))
		return false;
	memcpy(word, line->at, len);
	word[len] = '\0';
	/* A space at the end of the line leaves an empty word behind it. */
	line->at = space ? space + 1 : NULL;
	return true;
}

static bool take_address(struct proxy_line *line, int family, uint8_t ip[16])
{
	char word[INET6_ADDRSTRLEN];

	return line->at && take_word(line, word) &&
	       inet_pton(family, word, ip) == 1;
}

static bool take_port(struct proxy_line *line, unsigned *ret)
{
	char word[INET6_ADDRSTRLEN];
	unsigned port = 0;
	size_t i;

	if (!line->at || !take_word(line, word))
		return false;
	for (i = 0; word[i] >= '0' && word[i] <= '9' && i < 5; i++)
		port = port * 10 + (unsigned)(word[i] - '0');
	if (word[i] || port > UINT16_MAX || (word[0] == '0' && word[1]))
		return false;
	*ret = port;
	return true;
}

/* Reads source, destination and their ports, and accepts nothing else. */
static bool take_addresses(struct proxy_line *line, int family,
			   struct proxy_header *ret)
{
	uint8_t source[16], destination[16];
	unsigned from, to;

	if (!take_address(line, family, source) ||
	    !take_address(line, family, destination) ||
	    !take_port(line, &from) || !take_port(line, &to) || line->at)
		return false;
	if (family == AF_INET)
		set_v4(ret, source, from);
	else
		set_v6(ret, source, from);
	return true;
}

/* Returns NULL, or the error in the line after "PROXY ". */
static const char *read_line(struct proxy_line *line, struct proxy_header *ret)
{
	char word[INET6_ADDRSTRLEN];
	bool ok;

	if (!take_word(line, word))
		return "no protocol behind PROXY";
	/* The rest of the line has to be ignored. */
	if (!strcmp(word, "UNKNOWN"))
		return NULL;
	if (!strcmp(word, "TCP4"))
		ok = take_addresses(line, AF_INET, ret);
	else if (!strcmp(word, "TCP6"))
		ok = take_addresses(line, AF_INET6, ret);
	else
		return "the protocol is none of TCP4, TCP6 and UNKNOWN";
	return ok ? NULL : "expected two addresses and two ports";
}

static enum proxy_found parse_v1(const uint8_t *bytes, size_t len,
				 struct proxy_header *ret,
				 const char **ret_wrong)
{
	size_t seen = len < V1_MAX ? len : V1_MAX;
	const char *text = (const char *)bytes;
	const char *end = memmem(text, seen, "\r\n", 2);
	struct proxy_header h = {0};
	struct proxy_line line;

	if (!end) {
		*ret_wrong = "the line is too long";
		return seen == V1_MAX ? PROXY_MALFORMED : PROXY_MORE;
	}
	line = (struct proxy_line){text + V1_PREFIX_LEN, end};
	*ret_wrong = read_line(&line, &h);
	if (*ret_wrong)
		return PROXY_MALFORMED;
	h.len = (size_t)(end + 2 - text);
	*ret = h;
	return PROXY_COMPLETE;
}

/* --- version 2, section 2.2 ------------------------------------------------
 */

static const uint8_t v2_signature[12] = {'\r', '\n', '\r', '\n', '\0', '\r',
					 '\n', 'Q',  'U',  'I',	 'T',  '\n'};

/* The lengths of signature, version and command, family and transport,
 * length. */
#define V2_FIXED 16
#define V2_LOCAL 0
#define V2_PROXY 1

enum v2_family {
	V2_UNSPEC,
	V2_INET,
	V2_INET6,
	V2_UNIX,
};
#define V2_DGRAM 2 /* the last of the transports */

/* The size of both addresses, with ports, by family. */
static const size_t v2_addresses[] = {0, 12, 36, 216};

#define TLV_HEAD    3
#define TLV_CRC32C  0x03
#define CRC32C_LEN  4
#define CRC32C_POLY 0x82f63b78 /* Castagnoli's, reflected (RFC 3720) */

static unsigned read_be16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static uint32_t read_be32(const uint8_t *p)
{
	return (uint32_t)read_be16(p) << 16 | read_be16(p + 2);
}

/* The checksum of the header, with zeros in place of the checksum at `hole`.
 * Computed bit by bit: a header is short, and comes once a connection. */
static uint32_t compute_crc32c(const uint8_t *bytes, size_t len, size_t hole)
{
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < len; i++) {
		if (i < hole || i >= hole + CRC32C_LEN)
			crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? CRC32C_POLY : 0);
	}
	return ~crc;
}

/* Returns NULL, or the error in the fields from `at` to the end of the
 * header. */
static const char *check_fields(const uint8_t *bytes, size_t len, size_t at)
{
	size_t checksum = 0, field;

	for (; at < len; at = field) {
		if (len - at < TLV_HEAD)
			return "a field is cut off";
		field = at + TLV_HEAD + read_be16(bytes + at + 1);
		if (field > len)
			return "a field is longer than the header";
		if (bytes[at] != TLV_CRC32C)
			continue;
		if (checksum || field - at - TLV_HEAD != CRC32C_LEN)
			return "the checksum is not one of four bytes";
		checksum = at + TLV_HEAD;
	}
	if (checksum &&
	    compute_crc32c(bytes, len, checksum) != read_be32(bytes + checksum))
		return "the checksum is wrong";
	return NULL;
}

/* Returns NULL, or the error in a whole header of the command PROXY. */
static const char *read_block(const uint8_t *bytes, struct proxy_header *h)
{
	unsigned family = bytes[13] >> 4, transport = bytes[13] & 0xf;
	const uint8_t *block = bytes + V2_FIXED;
	size_t addresses;

	if (family > V2_UNIX || transport > V2_DGRAM)
		return "unknown family or transport";
	/* If either is unspecified, the layout of the block is unknown. */
	if (family == V2_UNSPEC || transport == 0)
		return NULL;
	addresses = v2_addresses[family];
	if (h->len < V2_FIXED + addresses)
		return "too short for its addresses";
	if (family == V2_INET)
		set_v4(h, block, read_be16(block + 8));
	else if (family == V2_INET6)
		set_v6(h, block, read_be16(block + 32));
	return check_fields(bytes, h->len, V2_FIXED + addresses);
}

static enum proxy_found parse_v2(const uint8_t *bytes, size_t len,
				 struct proxy_header *ret,
				 const char **ret_wrong)
{
	struct proxy_header h = {0};

	*ret_wrong = NULL;
	if (len > 12 && bytes[12] >> 4 != 2)
		*ret_wrong = "unknown version";
	else if (len > 12 && (bytes[12] & 0xf) > V2_PROXY)
		*ret_wrong = "unknown command";
	if (*ret_wrong)
		return PROXY_MALFORMED;
	if (len < V2_FIXED)
		return PROXY_MORE;
	h.len = V2_FIXED + read_be16(bytes + 14);
	if (h.len > PROXY_HEADER_MAX) {
		*ret_wrong = "the header is too long";
		return PROXY_MALFORMED;
	}
	if (len < h.len)
		return PROXY_MORE;
	/* The receiver discards the block of a LOCAL header. */
	if ((bytes[12] & 0xf) == V2_PROXY)
		*ret_wrong = read_block(bytes, &h);
	if (*ret_wrong)
		return PROXY_MALFORMED;
	*ret = h;
	return PROXY_COMPLETE;
}

/* --- both versions ---------------------------------------------------- */

static bool begins_with(const uint8_t *bytes, size_t len, const void *prefix,
			size_t prefix_len)
{
	return !memcmp(bytes, prefix, len < prefix_len ? len : prefix_len);
}

enum proxy_found proxy_header_parse(const uint8_t *bytes, size_t len,
				    struct proxy_header *ret_header,
				    const char **ret_wrong)
{
	if (len == 0)
		return PROXY_MORE;
	if (begins_with(bytes, len, V1_PREFIX, V1_PREFIX_LEN))
		return parse_v1(bytes, len, ret_header, ret_wrong);
	if (begins_with(bytes, len, v2_signature, sizeof(v2_signature)))
		return parse_v2(bytes, len, ret_header, ret_wrong);
	*ret_wrong = "no PROXY header";
	return PROXY_MALFORMED;
}
