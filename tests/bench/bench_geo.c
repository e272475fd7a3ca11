/*
 * Looks up random addresses without a cache, and reads country, region, city,
 * postal code, position and time zone of each: with collector/geo, or with
 * libmaxminddb and one path for each field.  Prints nanoseconds an address and
 * a digest of all values, which is the same on both sides.
 * usage: bench_geo ours|libmaxminddb FILE v4|v6 SECONDS
 */
#include <arpa/inet.h>
#include <maxminddb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/enrich/geo/geo.h"

enum {
	ADDRESSES = 1 << 18,
	FIELDS = 5,
};

struct answer {
	struct geo_text texts[FIELDS];
	float latitude, longitude;
};

/* CPU time of this process, so that other programs do not count. */
static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint64_t state = 1;

/* xorshift64*, by Vigna: both sides get the same addresses. */
static uint64_t next_random(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(2685821657736338717);
}

/* Makes an address of the public Internet; IPv6 addresses are in 2a00::/12,
 * where hosts are. */
static void make_address(bool v6, uint8_t ip[16])
{
	uint64_t high = next_random(), low = next_random();

	memcpy(ip, &high, 8);
	memcpy(ip + 8, &low, 8);
	if (v6) {
		ip[0] = 0x2a;
		ip[1] = high & 0x0f;
		return;
	}
	memset(ip, 0, 10);
	ip[10] = ip[11] = 0xff;
	do
		ip[12] = (uint8_t)(next_random() % 223 + 1);
	while (ip[12] == 10 || ip[12] == 127 || ip[12] == 100 ||
	       ip[12] == 169 || ip[12] == 172 || ip[12] == 192 ||
	       ip[12] == 198 || ip[12] == 203);
}

static uint64_t digest_bytes(uint64_t digest, const void *data, size_t len)
{
	const uint8_t *at = data;

	for (size_t i = 0; i < len; i++)
		digest = (digest ^ at[i]) * UINT64_C(1099511628211);
	return digest;
}

static uint64_t digest_of(uint64_t digest, const struct answer *a)
{
	for (int i = 0; i < FIELDS; i++)
		digest =
			digest_bytes(digest, a->texts[i].data, a->texts[i].len);
	digest = digest_bytes(digest, &a->latitude, sizeof(a->latitude));
	return digest_bytes(digest, &a->longitude, sizeof(a->longitude));
}

/* --- ours -------------------------------------------------------------- */

static void ask_ours(const struct geo *g, const uint8_t ip[16],
		     struct answer *ret_answer)
{
	struct geo_place place;
	struct geo_record r;

	geo_find(g, ip, &place);
	geo_read(g, &place, &r);
	*ret_answer = (struct answer){
		{r.country, r.region, r.city, r.postal_code, r.time_zone},
		(float)r.latitude,
		(float)r.longitude,
	};
}

/* --- libmaxminddb ------------------------------------------------------ */

static void get_text(MMDB_entry_s *entry, const char *key,
		     struct geo_text *ret_text)
{
	const char *const path[] = {key, NULL};
	MMDB_entry_data_s d;

	*ret_text = (struct geo_text){"", 0};
	if (MMDB_aget_value(entry, &d, path) == MMDB_SUCCESS && d.has_data &&
	    d.type == MMDB_DATA_TYPE_UTF8_STRING)
		*ret_text = (struct geo_text){d.utf8_string, d.data_size};
}

static float get_number(MMDB_entry_s *entry, const char *key)
{
	const char *const path[] = {key, NULL};
	MMDB_entry_data_s d;

	return MMDB_aget_value(entry, &d, path) == MMDB_SUCCESS && d.has_data &&
			       d.type == MMDB_DATA_TYPE_FLOAT
		       ? d.float_value
		       : 0;
}

static void ask_library(const MMDB_s *mmdb, const uint8_t ip[16],
			struct answer *ret_answer)
{
	static const char *const keys[FIELDS] = {
		"country_code", "state1", "city", "postcode", "timezone"};
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} address = {0};
	MMDB_lookup_result_s found;
	int status;

	if (mmdb->metadata.ip_version == 4) {
		address.v4.sin_family = AF_INET;
		memcpy(&address.v4.sin_addr, ip + 12, 4);
	} else {
		address.v6.sin6_family = AF_INET6;
		memcpy(&address.v6.sin6_addr, ip, 16);
	}
	*ret_answer = (struct answer){0};
	found = MMDB_lookup_sockaddr(mmdb, &address.any, &status);
	if (!found.found_entry)
		return;
	for (int i = 0; i < FIELDS; i++)
		get_text(&found.entry, keys[i], &ret_answer->texts[i]);
	ret_answer->latitude = get_number(&found.entry, "latitude");
	ret_answer->longitude = get_number(&found.entry, "longitude");
}

/* --- common ------------------------------------------------------------ */

static void measure_lookups(const struct geo *ours, const MMDB_s *library,
			    const uint8_t *addresses, double seconds)
{
	uint64_t asked = 0, digest = 0;
	int64_t start = cpu_ns(), now = start;
	int64_t end = start + (int64_t)(seconds * 1e9);
	struct answer a;

	for (size_t i = 0; i < ADDRESSES;
	     i++) { /* the first round is not measured */
		if (ours)
			ask_ours(ours, addresses + 16 * i, &a);
		else
			ask_library(library, addresses + 16 * i, &a);
		digest = digest_of(digest, &a);
	}
	for (start = now = cpu_ns(); now < end; now = cpu_ns()) {
		for (size_t i = 0; i < ADDRESSES; i++)
			if (ours)
				ask_ours(ours, addresses + 16 * i, &a);
			else
				ask_library(library, addresses + 16 * i, &a);
		asked += ADDRESSES;
	}
	printf("%.1f ns, digest %016llx\n",
	       (double)(now - start) / (double)(asked ? asked : 1),
	       (unsigned long long)digest);
}

static int measure_geo_file(bool ours, char *path, const uint8_t *addresses,
			    double seconds)
{
	struct setting_strings files = {&path, 1};
	struct error err = {0};
	struct geo *g;
	MMDB_s mmdb;

	if (ours) {
		g = geo_open(&files, "en", &err);
		if (!g)
			return fprintf(stderr, "bench_geo: %s\n", err.text);
		measure_lookups(g, NULL, addresses, seconds);
		geo_close(g);
		return 0;
	}
	if (MMDB_open(path, MMDB_MODE_MMAP, &mmdb) != MMDB_SUCCESS)
		return fprintf(stderr, "bench_geo: %s cannot be opened\n",
			       path);
	measure_lookups(NULL, &mmdb, addresses, seconds);
	MMDB_close(&mmdb);
	return 0;
}

int main(int argc, char **argv)
{
	uint8_t *addresses = malloc((size_t)16 * ADDRESSES);

	if (argc != 5 || !addresses) {
		fprintf(stderr, "usage: bench_geo ours|libmaxminddb FILE v4|v6 "
				"SECONDS\n");
		return 64;
	}
	for (size_t i = 0; i < ADDRESSES; i++)
		make_address(!strcmp(argv[3], "v6"), addresses + 16 * i);
	return measure_geo_file(!strcmp(argv[1], "ours"), argv[2], addresses,
				atof(argv[4]))
		       ? 1
		       : 0;
}
