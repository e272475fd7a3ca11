#include "common/spool/position.h"

#include <endian.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "common/spool/spool_record.h"

#define POSITION_NAME "position"
#define MAGIC	      UINT32_C(0x31704c53) /* "SLp1" */

enum {
	ENTRY_SPACING = 512, /* at least what a disk writes at once */
};

struct position_record {
	uint32_t magic, crc;
	uint64_t generation, acknowledged, handed_over;
};

static uint32_t crc_of(const struct position_record *e)
{
	return (uint32_t)crc32_z(0, (const unsigned char *)&e->generation,
				 3 * sizeof(uint64_t));
}

static bool read_entry(int fd, int which, struct position_record *ret)
{
	struct position_record e;

	if (pread(fd, &e, sizeof(e), (off_t)which * ENTRY_SPACING) !=
		    sizeof(e) ||
	    e.magic != htole32(MAGIC) || le32toh(e.crc) != crc_of(&e) ||
	    le64toh(e.acknowledged) > SPOOL_NUMBER_MAX)
		return false;
	*ret = e;
	return true;
}

int position_file_open(struct position_file *f, int dir,
		       struct spool_position *ret, bool *ret_found,
		       struct error *err)
{
	struct position_record e;
	int whole = 0;

	f->generation = 0;
	*ret = (struct spool_position){0};
	*ret_found = false;
	f->fd = openat(dir, POSITION_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (f->fd < 0)
		return error_set_errno(err, POSITION_NAME);
	for (int i = 0; i < 2; i++) {
		if (!read_entry(f->fd, i, &e))
			continue;
		whole++;
		if (*ret_found && le64toh(e.generation) < f->generation)
			continue;
		*ret_found = true;
		f->generation = le64toh(e.generation);
		ret->acknowledged = le64toh(e.acknowledged);
		ret->handed_over = le64toh(e.handed_over);
	}
	/* The entry that is not whole may have been the newer one. */
	if (whole == 1)
		ret->handed_over = UINT64_MAX;
	return 0;
}

void position_file_close(struct position_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

static int write_entry(struct position_file *f,
		       const struct spool_position *position, struct error *err)
{
	uint64_t generation = f->generation + 1;
	struct position_record e = {
		.magic = htole32(MAGIC),
		.generation = htole64(generation),
		.acknowledged = htole64(position->acknowledged),
		.handed_over = htole64(position->handed_over),
	};

	e.crc = htole32(crc_of(&e));
	if (pwrite(f->fd, &e, sizeof(e),
		   (off_t)(generation % 2) * ENTRY_SPACING) != sizeof(e))
		return error_set_errno(err, POSITION_NAME);
	f->generation = generation;
	return 0;
}

int position_file_write(struct position_file *f,
			const struct spool_position *position, bool durable,
			struct error *err)
{
	/* The first position goes into both entries: from then on an entry that
	 * is not whole is damaged. */
	if ((f->generation == 0 && write_entry(f, position, err) < 0) ||
	    write_entry(f, position, err) < 0)
		return -1;
	if (durable && fdatasync(f->fd) < 0)
		return error_set_errno(err, POSITION_NAME);
	return 0;
}
