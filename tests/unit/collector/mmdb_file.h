/*
 * mmdb_file.h - MaxMind DB files for tests:
 * https://maxmind.github.io/MaxMind-DB/
 */
#ifndef TESTS_UNIT_COLLECTOR_MMDB_FILE_H
#define TESTS_UNIT_COLLECTOR_MMDB_FILE_H

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"

/* --- values ------------------------------------------------------------ */

static inline void put_control(struct buf *b, unsigned type, unsigned size)
{
	unsigned low = size < 29 ? size : 29;

	buf_putc(b, (char)(type < 8 ? type << 5 | low : low));
	if (type >= 8)
		buf_putc(b, (char)(type - 7));
	if (size >= 29) /* one more byte holds the rest of the size */
		buf_putc(b, (char)(size - 29));
}

static inline void put_text(struct buf *b, const char *text)
{
	put_control(b, 2, (unsigned)strlen(text));
	buf_puts(b, text);
}

static inline void put_map(struct buf *b, unsigned pairs)
{
	put_control(b, 7, pairs);
}

static inline void put_array(struct buf *b, unsigned elements)
{
	put_control(b, 11, elements);
}

static inline void put_uint(struct buf *b, unsigned type, unsigned len,
			    uint64_t v)
{
	put_control(b, type, len);
	while (len--)
		buf_putc(b, (char)(v >> 8 * len));
}

static inline void put_u16(struct buf *b, uint16_t v)
{
	put_uint(b, 5, 2, v);
}

static inline void put_u32(struct buf *b, uint32_t v)
{
	put_uint(b, 6, 4, v);
}

static inline void put_double(struct buf *b, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put_uint(b, 3, 8, bits);
}

/* The offset must be below 2048. */
static inline void put_pointer(struct buf *b, unsigned offset)
{
	buf_putc(b, (char)(1 << 5 | (offset >> 8 & 7)));
	buf_putc(b, (char)offset);
}

static inline void put_pair(struct buf *b, const char *key, const char *text)
{
	put_text(b, key);
	put_text(b, text);
}

/* --- files ------------------------------------------------------------- */

enum {
	MMDB_FILE_NODES = 2048
};

/* A tree while it is built.  A record below 0 is data at -1 - record. */
struct mmdb_file {
	int32_t nodes[MMDB_FILE_NODES][2];
	uint32_t node_count;
	struct buf data;
	uint32_t record_bits;
	uint16_t ip_version;
};

enum {
	MMDB_FILE_EMPTY = INT32_MAX
};

static inline struct mmdb_file *mmdb_file_new(uint32_t record_bits,
					      uint16_t ip_version)
{
	struct mmdb_file *f = calloc(1, sizeof(*f));

	f->record_bits = record_bits;
	f->ip_version = ip_version;
	f->node_count = 1;
	f->nodes[0][0] = f->nodes[0][1] = MMDB_FILE_EMPTY;
	return f;
}

/*
 * Maps the network, "10.0.0.0/8" or "2a00::/16", to the record at `offset` of
 * the data.  Wider networks are added before those within them.
 */
static inline void mmdb_file_add(struct mmdb_file *f, const char *network,
				 uint32_t offset)
{
	int32_t leaf = -1 - (int32_t)offset;
	uint8_t ip[16] = {0};
	char text[64];
	unsigned bits, first = 0;
	uint32_t node = 0;

	sscanf(network, "%63[^/]/%u", text, &bits);
	if (strchr(text, ':')) {
		inet_pton(AF_INET6, text, ip);
	} else {
		inet_pton(AF_INET, text, ip + 12);
		first = f->ip_version == 4 ? 96 : 0;
		bits += 96;
	}
	for (unsigned i = first; i < bits; i++) {
		int32_t *record = &f->nodes[node][ip[i / 8] >> (7 - i % 8) & 1];

		if (i + 1 == bits) {
			*record = leaf;
		} else if (*record < 0 || *record == MMDB_FILE_EMPTY) {
			f->nodes[f->node_count][0] = *record;
			f->nodes[f->node_count][1] = *record;
			*record = (int32_t)f->node_count++;
		}
		node = (uint32_t)*record;
	}
}

static inline void mmdb_file_put_node(struct buf *b, uint32_t bits,
				      uint32_t left, uint32_t right)
{
	uint8_t n[8] = {(uint8_t)(left >> 24),	(uint8_t)(left >> 16),
			(uint8_t)(left >> 8),	(uint8_t)left,
			(uint8_t)(right >> 24), (uint8_t)(right >> 16),
			(uint8_t)(right >> 8),	(uint8_t)right};

	if (bits == 32) {
		buf_append(b, n, 8);
		return;
	}
	buf_append(b, n + 1, 3);
	if (bits == 28)
		buf_putc(b, (char)((n[0] & 15) << 4 | (n[4] & 15)));
	buf_append(b, n + 5, 3);
}

static inline uint32_t mmdb_file_record(const struct mmdb_file *f,
					int32_t record)
{
	if (record == MMDB_FILE_EMPTY)
		return f->node_count;
	return record < 0 ? f->node_count + 16 + (uint32_t)(-1 - record)
			  : (uint32_t)record;
}

static inline void mmdb_file_put_metadata(struct buf *b,
					  const struct mmdb_file *f)
{
	buf_append(b, "\xab\xcd\xefMaxMind.com", 14);
	put_map(b, 9);
	put_text(b, "node_count");
	put_u32(b, f->node_count);
	put_text(b, "record_size");
	put_u16(b, (uint16_t)f->record_bits);
	put_text(b, "ip_version");
	put_u16(b, f->ip_version);
	put_pair(b, "database_type", "test");
	put_text(b, "binary_format_major_version");
	put_u16(b, 2);
	put_text(b, "binary_format_minor_version");
	put_u16(b, 0);
	put_text(b, "build_epoch");
	put_uint(b, 9, 1, 1);
	put_text(b, "description");
	put_map(b, 0);
	put_text(b, "languages");
	put_array(b, 0);
}

static inline void mmdb_file_bytes(const struct mmdb_file *f, struct buf *ret)
{
	for (uint32_t i = 0; i < f->node_count; i++)
		mmdb_file_put_node(ret, f->record_bits,
				   mmdb_file_record(f, f->nodes[i][0]),
				   mmdb_file_record(f, f->nodes[i][1]));
	buf_append(ret, (char[16]){0}, 16);
	buf_append(ret, f->data.data, f->data.len);
	mmdb_file_put_metadata(ret, f);
}

/* Writes a new file of these bytes; the caller unlinks and frees its path. */
static inline char *mmdb_file_save(const struct buf *bytes)
{
	char *path = strdup("/tmp/shortloop-geo-XXXXXX");
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, bytes->data, bytes->len) != (ssize_t)bytes->len)
		abort();
	close(fd);
	return path;
}

static inline char *mmdb_file_write(const struct mmdb_file *f)
{
	struct buf bytes = {0};
	char *path;

	mmdb_file_bytes(f, &bytes);
	path = mmdb_file_save(&bytes);
	buf_free(&bytes);
	return path;
}

static inline void mmdb_file_free(struct mmdb_file *f)
{
	buf_free(&f->data);
	free(f);
}

#endif
