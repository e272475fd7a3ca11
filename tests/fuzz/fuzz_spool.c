/* Any bytes can be in the segments of a spool after a crash or on a failing
 * disk: the records read from them are whole and in order, others are skipped,
 * and records written after them are found.  If some records are damaged, all
 * others are read, and the number of missing ones is known. */
#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/spool/segment.h"
#include "common/spool/spool.h"
#include "common/spool/spool_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[64];

static void remove_folder(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	if (system(command) != 0)
		abort();
}

static void make_folder(void)
{
	/* The folder is in memory, where waiting for the disk costs nothing. */
	snprintf(dir, sizeof(dir), "%s/shortloop-fuzz-spool-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(dir))
		abort();
	atexit(remove_folder);
}

/* Wherever the search stops, it uses bytes, but only existing ones. */
static void scan_records(const char *data, size_t size)
{
	size_t at = 0, used;
	struct spool_record r;

	while (spool_record_find(data + at, size - at, false, &r, &used)) {
		if (used > size - at || r.len == 0 ||
		    r.len > SPOOL_PAYLOAD_MAX || r.data < data + at ||
		    r.data + r.len != data + at + used)
			abort();
		at += used;
	}
	if (used > size - at)
		abort();
	at += used;
	/* At the end of the input there are no more records. */
	if (spool_record_find(data + at, size - at, true, &r, &used) ||
	    used != size - at)
		abort();
}

static void remove_files(void)
{
	DIR *folder = opendir(dir);

	if (!folder)
		abort();
	for (struct dirent *e; (e = readdir(folder));)
		unlinkat(dirfd(folder), e->d_name, 0);
	closedir(folder);
}

static void write_file(const char *name, const uint8_t *data, size_t size)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size))
		abort();
	close(fd);
}

static void read_all(struct spool *s, uint64_t *number)
{
	struct spool_record r;
	struct error err;
	uint64_t lost;
	int got;

	while ((got = spool_next(s, &r, &lost, &err)) > 0) {
		if (r.number < *number || r.number - lost != *number)
			abort();
		*number = r.number + 1;
		if (lost > r.number)
			abort();
	}
	if (got < 0)
		abort();
	*number += lost;
	if (*number != spool_next_number(s))
		abort();
}

/* The first byte gives the place where the input is split: a segment, and the
 * content of the position file. */
static void open_spool(const uint8_t *data, size_t size)
{
	const struct spool_options options = {dir, 1 << 20, 256};
	struct spool_record one = {0, 5, false, "behind", 6};
	char name[SEGMENT_NAME_MAX];
	size_t cut = size ? data[0] % 64 : 0, appended;
	struct error err;
	struct spool *s;
	uint64_t number;

	cut = cut > size ? size : cut;
	write_file("position", data, cut);
	write_file(segment_name(1, name), data + cut, size - cut);
	s = spool_open(&options, &err);
	if (!s) {
		if (err.code != ERROR_CONFIG)
			abort();
		return;
	}
	number = spool_next_number(s);
	read_all(s, &number);
	if (spool_append(s, &one, 1, &appended, &err) < 0)
		abort();
	read_all(s, &number);
	if (number != one.number + 1)
		abort();
	spool_acknowledge(s, number);
	spool_free(s);
}

/* Each three bytes are a record: its length, which byte of it is damaged, and
 * how.  A fuzzer cannot guess a CRC. */
static void damage_records(const uint8_t *data, size_t size)
{
	const struct spool_options options = {dir, 1 << 20, 0};
	struct buf bytes = {0};
	char name[SEGMENT_NAME_MAX], header[SEGMENT_HEADER_SIZE] = "SLspool";
	uint64_t whole = 0, found = 0, last = 0;
	struct spool_record r;
	struct error err;
	struct spool *s;

	header[8] = 1;
	buf_append(&bytes, header, sizeof(header));
	for (size_t i = 0; i + 3 <= size; i += 3) {
		struct spool_record put = {i / 3 + 1, data[i + 2], false,
					   (const char *)data, size};
		size_t from = bytes.len;

		put.len = 1 + data[i] % size;
		spool_record_put(&bytes, &put);
		if (bytes.failed)
			abort();
		from += data[i + 1] % (bytes.len - from);
		bytes.data[from] = (char)(bytes.data[from] ^ data[i + 2]);
		if (!data[i + 2])
			whole++, last = put.number;
	}
	write_file("position", NULL, 0);
	write_file(segment_name(1, name), (const uint8_t *)bytes.data,
		   bytes.len);
	s = spool_open(&options, &err);
	if (!s)
		abort();
	for (uint64_t lost, before = 0; spool_next(s, &r, &lost, &err) > 0;
	     before = r.number) {
		if (r.number != before + lost + 1 ||
		    data[3 * (r.number - 1) + 2] != 0)
			abort();
		found++;
	}
	if (found != whole || (found && spool_next_number(s) != last + 1))
		abort();
	spool_acknowledge(s, spool_next_number(s));
	spool_free(s);
	buf_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!*dir)
		make_folder();
	scan_records((const char *)data, size);
	open_spool(data, size);
	remove_files();
	if (size >= 3)
		damage_records(data, size);
	remove_files();
	return 0;
}
