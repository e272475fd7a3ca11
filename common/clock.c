#include "common/clock.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct unit {
	const char *suffix;
	int64_t ms;
} units[] = {
	{"d", CLOCK_DAY},    {"h", CLOCK_HOUR}, {"m", CLOCK_MINUTE},
	{"s", CLOCK_SECOND}, {"ms", 1},
};
#define UNIT_COUNT (sizeof(units) / sizeof(units[0]))

static int64_t read_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

int64_t clock_real_ms(void)
{
	return read_ns(CLOCK_REALTIME) / 1000000;
}

int64_t clock_monotonic_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_monotonic_ms(void)
{
	return read_ns(CLOCK_MONOTONIC) / 1000000;
}

int64_t clock_boottime_ms(void)
{
	return read_ns(CLOCK_BOOTTIME) / 1000000;
}

static int bad_duration(const char *text, struct error *err)
{
	return error_set(err, ERROR_INPUT,
			 "'%.40s' is not a duration: write a whole number "
			 "and ms, s, m, h or d, or 'never'",
			 text);
}

int duration_parse(const char *text, int64_t *ret_ms, struct error *err)
{
	int64_t value = 0;
	const char *p = text;

	if (!strcmp(text, "never")) {
		*ret_ms = DURATION_NEVER;
		return 0;
	}
	for (; isdigit((unsigned char)*p); p++) {
		if (value > INT64_C(100000000000000))
			return bad_duration(text, err);
		value = value * 10 + (*p - '0');
	}
	if (p == text)
		return bad_duration(text, err);
	for (size_t i = 0; i < UNIT_COUNT; i++) {
		if (strcmp(p, units[i].suffix) != 0)
			continue;
		if (value > INT64_MAX / 4 / units[i].ms)
			return bad_duration(text, err);
		*ret_ms = value * units[i].ms;
		return 0;
	}
	return bad_duration(text, err);
}

const char *duration_format(int64_t ms, char text[DURATION_TEXT_MAX])
{
	size_t i = 0;

	if (ms == DURATION_NEVER) {
		snprintf(text, DURATION_TEXT_MAX, "never");
		return text;
	}
	if (ms == 0) {
		snprintf(text, DURATION_TEXT_MAX, "0s");
		return text;
	}
	while (i < UNIT_COUNT - 1 && ms % units[i].ms != 0)
		i++;
	snprintf(text, DURATION_TEXT_MAX, "%" PRId64 "%s", ms / units[i].ms,
		 units[i].suffix);
	return text;
}

const char *rfc3339_format(int64_t real_ms, char text[RFC3339_TEXT_MAX])
{
	int64_t part = real_ms % 1000;
	time_t seconds = (time_t)(real_ms / 1000);
	struct tm tm;
	size_t len;

	if (part < 0) {
		part += 1000;
		seconds--;
	}
	if (!gmtime_r(&seconds, &tm) || tm.tm_year > 8099) {
		snprintf(text, RFC3339_TEXT_MAX, "never");
		return text;
	}
	len = strftime(text, RFC3339_TEXT_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
	if (part)
		snprintf(text + len, RFC3339_TEXT_MAX - len, ".%03dZ",
			 (int)part);
	else
		snprintf(text + len, RFC3339_TEXT_MAX - len, "Z");
	return text;
}

static bool read_digits(const char **p, int count, int *ret)
{
	int value = 0;

	for (int i = 0; i < count; i++, (*p)++) {
		if (!isdigit((unsigned char)**p))
			return false;
		value = value * 10 + (**p - '0');
	}
	*ret = value;
	return true;
}

static bool read_char(const char **p, const char *any)
{
	if (!**p || !strchr(any, **p))
		return false;
	(*p)++;
	return true;
}

static bool read_fraction(const char **p, int *ret_ms)
{
	int scale = 100;

	*ret_ms = 0;
	if (**p != '.')
		return true;
	(*p)++;
	if (!isdigit((unsigned char)**p))
		return false;
	for (; isdigit((unsigned char)**p); (*p)++) {
		*ret_ms += (**p - '0') * scale;
		scale /= 10;
	}
	return true;
}

/* The offset from UTC in minutes: "Z", "+05:30". */
static bool read_offset(const char **p, int *ret_minutes)
{
	int sign, hours, minutes;

	*ret_minutes = 0;
	if (read_char(p, "Zz"))
		return true;
	sign = **p == '-' ? -1 : 1;
	if (!read_char(p, "+-") || !read_digits(p, 2, &hours) ||
	    !read_char(p, ":") || !read_digits(p, 2, &minutes))
		return false;
	*ret_minutes = sign * (hours * 60 + minutes);
	return hours < 24 && minutes < 60;
}

static bool read_date(const char **p, struct tm *tm)
{
	return read_digits(p, 4, &tm->tm_year) && read_char(p, "-") &&
	       read_digits(p, 2, &tm->tm_mon) && read_char(p, "-") &&
	       read_digits(p, 2, &tm->tm_mday);
}

static bool read_time(const char **p, struct tm *tm, int *ms, int *offset)
{
	return read_digits(p, 2, &tm->tm_hour) && read_char(p, ":") &&
	       read_digits(p, 2, &tm->tm_min) && read_char(p, ":") &&
	       read_digits(p, 2, &tm->tm_sec) && read_fraction(p, ms) &&
	       read_offset(p, offset) && tm->tm_hour < 24 && tm->tm_min < 60 &&
	       tm->tm_sec < 61;
}

int rfc3339_parse(const char *text, int64_t *ret_real_ms, struct error *err)
{
	struct tm tm = {0}, same;
	const char *p = text;
	int ms = 0, offset = 0;
	time_t t;
	bool ok;

	ok = read_date(&p, &tm);
	if (ok && *p)
		ok = read_char(&p, "Tt ") && read_time(&p, &tm, &ms, &offset);
	same = tm;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	t = timegm(&tm);
	/* timegm mends 30 February to 2 March: that is not what was meant. */
	if (!ok || *p || tm.tm_mon != same.tm_mon - 1 ||
	    tm.tm_mday != same.tm_mday)
		return error_set(err, ERROR_INPUT,
				 "'%.40s' is not an RFC 3339 time such as "
				 "2026-11-21T15:00:00Z",
				 text);
	*ret_real_ms = ((int64_t)t - offset * 60) * 1000 + ms;
	return 0;
}
