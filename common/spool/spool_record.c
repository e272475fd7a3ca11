#include "common/spool/spool_record.h"

#include <endian.h>
#include <string.h>
#include <zlib.h>

#define MAGIC UINT32_C(0x31724c53) /* "SLr1" */

enum {
	AT_MAGIC = 0,
	AT_HEADER_CRC = 4,
	AT_NUMBER = 8,
	AT_TIME = 16,
	AT_LENGTH = 24,
	AT_FLAGS = 28,
	AT_PAYLOAD_CRC = 32,

	FLAG_MAYBE_SENT = 1,
};

static uint32_t crc_of(const char *data, size_t len)
{
	return (uint32_t)crc32_z(0, (const unsigned char *)data, len);
}

static void put_u32(char *to, uint32_t value)
{
	value = htole32(value);
	memcpy(to, &value, sizeof(value));
}

static void put_u64(char *to, uint64_t value)
{
	value = htole64(value);
	memcpy(to, &value, sizeof(value));
}

static uint32_t get_u32(const char *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return le32toh(value);
}

static uint64_t get_u64(const char *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return le64toh(value);
}

void spool_record_put(struct buf *out, const struct spool_record *record)
{
	char *to = buf_reserve(out, SPOOL_HEADER_SIZE + record->len);

	if (!to)
		return;
	memset(to, 0, SPOOL_HEADER_SIZE);
	put_u32(to + AT_MAGIC, MAGIC);
	put_u64(to + AT_NUMBER, record->number);
	put_u64(to + AT_TIME, (uint64_t)record->time_ms);
	put_u32(to + AT_LENGTH, (uint32_t)record->len);
	put_u32(to + AT_FLAGS, record->maybe_sent ? FLAG_MAYBE_SENT : 0);
	put_u32(to + AT_PAYLOAD_CRC, crc_of(record->data, record->len));
	put_u32(to + AT_HEADER_CRC,
		crc_of(to + AT_NUMBER, SPOOL_HEADER_SIZE - AT_NUMBER));
	memcpy(to + SPOOL_HEADER_SIZE, record->data, record->len);
	out->len += SPOOL_HEADER_SIZE + record->len;
}

static bool is_header(const char *at)
{
	uint32_t len = get_u32(at + AT_LENGTH);

	return get_u32(at) == MAGIC &&
	       get_u32(at + AT_HEADER_CRC) ==
		       crc_of(at + AT_NUMBER, SPOOL_HEADER_SIZE - AT_NUMBER) &&
	       len > 0 && len <= SPOOL_PAYLOAD_MAX &&
	       get_u64(at + AT_NUMBER) <= SPOOL_NUMBER_MAX;
}

static void read_header(const char *at, struct spool_record *ret)
{
	*ret = (struct spool_record){
		.number = get_u64(at + AT_NUMBER),
		.time_ms = (int64_t)get_u64(at + AT_TIME),
		.maybe_sent = get_u32(at + AT_FLAGS) & FLAG_MAYBE_SENT,
		.data = at + SPOOL_HEADER_SIZE,
		.len = get_u32(at + AT_LENGTH),
	};
}

/* Returns the first place where a header may begin; `end` if there is none. */
static const char *find_magic(const char *at, const char *end)
{
	const uint32_t magic = htole32(MAGIC);
	const char *found = memmem(at, (size_t)(end - at), &magic, 4);

	if (found)
		return found;
	/* The last three bytes may be the beginning of one. */
	return end - at > 3 ? end - 3 : at;
}

bool spool_record_find(const char *data, size_t len, bool at_end,
		       struct spool_record *ret, size_t *ret_used)
{
	const char *at = data, *end = data + len;

	for (;; at++) {
		struct spool_record record;

		at = find_magic(at, end);
		if (end - at < SPOOL_HEADER_SIZE)
			break;
		if (!is_header(at))
			continue;
		read_header(at, &record);
		if ((size_t)(end - record.data) < record.len)
			break;
		if (crc_of(record.data, record.len) ==
		    get_u32(at + AT_PAYLOAD_CRC)) {
			*ret = record;
			*ret_used = (size_t)(record.data - data) + record.len;
			return true;
		}
		/* The record's length is right: no record begins within its
		 * payload, whatever bytes that contains. */
		at = record.data + record.len - 1;
	}
	*ret_used = at_end ? len : (size_t)(at - data);
	return false;
}
