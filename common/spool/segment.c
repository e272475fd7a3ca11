#include "common/spool/segment.h"

#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_SIZE ((size_t)128 << 10)

static const char magic[8] = "SLspool";
static const char suffix[] = ".segment";

enum {
	DIGITS = 16
};

const char *segment_name(uint64_t first, char ret[SEGMENT_NAME_MAX])
{
	snprintf(ret, SEGMENT_NAME_MAX, "%016" PRIx64 "%s", first, suffix);
	return ret;
}

bool segment_name_parse(const char *name, uint64_t *ret_first)
{
	char again[SEGMENT_NAME_MAX];
	uint64_t first;

	if (strlen(name) != DIGITS + sizeof(suffix) - 1)
		return false;
	first = strtoull(name, NULL, 16);
	if (first > SPOOL_NUMBER_MAX)
		return false;
	/* Rejects what strtoull accepts in addition, such as blanks and
	 * signs. */
	if (strcmp(segment_name(first, again), name) != 0)
		return false;
	*ret_first = first;
	return true;
}

static void make_header(char header[SEGMENT_HEADER_SIZE])
{
	const uint32_t version = htole32(SEGMENT_VERSION);

	memset(header, 0, SEGMENT_HEADER_SIZE);
	memcpy(header, magic, sizeof(magic));
	memcpy(header + sizeof(magic), &version, sizeof(version));
}

int segment_create(int dir, uint64_t first, struct error *err)
{
	char name[SEGMENT_NAME_MAX], header[SEGMENT_HEADER_SIZE];
	int fd = openat(dir, segment_name(first, name),
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return error_set_errno(err, "%s", name);
	make_header(header);
	/* A new file survives a loss of power only once its folder is
	 * synced. */
	if (pwrite(fd, header, sizeof(header), 0) == sizeof(header) &&
	    fsync(dir) == 0)
		return fd;
	error_set_errno(err, "%s", name);
	close(fd);
	unlinkat(dir, name, 0);
	return -1;
}

/* --- reading -------------------------------------------------------------- */

static int check_version(struct segment_reader *r, const char *name,
			 struct error *err)
{
	char header[SEGMENT_HEADER_SIZE];
	ssize_t got = pread(r->fd, header, sizeof(header), 0);
	uint32_t version;

	if (got < 0)
		return error_set_errno(err, "%s", name);
	r->at = SEGMENT_HEADER_SIZE;
	/* A damaged header does not mean that no records follow. */
	if (got < SEGMENT_HEADER_SIZE ||
	    memcmp(header, magic, sizeof(magic)) != 0)
		return 0;
	memcpy(&version, header + sizeof(magic), sizeof(version));
	version = le32toh(version);
	if (version == SEGMENT_VERSION)
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "%s is of version %" PRIu32
			 "; this program reads version %d",
			 name, version, SEGMENT_VERSION);
}

int segment_reader_open(struct segment_reader *r, int dir, uint64_t first,
			struct error *err)
{
	char name[SEGMENT_NAME_MAX];

	r->fd = openat(dir, segment_name(first, name), O_RDONLY | O_CLOEXEC);
	if (r->fd < 0)
		return error_set_errno(err, "%s", name);
	r->used = 0;
	buf_reset(&r->bytes);
	if (check_version(r, name, err) == 0)
		return 0;
	close(r->fd);
	return -1;
}

void segment_reader_close(struct segment_reader *r)
{
	close(r->fd);
	r->fd = -1;
}

void segment_reader_free(struct segment_reader *r)
{
	buf_free(&r->bytes);
}

/* Returns the number of bytes read. */
static ssize_t read_more(struct segment_reader *r, struct error *err)
{
	char *to;
	ssize_t got;

	buf_consume(&r->bytes, r->used);
	r->used = 0;
	to = buf_reserve(&r->bytes, READ_SIZE);
	if (!to)
		return error_set_nomem(err);
	got = pread(r->fd, to, READ_SIZE, r->at);
	if (got < 0)
		return error_set_errno(err, "cannot read a segment");
	r->bytes.len += (size_t)got;
	r->at += got;
	return got;
}

int segment_reader_next(struct segment_reader *r, bool grows,
			struct spool_record *ret, struct error *err)
{
	bool at_end = false;

	for (;;) {
		size_t used, left = r->bytes.len - r->used;
		ssize_t got;

		if (left > 0) {
			bool found =
				spool_record_find(r->bytes.data + r->used, left,
						  at_end && !grows, ret, &used);

			r->used += used;
			if (found)
				return 1;
		}
		if (at_end)
			return 0;
		got = read_more(r, err);
		if (got < 0)
			return -1;
		at_end = got == 0;
	}
}
