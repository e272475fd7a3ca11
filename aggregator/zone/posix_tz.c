#include "aggregator/zone/posix_tz.h"

#include <ctype.h>

#include "aggregator/zone/civil.h"

#define HOUR	      3600
#define OFFSET_MAX    24  /* hours */
#define RULE_HOUR_MAX 167 /* hours; RFC 8536, 3.3.1 */

static bool read_number(const char **p, int max, int *ret)
{
	int value = 0;

	if (!isdigit((unsigned char)**p))
		return false;
	for (; isdigit((unsigned char)**p); (*p)++) {
		value = value * 10 + (**p - '0');
		if (value > max)
			return false;
	}
	*ret = value;
	return true;
}

static bool skip_char(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

/* Skips a name such as "CET" or "<+0330>", which is not needed. */
static bool skip_name(const char **p)
{
	const char *start = *p;

	if (skip_char(p, '<')) {
		while (isalnum((unsigned char)**p) || **p == '+' || **p == '-')
			(*p)++;
		return skip_char(p, '>');
	}
	while (isalpha((unsigned char)**p))
		(*p)++;
	return *p - start >= 3;
}

/* Reads [+-]hh[:mm[:ss]], in seconds. */
static bool read_time(const char **p, int max_hours, int32_t *ret)
{
	int sign = 1, hours, minutes = 0, seconds = 0;

	if (skip_char(p, '-'))
		sign = -1;
	else
		skip_char(p, '+');
	if (!read_number(p, max_hours, &hours))
		return false;
	if (skip_char(p, ':')) {
		if (!read_number(p, 59, &minutes))
			return false;
		if (skip_char(p, ':') && !read_number(p, 59, &seconds))
			return false;
	}
	*ret = sign * (hours * HOUR + minutes * 60 + seconds);
	return true;
}

static bool read_month_day(const char **p, struct posix_date *date)
{
	date->kind = POSIX_MONTH_DAY;
	return read_number(p, 12, &date->month) && date->month >= 1 &&
	       skip_char(p, '.') && read_number(p, 5, &date->week) &&
	       date->week >= 1 && skip_char(p, '.') &&
	       read_number(p, 6, &date->day);
}

static bool read_date(const char **p, struct posix_date *date)
{
	bool ok;

	if (!skip_char(p, ','))
		return false;
	if (skip_char(p, 'M')) {
		ok = read_month_day(p, date);
	} else if (skip_char(p, 'J')) {
		date->kind = POSIX_JULIAN;
		ok = read_number(p, 365, &date->day) && date->day >= 1;
	} else {
		date->kind = POSIX_ORDINAL;
		ok = read_number(p, 365, &date->day);
	}
	date->time = 2 * HOUR;
	if (ok && skip_char(p, '/'))
		ok = read_time(p, RULE_HOUR_MAX, &date->time);
	return ok;
}

static bool parse_tz_rule(struct posix_tz *tz, const char *p)
{
	int32_t west;

	if (!skip_name(&p) || !read_time(&p, OFFSET_MAX, &west))
		return false;
	tz->standard = -west; /* POSIX counts westwards */
	if (!*p)
		return true;
	tz->has_dst = true;
	tz->dst = tz->standard + HOUR;
	if (!skip_name(&p))
		return false;
	if (*p != ',') {
		if (!read_time(&p, OFFSET_MAX, &west))
			return false;
		tz->dst = -west;
	}
	return read_date(&p, &tz->dst_begin) && read_date(&p, &tz->dst_end) &&
	       !*p;
}

int posix_tz_parse(struct posix_tz *tz, const char *text, struct error *err)
{
	*tz = (struct posix_tz){0};
	if (parse_tz_rule(tz, text))
		return 0;
	return error_set(err, ERROR_INPUT, "'%.60s' is not a POSIX TZ rule",
			 text);
}

static int64_t month_day(const struct posix_date *date, int64_t year)
{
	int64_t first = civil_to_days(year, date->month, 1);
	int64_t next = date->month == 12
			       ? civil_to_days(year + 1, 1, 1)
			       : civil_to_days(year, date->month + 1, 1);
	int64_t day = first + (date->day - civil_weekday(first) + 7) % 7 +
		      (date->week - 1) * 7;

	return day < next ? day : day - 7;
}

/* Returns the date's time as local seconds. */
static int64_t local_instant(const struct posix_date *date, int64_t year)
{
	int64_t first = civil_to_days(year, 1, 1);
	bool leap = civil_to_days(year + 1, 1, 1) - first == 366;
	int64_t day;

	switch (date->kind) {
	case POSIX_JULIAN:
		day = first + date->day - 1 + (leap && date->day >= 60);
		break;
	case POSIX_ORDINAL:
		day = first + date->day;
		break;
	case POSIX_MONTH_DAY:
	default:
		day = month_day(date, year);
		break;
	}
	return day * CIVIL_DAY + date->time;
}

int64_t posix_tz_dst_begin(const struct posix_tz *tz, int64_t year)
{
	return local_instant(&tz->dst_begin, year) - tz->standard;
}

int64_t posix_tz_dst_end(const struct posix_tz *tz, int64_t year)
{
	return local_instant(&tz->dst_end, year) - tz->dst;
}
