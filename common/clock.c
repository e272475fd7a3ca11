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

const char *clock_apart_format(int64_t ms, char text[CLOCK_APART_TEXT_MAX])
{
	char length[DURATION_TEXT_MAX];
	int64_t by = ms < 0 ? -ms : ms;
	int64_t unit = by < CLOCK_HOUR ? CLOCK_SECOND : CLOCK_MINUTE;

	snprintf(text, CLOCK_APART_TEXT_MAX, "%s %s",
		 duration_format((by + unit / 2) / unit * unit, length),
		 ms < 0 ? "behind" : "ahead of");
	return text;
}

/* Returns the calendar day of a day number since 1970: days_from_civil's
 * inverse, after Howard Hinnant, "chrono-compatible low-level date
 * algorithms". */
static int64_t civil_from_days(int64_t days, unsigned *ret_month,
			       unsigned *ret_day)
{
	int64_t shifted = days + 719468; /* since 0000-03-01 */
	int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
	unsigned doe = (unsigned)(shifted - era * 146097);
	unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	unsigned month = (5 * doy + 2) / 153; /* from March */

	*ret_day = doy - (153 * month + 2) / 5 + 1;
	*ret_month = month < 10 ? month + 3 : month - 9;
	return (int64_t)yoe + era * 400 + (*ret_month <= 2);
}

static char *put_digits(char *at, unsigned number, int count, char after)
{
	for (int i = count; i-- > 0; number /= 10)
		at[i] = (char)('0' + number % 10);
	at[count] = after;
	return at + count + 1;
}

const char *rfc3339_format(int64_t real_ms, char text[RFC3339_TEXT_MAX])
{
	int64_t days = real_ms / CLOCK_DAY, rest = real_ms % CLOCK_DAY, year;
	unsigned month, day;
	char *at = text;

	if (rest < 0) {
		rest += CLOCK_DAY;
		days--;
	}
	year = civil_from_days(days, &month, &day);
	if (year < 0 || year > 9999) {
		memcpy(text, "never", sizeof("never"));
		return text;
	}
	at = put_digits(at, (unsigned)year, 4, '-');
	at = put_digits(at, month, 2, '-');
	at = put_digits(at, day, 2, 'T');
	at = put_digits(at, (unsigned)(rest / 3600000), 2, ':');
	at = put_digits(at, (unsigned)(rest / 60000 % 60), 2, ':');
	at = put_digits(at, (unsigned)(rest / 1000 % 60), 2,
			rest % 1000 ? '.' : 'Z');
	if (rest % 1000)
		at = put_digits(at, (unsigned)(rest % 1000), 3, 'Z');
	*at = '\0';
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

/* Reads the offset from UTC in minutes: "Z", "+05:30". */
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
	/* timegm corrects 30 February to 2 March: such an input is refused. */
	if (!ok || *p || tm.tm_mon != same.tm_mon - 1 ||
	    tm.tm_mday != same.tm_mday)
		return error_set(err, ERROR_INPUT,
				 "'%.40s' is not an RFC 3339 time such as "
				 "2026-11-21T15:00:00Z",
				 text);
	*ret_real_ms = ((int64_t)t - offset * 60) * 1000 + ms;
	return 0;
}
