/*
 * Any bytes as a geo file: it is refused with a reason, or every address can be
 * looked up and read within the file's bytes.  libmaxminddb has no sanitizer,
 * so generated files end at the end of their last page: a read beyond it stops
 * the program.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/enrich/geo/geo.h"
#include "tests/unit/collector/mmdb_file.h"

enum {
	PAGE = 4096
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void touch_text(struct geo_text t, uint64_t *sum)
{
	for (size_t i = 0; i < t.len; i++)
		*sum += (uint8_t)t.data[i];
}

/* Touches every byte that was read, so that a sanitizer checks it. */
static void touch_all(const struct geo_record *r)
{
	static volatile uint64_t sink;
	uint64_t sum = 0;

	touch_text(r->continent, &sum);
	touch_text(r->country, &sum);
	touch_text(r->region, &sum);
	touch_text(r->city, &sum);
	touch_text(r->postal_code, &sum);
	touch_text(r->time_zone, &sum);
	touch_text(r->as_org, &sum);
	sink = sum;
	(void)sink;
	assert(!r->located || (r->latitude >= -90 && r->latitude <= 90));
}

static void ask_one(const struct geo *g, const uint8_t ip[16])
{
	char network[GEO_NETWORK_MAX];
	struct geo_record record;
	struct geo_place place;

	assert(geo_find(g, ip, &place) <= 128);
	geo_read(g, &place, &record);
	touch_all(&record);
	assert(strchr(geo_network(g, 0, ip, network), '/'));
}

/* Looks up addresses that go every way near the root, in both families. */
static void look_up_addresses(const struct geo *g)
{
	for (unsigned i = 0; i < 256; i += 5) {
		uint8_t ip[16] = {(uint8_t)i, (uint8_t)(i * 7), (uint8_t)i};

		ask_one(g, ip);
		memcpy(ip, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
		ip[12] = (uint8_t)i;
		ask_one(g, ip);
	}
}

/* Bytes from 0xf0 on become keys of records, since maps would rarely have valid
 * ones by chance. */
static void put_data(struct buf *b, const uint8_t *data, size_t size)
{
	static const char *const keys[16] = {
		"country",  "iso_code",	    "city",	 "names",
		"en",	    "de",	    "continent", "code",
		"location", "subdivisions", "latitude",	 "longitude",
		"postal",   "traits",	    "asn",	 "registered_country",
	};

	for (size_t i = 0; i < size; i++)
		if (data[i] >= 0xf0)
			put_text(b, keys[data[i] - 0xf0]);
		else
			buf_putc(b, (char)data[i]);
}

/*
 * Makes a tree with one byte for each record, the rest of the input as data,
 * and matching metadata: chance would rarely produce such a file.
 */
static void make_file(const uint8_t *data, size_t size, struct buf *ret_file)
{
	static const uint32_t sizes[] = {24, 28, 32};
	struct mmdb_file *f =
		mmdb_file_new(sizes[data[1] % 3], data[1] & 4 ? 4 : 6);
	size_t at = 2, fixed;

	f->node_count = data[0] % 8 + 1u;
	for (uint32_t i = 0; i < 2 * f->node_count; i++) {
		uint8_t byte = at < size ? data[at++] : 0;
		int32_t next = (int32_t)(i / 2 + 1 + byte % 3);

		if (byte & 0x80 && next < (int32_t)f->node_count)
			f->nodes[i / 2][i % 2] = next;
		else
			f->nodes[i / 2][i % 2] =
				byte & 0x40 ? MMDB_FILE_EMPTY
					    : -1 - (int32_t)(byte & 0x1f);
	}
	mmdb_file_bytes(f, ret_file);
	fixed = ret_file->len;
	buf_reset(ret_file);
	put_data(&f->data, data + at, size - at);
	while ((fixed + f->data.len) % PAGE)
		buf_putc(&f->data, 0);
	mmdb_file_bytes(f, ret_file);
	mmdb_file_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf file = {0};
	char path[64], *items[] = {path};
	struct setting_strings files = {items, 1};
	struct error err = {0};
	struct geo *g;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (size > 2 && data[0] & 0x80)
		make_file(data, size, &file);
	else
		buf_append(&file, data, size);
	if (fd < 0 || write(fd, file.data, file.len) != (ssize_t)file.len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	g = geo_open(&files, "de", &err);
	if (g)
		look_up_addresses(g);
	else
		assert(err.code == ERROR_CONFIG && strstr(err.text, path));
	geo_close(g);
	close(fd);
	buf_free(&file);
	return 0;
}
