#include "common/host.h"

#include <arpa/inet.h>
#include <idn2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LABEL_MAX 63

/* The longest input that is examined: a host of letters of four bytes each can
 * shrink to A-labels that fit, a longer one cannot. */
#define HOST_INPUT_MAX (4 * HOST_NAME_MAX_LEN)

#define SHOWN_MAX 80

/* Returns how much of a host an error shows, without half characters. */
static int shown_length(const char *text, size_t len)
{
	if (len > SHOWN_MAX) {
		len = SHOWN_MAX;
		while (len > SHOWN_MAX - 3 &&
		       ((unsigned char)text[len] & 0xc0) == 0x80)
			len--;
	}
	return (int)len;
}

/* --- names ----------------------------------------------------------------
 */

static bool is_ascii(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] >= 0x80)
			return false;
	}
	return true;
}

/* An A-label that ends in a hyphen contains only ASCII: some browsers take
 * "xn--example-" for "example". */
static int check_label(const char *label, size_t len, struct error *err)
{
	if (len == 0)
		return error_set(err, ERROR_INPUT,
				 "the host has an empty label: two dots in a "
				 "row, or one at the beginning");
	if (len > LABEL_MAX)
		return error_set(err, ERROR_INPUT,
				 "the host has a label of %zu characters, at "
				 "most %d are allowed",
				 len, LABEL_MAX);
	if (len >= 4 && !memcmp(label, "xn--", 4) &&
	    (len == 4 || label[len - 1] == '-'))
		return error_set(err, ERROR_INPUT,
				 "the host has a label that only looks like an "
				 "international one: '%.*s'",
				 (int)len, label);
	return 0;
}

/* Lower-cases and checks an ASCII name. */
static int take_ascii(const char *text, size_t len, struct host *out,
		      struct error *err)
{
	size_t start = 0;
	char c;

	if (len && text[len - 1] == '.')
		len--;
	if (len > HOST_NAME_MAX_LEN)
		return error_set(err, ERROR_INPUT,
				 "the host has %zu characters, at most %d are "
				 "allowed",
				 len, HOST_NAME_MAX_LEN);
	for (size_t i = 0; i < len; i++) {
		c = host_name_char(text[i]);
		if (!c)
			return error_set(err, ERROR_INPUT,
					 "the host '%.*s' has a character that "
					 "is not allowed there, at byte %zu",
					 shown_length(text, len), text, i + 1);
		out->text[i] = c;
		if (c != '.')
			continue;
		if (check_label(out->text + start, i - start, err) < 0)
			return -1;
		start = i + 1;
	}
	out->text[len] = '\0';
	out->len = len;
	out->kind = HOST_NAME;
	return check_label(out->text + start, len - start, err);
}

static int take_international(const char *text, size_t len, struct host *out,
			      struct error *err)
{
	char copy[HOST_INPUT_MAX + 1];
	uint8_t *ascii = NULL;
	int code, status;

	if (len > HOST_INPUT_MAX || memchr(text, '\0', len))
		return error_set(err, ERROR_INPUT,
				 "the host is not a domain name");
	memcpy(copy, text, len);
	copy[len] = '\0';
	code = idn2_lookup_u8((const uint8_t *)copy, &ascii,
			      IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
	if (code != IDN2_OK)
		return error_set(err, ERROR_INPUT,
				 "the host '%.*s' is not an international "
				 "domain name: %s",
				 shown_length(text, len), text,
				 idn2_strerror(code));
	status = take_ascii((const char *)ascii, strlen((const char *)ascii),
			    out, err);
	idn2_free(ascii);
	return status;
}

/* --- addresses ------------------------------------------------------------
 */

/* Reads a part of an IPv4 address: decimal, octal (0...) or hexadecimal
 * (0x...).  Returns -1 if it is no number; UINT32_MAX + 1 if it does not
 * fit. */
static int64_t read_part(const char *text, size_t len)
{
	unsigned base = 10;
	int64_t value = 0;

	if (len >= 2 && text[0] == '0') {
		base = text[1] == 'x' ? 16 : 8;
		text += base == 16 ? 2 : 1;
		len -= base == 16 ? 2 : 1;
	}
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		unsigned digit = 99;

		if (c >= '0' && c <= '9')
			digit = (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (unsigned)(c - 'a') + 10;
		if (digit >= base)
			return -1;
		if (value <= UINT32_MAX)
			value = value * base + digit;
	}
	return value <= UINT32_MAX ? value : (int64_t)UINT32_MAX + 1;
}

/* A name whose last label is a number must be an address, or is invalid. */
static bool ends_in_number(const char *text, size_t len)
{
	size_t start = len;

	while (start > 0 && text[start - 1] != '.')
		start--;
	text += start;
	len -= start;
	if (len >= 2 && text[0] == '0' && text[1] == 'x')
		return read_part(text, len) >= 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
	}
	return true;
}

/* Adds one part to the `count` existing ones. */
static bool add_part(int64_t parts[4], size_t *count, const char *text,
		     size_t len)
{
	if (*count == 4)
		return false;
	parts[*count] = read_part(text, len);
	return parts[(*count)++] >= 0;
}

static bool read_ipv4(const char *text, size_t len, uint32_t *ret)
{
	int64_t parts[4] = {0};
	uint64_t address = 0;
	size_t count = 0, start = 0;

	for (size_t i = 0; i <= len; i++) {
		if (i < len && text[i] != '.')
			continue;
		if (!add_part(parts, &count, text + start, i - start))
			return false;
		start = i + 1;
	}
	if (count < 1 || count > 4)
		return false;
	for (size_t i = 0; i + 1 < count; i++) {
		if (parts[i] > 255)
			return false;
		address |= (uint64_t)parts[i] << (24 - 8 * i);
	}
	/* The last part fills the remaining bytes. */
	if ((uint64_t)parts[count - 1] >= UINT64_C(1) << (8 * (5 - count)))
		return false;
	*ret = (uint32_t)(address | (uint64_t)parts[count - 1]);
	return true;
}

static int take_ipv4(struct host *out, struct error *err)
{
	uint32_t a;

	if (!read_ipv4(out->text, out->len, &a))
		return error_set(err, ERROR_INPUT,
				 "the host '%.80s' ends in a number and is not "
				 "an IPv4 address",
				 out->text);
	out->kind = HOST_IPV4;
	out->len =
		(size_t)snprintf(out->text, sizeof(out->text), "%u.%u.%u.%u",
				 a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255);
	return 0;
}

static bool begins_with(const struct in6_addr *a, const char *prefix,
			size_t bytes)
{
	return memcmp(a->s6_addr, prefix, bytes) == 0;
}

/*
 * IPv4 addresses within IPv6: some machine or translator maps each of these to
 * the address inside, so that two texts would mean one host.  ::a.b.c.d and
 * ::ffff:a.b.c.d (RFC 4291), ::ffff:0:a.b.c.d (RFC 2765), NAT64 (RFC 6052, RFC
 * 8215), 6to4 (RFC 3056), Teredo (RFC 4380), ISATAP (RFC 5214).
 */
static bool holds_ipv4(const struct in6_addr *a)
{
	return IN6_IS_ADDR_V4MAPPED(a) || IN6_IS_ADDR_V4COMPAT(a) ||
	       begins_with(a, "\0\0\0\0\0\0\0\0\xff\xff\0\0", 12) ||
	       begins_with(a, "\0\x64\xff\x9b\0\0\0\0\0\0\0\0", 12) ||
	       begins_with(a, "\0\x64\xff\x9b\0\x01", 6) ||
	       begins_with(a, "\x20\x02", 2) ||
	       begins_with(a, "\x20\x01\0\0", 4) ||
	       !memcmp(a->s6_addr + 8, "\0\0\x5e\xfe", 4) ||
	       !memcmp(a->s6_addr + 8, "\x02\0\x5e\xfe", 4);
}

static int take_ipv6(const char *text, size_t len, struct host *out,
		     struct error *err)
{
	char copy[INET6_ADDRSTRLEN];
	struct in6_addr address;

	if (len < 4 || len - 2 >= sizeof(copy) || text[len - 1] != ']')
		goto bad;
	memcpy(copy, text + 1, len - 2);
	copy[len - 2] = '\0';
	if (strlen(copy) != len - 2 || inet_pton(AF_INET6, copy, &address) != 1)
		goto bad;
	if (holds_ipv4(&address))
		return error_set(err, ERROR_INPUT,
				 "the host '%.*s' is an IPv4 address in "
				 "brackets: write the IPv4 address itself",
				 shown_length(text, len), text);
	inet_ntop(AF_INET6, &address, copy, sizeof(copy));
	out->kind = HOST_IPV6;
	out->len = (size_t)snprintf(out->text, sizeof(out->text), "[%s]", copy);
	return 0;
bad:
	return error_set(err, ERROR_INPUT,
			 "the host '%.*s' is not an IPv6 address in brackets",
			 shown_length(text, len), text);
}

/* -------------------------------------------------------------------------- */

int host_parse(const char *text, size_t len, struct host *ret_host,
	       struct error *err)
{
	struct host host = {.kind = HOST_NAME};
	int status;

	if (len == 0)
		return error_set(err, ERROR_INPUT, "the host is missing");
	if (text[0] == '[')
		status = take_ipv6(text, len, &host, err);
	else if (is_ascii(text, len))
		status = take_ascii(text, len, &host, err);
	else
		status = take_international(text, len, &host, err);
	if (status == 0 && host.kind == HOST_NAME &&
	    ends_in_number(host.text, host.len))
		status = take_ipv4(&host, err);
	if (status == 0) {
		ret_host->kind = host.kind;
		ret_host->len = host.len;
		memcpy(ret_host->text, host.text, host.len + 1);
	}
	return status;
}

size_t host_length(const char *text, size_t len)
{
	const char *end;

	if (len && text[0] == '[') {
		end = memchr(text, ']', len);
		return end ? (size_t)(end - text) + 1 : len;
	}
	end = len ? memchr(text, ':', len) : NULL;
	return end ? (size_t)(end - text) : len;
}
