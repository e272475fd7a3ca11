/* Any bytes can be in a file of counters after a crash: it is refused, or what
 * is read is within it. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "redirector/counters/counters_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct counters_origin origin = {"instance", "edge", 7, 1};
static const char name[] = "counters-0000000000000007";
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
	snprintf(dir, sizeof(dir), "%s/shortloop-fuzz-counters-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(dir))
		abort();
	atexit(remove_folder);
}

static int open_file(int flags)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, flags, 0600);
	if (fd < 0)
		abort();
	return fd;
}

static void read_counters(void)
{
	static struct hour_table table;
	struct counters_file *f;
	struct error err;

	f = counters_file_open(dir, name, &err);
	if (f) {
		memset(&table, 0, sizeof(table));
		counters_file_add_to(f, &table);
		counters_file_is_empty(f);
		if (strlen(counters_file_origin(f)->instance) > 4096 ||
		    strlen(counters_file_origin(f)->edge) > 4096 ||
		    counters_file_next_sequence(f) ==
			    counters_file_next_sequence(f))
			abort();
		counters_file_remove(f);
	}
	counters_file_free(f);
}

/* Makes a whole file and overwrites it from the place that the first two bytes
 * give. */
static void read_damaged_file(const uint8_t *data, size_t size)
{
	struct error err;
	struct counters_file *f = counters_file_new(dir, &origin, 1, &err);
	int fd;

	if (!f)
		abort();
	counters_file_free(f);
	fd = open_file(O_WRONLY);
	if (pwrite(fd, data + 2, size - 2, (data[0] << 8 | data[1]) % 30000) <
	    0)
		abort();
	close(fd);
	read_counters();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd;

	if (!*dir)
		make_folder();
	fd = open_file(O_WRONLY | O_CREAT | O_TRUNC);
	if (write(fd, data, size) < 0)
		abort();
	close(fd);
	read_counters();
	if (size > 2)
		read_damaged_file(data, size);
	return 0;
}
