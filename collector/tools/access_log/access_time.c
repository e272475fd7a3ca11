#include "collector/tools/access_log/access_time.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"

enum {
	TEXT_MAX = 63
};

static int refuse(const char *text, size_t len, struct error *err)
{
	return error_set(err, ERROR_INPUT, "not a time: '%.*s'",
			 (int)(len < TEXT_MAX ? len : TEXT_MAX), text);
}

/* Exactly `n` digits; -1 when they are not. */
static int digits(const char *at, size_t n)
{
	int value = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isdigit((unsigned char)at[i]))
			return -1;
		value = value * 10 + (at[i] - '0');
	}
	return value;
}

static int month_of(const char *at)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

	for (int i = 0; i < 12; i++)
		if (!strncasecmp(at, names + (ptrdiff_t)3 * i, 3))
			return i;
	return -1;
}

/* "+0530" or "-0800" in seconds. */
static bool read_offset(const char *at, int *ret_seconds)
{
	int hours = digits(at + 1, 2), minutes = digits(at + 3, 2);

	if ((at[0] != '+' && at[0] != '-') || hours < 0 || minutes < 0 ||
	    minutes > 59)
		return false;
	*ret_seconds = (at[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
	return true;
}

/* "17/May/2015:10:05:03 +0000", 26 characters. */
static bool read_clf(const char *t, size_t len, int64_t *ret_ms)
{
	struct tm tm = {0};
	int offset, day, year;

	if (len != 26 || t[2] != '/' || t[6] != '/' || t[11] != ':' ||
	    t[14] != ':' || t[17] != ':' || t[20] != ' ')
		return false;
	day = digits(t, 2);
	year = digits(t + 7, 4);
	tm.tm_mon = month_of(t + 3);
	tm.tm_hour = digits(t + 12, 2);
	tm.tm_min = digits(t + 15, 2);
	tm.tm_sec = digits(t + 18, 2);
	if (day < 1 || day > 31 || year < 1970 || tm.tm_mon < 0 ||
	    tm.tm_hour < 0 || tm.tm_hour > 23 || tm.tm_min < 0 ||
	    tm.tm_min > 59 || tm.tm_sec < 0 || tm.tm_sec > 60 ||
	    !read_offset(t + 21, &offset))
		return false;
	tm.tm_mday = day;
	tm.tm_year = year - 1900;
	*ret_ms = ((int64_t)timegm(&tm) - offset) * CLOCK_SECOND;
	return true;
}

/* The spellings of ISO 8601 that are not RFC 3339 are made so. */
static bool read_iso(const char *t, size_t len, int64_t *ret_ms)
{
	char text[TEXT_MAX + 2];
	struct error err = {0};
	char *comma;

	if (len < 10 || len >= TEXT_MAX || t[4] != '-')
		return false;
	memcpy(text, t, len);
	text[len] = '\0';
	if (len > 10 && text[10] == ' ')
		text[10] = 'T';
	comma = strchr(text, ',');
	if (comma)
		*comma = '.';
	if (len > 19 && (text[len - 5] == '+' || text[len - 5] == '-')) {
		memmove(text + len - 1, text + len - 2, 3);
		text[len - 2] = ':';
	}
	return rfc3339_parse(text, ret_ms, &err) == 0;
}

/* Seconds with a fraction, or a whole number of ms or us by its length. */
static bool read_number(const char *t, size_t len, int64_t *ret_ms)
{
	int64_t whole = 0, fraction = 0, scale = 100;
	size_t i = 0;

	for (; i < len && isdigit((unsigned char)t[i]) && i < 17; i++)
		whole = whole * 10 + (t[i] - '0');
	if (i == 0)
		return false;
	if (i == len && len > 11) {
		*ret_ms = len > 14 ? whole / 1000 : whole;
		return true;
	}
	if (i < len && t[i++] != '.')
		return false;
	for (; i < len; i++, scale /= 10) {
		if (!isdigit((unsigned char)t[i]))
			return false;
		fraction += (t[i] - '0') * scale;
	}
	if (whole > CLOCK_REAL_MAX / CLOCK_SECOND)
		return false;
	*ret_ms = whole * CLOCK_SECOND + fraction;
	return true;
}

static bool read_pattern(const char *t, size_t len, const char *pattern,
			 int64_t *ret_ms)
{
	char text[TEXT_MAX + 1];
	struct tm tm = {0};
	const char *end;
	long offset;

	if (len > TEXT_MAX)
		return false;
	memcpy(text, t, len);
	text[len] = '\0';
	tm.tm_mday = 1;
	end = strptime(text, pattern, &tm);
	if (!end || *end)
		return false;
	offset = tm.tm_gmtoff; /* timegm sets it to 0 */
	*ret_ms = ((int64_t)timegm(&tm) - offset) * CLOCK_SECOND;
	return true;
}

int access_time_read(const char *text, size_t len, const char *pattern,
		     int64_t *ret_ms, struct error *err)
{
	const char *whole = text;
	size_t whole_len = len;
	int64_t ms = 0;
	bool ok;

	if (len > 2 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	}
	if (pattern)
		ok = read_pattern(text, len, pattern, &ms);
	else
		ok = read_clf(text, len, &ms) || read_iso(text, len, &ms) ||
		     read_number(text, len, &ms);
	if (!ok || ms <= 0 || ms > CLOCK_REAL_MAX)
		return refuse(whole, whole_len, err);
	*ret_ms = ms;
	return 0;
}
