#include <maxminddb.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/geo/mmdb.h"
#include "tests/unit/collector/mmdb_file.h"

static uint64_t state = 88172645463325252;

static uint32_t random_number(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % below;
}

static struct mmdb *must_open(const char *path)
{
	struct error err = {0};
	struct mmdb *m = mmdb_open(path, &err);

	if (!m)
		fail_msg("%s", err.text);
	return m;
}

/* Narrower networks last; each has a record of its own. */
static struct mmdb_file *random_file(uint32_t record_bits, uint16_t version)
{
	struct mmdb_file *f = mmdb_file_new(record_bits, version);
	char network[64];

	for (unsigned bits = 4; bits <= 32 && f->node_count < 1800; bits++) {
		uint32_t offset = (uint32_t)f->data.len;

		put_map(&f->data, 0);
		snprintf(network, sizeof(network), "%u.%u.%u.%u/%u",
			 random_number(8), random_number(256),
			 random_number(256), random_number(256), bits);
		mmdb_file_add(f, network, offset);
		if (version == 4)
			continue;
		snprintf(network, sizeof(network), "2a0%x:%x:%x::%x/%u",
			 random_number(3), random_number(4),
			 random_number(65536), random_number(65536), 3 * bits);
		mmdb_file_add(f, network, offset);
	}
	return f;
}

static void random_address(bool v4, uint8_t ip[16])
{
	for (int i = 0; i < 16; i++)
		ip[i] = (uint8_t)random_number(256);
	if (v4) {
		memcpy(ip, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
		ip[12] = (uint8_t)random_number(8);
		return;
	}
	ip[0] = 0x2a;
	ip[1] = (uint8_t)random_number(3);
	ip[2] = 0;
	ip[3] = (uint8_t)random_number(4);
}

/* What the library says: offset + 1 of the record or 0, and the prefix. */
static uint32_t second_opinion(const MMDB_s *mmdb, const uint8_t ip[16],
			       bool v4, unsigned *ret_bits)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} a = {0};
	MMDB_lookup_result_s r;
	int status;

	if (v4) {
		a.v4.sin_family = AF_INET;
		memcpy(&a.v4.sin_addr, ip + 12, 4);
	} else {
		a.v6.sin6_family = AF_INET6;
		memcpy(&a.v6.sin6_addr, ip, 16);
	}
	r = MMDB_lookup_sockaddr(mmdb, &a.any, &status);
	assert_int_equal(status, MMDB_SUCCESS);
	*ret_bits = r.netmask;
	if (v4 && mmdb->metadata.ip_version == 4)
		*ret_bits += 96;
	return r.found_entry ? r.entry.offset + 1 : 0;
}

static void compare(const struct mmdb *m, const MMDB_s *library, bool v4)
{
	for (int i = 0; i < 20000; i++) {
		unsigned bits, exact, longest;
		uint32_t found, changed;
		uint8_t ip[16];

		random_address(v4, ip);
		found = mmdb_find(m, ip, &bits);
		assert_int_equal(found,
				 second_opinion(library, ip, v4, &exact));
		if (!v4 || exact >= 96) /* a tree may end above IPv4 */
			assert_int_equal(mmdb_network_bits(m, ip), exact);
		assert_true(bits >= exact);
		assert_true(bits <= (exact > 112 ? exact : 112));
		if (bits == 128)
			continue;
		/* Any other address under the prefix. */
		longest = bits + random_number(128 - bits);
		ip[longest / 8] ^= (uint8_t)(0x80 >> longest % 8);
		changed = mmdb_find(m, ip, &bits);
		assert_int_equal(found, changed);
	}
}

static void every_address_has_the_record_that_the_library_finds(void **unused)
{
	static const uint32_t record_bits[] = {24, 28, 32};

	(void)unused;
	for (int i = 0; i < 6; i++) {
		uint16_t version = i < 3 ? 4 : 6;
		struct mmdb_file *f = random_file(record_bits[i % 3], version);
		char *path = mmdb_file_write(f);
		struct mmdb *m = must_open(path);
		MMDB_s library;

		assert_int_equal(MMDB_open(path, MMDB_MODE_MMAP, &library), 0);
		compare(m, &library, true);
		if (version == 6)
			compare(m, &library, false);
		MMDB_close(&library);
		mmdb_close(m);
		unlink(path);
		free(path);
		mmdb_file_free(f);
	}
}

static void a_file_of_v4_has_no_v6(void **unused)
{
	struct mmdb_file *f = random_file(24, 4);
	char *path = mmdb_file_write(f);
	struct mmdb *m = must_open(path);
	uint8_t ip[16];
	unsigned bits;

	(void)unused;
	for (int i = 0; i < 1000; i++) {
		random_address(false, ip);
		assert_int_equal(mmdb_find(m, ip, &bits), 0);
	}
	mmdb_close(m);
	unlink(path);
	free(path);
	mmdb_file_free(f);
}

static void what_is_written_over_an_open_file_changes_nothing(void **unused)
{
	struct mmdb_file *f = random_file(28, 4);
	char *path = mmdb_file_write(f);
	struct mmdb *m = must_open(path);
	uint32_t before[256];
	unsigned bits;

	(void)unused;
	for (int pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < 256; i++) {
			uint8_t ip[16] = {[10] = 0xff, 0xff, 3, (uint8_t)i};
			uint32_t record = mmdb_find(m, ip, &bits);

			if (pass)
				assert_int_equal(record, before[i]);
			before[i] = record;
		}
		assert_int_equal(truncate(path, 0), 0);
	}
	mmdb_close(m);
	unlink(path);
	free(path);
	mmdb_file_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_address_has_the_record_that_the_library_finds),
		cmocka_unit_test(a_file_of_v4_has_no_v6),
		cmocka_unit_test(
			what_is_written_over_an_open_file_changes_nothing),
	};

	return cmocka_run_group_tests_name("mmdb", tests, NULL, NULL);
}
