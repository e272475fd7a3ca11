#include "aggregator/zone/zone.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/zone/civil.h"
#include "aggregator/zone/posix_tz.h"
#include "aggregator/zone/tzif.h"
#include "common/read_file.h"

#define FILE_MAX  (256 * 1024)
#define LAST_YEAR 2106
#define DAY	  86400

struct zone {
	char name[ZONE_NAME_MAX + 1];
	int32_t first_offset;
	struct tzif_change *changes; /* changes of the offset, ascending */
	size_t count;
};

/* Whether the name is a relative path of letters and the like, which cannot
 * leave the directory. */
static bool name_is_safe(const char *name)
{
	size_t len = strlen(name);

	if (!len || len > ZONE_NAME_MAX || !isalpha((unsigned char)*name))
		return false;
	for (const char *p = name; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr("_+-/", *p))
			return false;
	}
	return true;
}

/* Whether the name is a link in the directory: to the host's zone, which a
 * client cannot know, or to the zone that old rules are taken from. */
static bool name_is_link(const char *name)
{
	return !strcmp(name, "localtime") || !strcmp(name, "posixrules");
}

static int refuse_unknown_zone(const char *name, struct error *err)
{
	return error_set(err, ERROR_INPUT,
			 "'%.64s' is not a time zone: write a name of the IANA "
			 "database, such as Europe/Berlin",
			 name);
}

static int read_zone_file(const char *path, const char *name, char **ret_data,
			  size_t *ret_len, struct error *err)
{
	struct error why = {0};
	FILE *file = plain_file_stream(path, &why);
	char *data = NULL;

	/* The name may be a folder of the database. */
	if (!file && (why.sys == ENOENT || why.sys == ENOTDIR || why.sys == 0))
		return refuse_unknown_zone(name, err);
	if (!file)
		return error_set(err, ERROR_SYSTEM, "%s: %s", path, why.text);
	data = malloc(FILE_MAX);
	if (!data) {
		fclose(file);
		return error_set_nomem(err);
	}
	*ret_len = fread(data, 1, FILE_MAX, file);
	*ret_data = data;
	fclose(file);
	return 0;
}

static void add_change(struct zone *z, int64_t at, int32_t offset)
{
	int32_t now =
		z->count ? z->changes[z->count - 1].offset : z->first_offset;

	if (offset != now)
		z->changes[z->count++] = (struct tzif_change){at, offset};
}

/* Continues after the file's list, by the footer's rule. */
static void extend_changes(struct zone *z, const struct posix_tz *tz,
			   int64_t last)
{
	int64_t year = civil_from_days(floor_div(last, DAY)).year;

	if (!tz->has_dst) {
		add_change(z, last, tz->standard);
		return;
	}
	for (; year <= LAST_YEAR; year++) {
		int64_t begin = posix_tz_dst_begin(tz, year);
		int64_t end = posix_tz_dst_end(tz, year);
		bool north = begin < end;

		if ((north ? begin : end) > last)
			add_change(z, north ? begin : end,
				   north ? tz->dst : tz->standard);
		if ((north ? end : begin) > last)
			add_change(z, north ? end : begin,
				   north ? tz->standard : tz->dst);
	}
}

static int fill_zone(struct zone *z, const struct tzif *tzif, struct error *err)
{
	int64_t last = tzif->count ? tzif->changes[tzif->count - 1].at : 0;
	struct posix_tz tz;

	z->first_offset = tzif->first_offset;
	z->changes = calloc(tzif->count + 2 * (LAST_YEAR - 1900) + 2,
			    sizeof(*z->changes));
	if (!z->changes)
		return error_set_nomem(err);
	for (size_t i = 0; i < tzif->count; i++)
		add_change(z, tzif->changes[i].at, tzif->changes[i].offset);
	if (!*tzif->footer)
		return 0;
	if (posix_tz_parse(&tz, tzif->footer, err) < 0)
		return -1;
	/* If all listed changes are before 1900, changes are added only from
	 * 1900 on. */
	extend_changes(z, &tz, last < -2208988800 ? -2208988800 : last);
	return 0;
}

static int load_file(struct zone *z, const char *directory, struct error *err)
{
	char path[4096];
	char *data = NULL;
	size_t len = 0;
	struct tzif tzif = {0};
	int status = -1;

	if (snprintf(path, sizeof(path), "%s/%s", directory, z->name) >=
	    (int)sizeof(path))
		return refuse_unknown_zone(z->name, err);
	if (read_zone_file(path, z->name, &data, &len, err) < 0)
		return -1;
	if (tzif_parse(&tzif, data, len, err) < 0)
		refuse_unknown_zone(z->name, err);
	else
		status = fill_zone(z, &tzif, err);
	tzif_release(&tzif);
	free(data);
	return status;
}

struct zone *zone_load(const char *directory, const char *name,
		       struct error *err)
{
	struct zone *z;

	if (!name_is_safe(name) || name_is_link(name)) {
		refuse_unknown_zone(name, err);
		return NULL;
	}
	z = calloc(1, sizeof(*z));
	if (!z) {
		error_set_nomem(err);
		return NULL;
	}
	snprintf(z->name, sizeof(z->name), "%s", name);
	if (strcmp(name, "UTC") != 0 && load_file(z, directory, err) < 0) {
		zone_free(z);
		return NULL;
	}
	return z;
}

void zone_free(struct zone *zone)
{
	if (!zone)
		return;
	free(zone->changes);
	free(zone);
}

const char *zone_name(const struct zone *zone)
{
	return zone->name;
}

/* Returns the number of changes at or before `at`. */
static size_t changes_until(const struct zone *z, int64_t at)
{
	size_t low = 0, high = z->count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (z->changes[mid].at <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int32_t zone_offset(const struct zone *zone, int64_t at)
{
	size_t n = changes_until(zone, at);

	return n ? zone->changes[n - 1].offset : zone->first_offset;
}

int64_t zone_next_change(const struct zone *zone, int64_t at)
{
	size_t n = changes_until(zone, at);

	return n < zone->count ? zone->changes[n].at : INT64_MAX;
}

int64_t zone_last_change(const struct zone *zone, int64_t at)
{
	size_t n = changes_until(zone, at);

	return n ? zone->changes[n - 1].at : INT64_MIN;
}

int64_t zone_from_local(const struct zone *zone, int64_t local)
{
	/* No offset is as large as two days, so a local time two days earlier
	 * is always earlier. */
	int64_t at = local - 2 * DAY;

	for (;;) {
		int64_t next = zone_next_change(zone, at);
		int64_t hit = local - zone_offset(zone, at);

		if (hit < at)
			return at; /* skipped: the gap ends here */
		if (hit < next)
			return hit;
		at = next;
	}
}

const char *zone_format(const struct zone *zone, int64_t at,
			char text[ZONE_TEXT_MAX])
{
	int32_t offset = zone_offset(zone, at);
	int64_t local = at + offset;
	int64_t days = floor_div(local, DAY);
	int second = (int)(local - days * DAY);
	struct civil c = civil_from_days(days);
	int minutes = abs(offset) / 60;
	int n;

	n = snprintf(text, ZONE_TEXT_MAX, "%04d-%02d-%02dT%02d:%02d:%02d",
		     (int)c.year, c.month, c.day, second / 3600,
		     second / 60 % 60, second % 60);
	if (!strcmp(zone->name, "UTC"))
		snprintf(text + n, (size_t)(ZONE_TEXT_MAX - n), "Z");
	else
		snprintf(text + n, (size_t)(ZONE_TEXT_MAX - n), "%c%02d:%02d",
			 offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
	return text;
}
