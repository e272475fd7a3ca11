#include "collector/tools/access_log/access_time.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "common/clock.h"

/* A time as written: the local time, and its offset from UTC. */
struct wall {
	struct tm tm;
	int ms;
	bool zoned;
	int offset; /* seconds east of UTC, if zoned */
};

/* The rest of the text. */
struct rest {
	const char *at;
	size_t len;
};

static int refuse_time(const char *text, size_t len, struct error *err)
{
	return error_set(err, ERROR_INPUT, "not a time: '%.*s'",
			 (int)(len < ACCESS_TIME_MAX ? len : ACCESS_TIME_MAX),
			 text);
}

/* Reads exactly `n` digits; returns -1 if they are not digits. */
static int read_exact_digits(const char *at, size_t n)
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

static void skip_characters(struct rest *r, size_t n)
{
	r->at += n;
	r->len -= n;
}

/* Reads digits after a point or a comma, of which ms are kept. */
static bool read_fraction(struct rest *r, int *ret_ms)
{
	int scale = 100;
	size_t n = 1;

	if (!r->len || (*r->at != '.' && *r->at != ','))
		return true;
	for (; n < r->len && isdigit((unsigned char)r->at[n]); n++, scale /= 10)
		*ret_ms += (r->at[n] - '0') * scale;
	skip_characters(r, n);
	return n > 1;
}

/* Reads "10:05:03", with an optional fraction. */
static bool read_clock(struct rest *r, struct wall *w)
{
	if (r->len < 8 || r->at[2] != ':' || r->at[5] != ':')
		return false;
	w->tm.tm_hour = read_exact_digits(r->at, 2);
	w->tm.tm_min = read_exact_digits(r->at + 3, 2);
	w->tm.tm_sec = read_exact_digits(r->at + 6, 2);
	if (w->tm.tm_hour < 0 || w->tm.tm_hour > 23 || w->tm.tm_min < 0 ||
	    w->tm.tm_min > 59 || w->tm.tm_sec < 0 || w->tm.tm_sec > 60)
		return false;
	skip_characters(r, 8);
	return read_fraction(r, &w->ms);
}

static bool is_utc(const struct rest *r)
{
	static const char *const names[] = {"Z", "UTC", "GMT", NULL};

	for (size_t i = 0; names[i]; i++)
		if (r->len == strlen(names[i]) &&
		    !strncasecmp(r->at, names[i], r->len))
			return true;
	return false;
}

/* Reads "+0530", "+05:30", "+05", or a name of UTC, to the end; empty: no
 * zone. */
static bool read_zone(struct rest *r, struct wall *w)
{
	int hours, minutes = 0;
	size_t n;

	if (!r->len)
		return true;
	if (*r->at == ' ')
		skip_characters(r, 1);
	w->zoned = true;
	if (is_utc(r))
		return true;
	if (r->len < 3 || (*r->at != '+' && *r->at != '-'))
		return false;
	hours = read_exact_digits(r->at + 1, 2);
	n = r->len > 3 && r->at[3] == ':' ? 4 : 3;
	if (r->len == n + 2)
		minutes = read_exact_digits(r->at + n, 2);
	else if (r->len != 3)
		return false;
	w->offset = (*r->at == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
	return hours >= 0 && hours <= 23 && minutes >= 0 && minutes <= 59;
}

static int64_t to_ms(const struct wall *w, bool local)
{
	struct tm tm = w->tm;
	time_t at;

	tm.tm_isdst = -1;
	at = local && !w->zoned ? mktime(&tm) : timegm(&tm);
	return ((int64_t)at - w->offset) * CLOCK_SECOND + w->ms;
}

static bool is_day(const struct tm *tm)
{
	static const int days[] = {31, 29, 31, 30, 31, 30,
				   31, 31, 30, 31, 30, 31};
	int year = tm->tm_year + 1900;
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	if (year < 1970 || tm->tm_mon < 0 || tm->tm_mon > 11)
		return false;
	return tm->tm_mday >= 1 && tm->tm_mday <= days[tm->tm_mon] &&
	       (leap || tm->tm_mon != 1 || tm->tm_mday != 29);
}

/* Reads "17/May/2015:10:05:03 +0000". */
static bool read_clf(const char *t, size_t len, struct wall *w)
{
	struct rest r = {t, len};

	if (len < 20 || t[2] != '/' || t[6] != '/' || t[11] != ':')
		return false;
	w->tm.tm_mday = read_exact_digits(t, 2);
	w->tm.tm_mon = month_of(t + 3);
	w->tm.tm_year = read_exact_digits(t + 7, 4) - 1900;
	skip_characters(&r, 12);
	return is_day(&w->tm) && read_clock(&r, w) && read_zone(&r, w);
}

/* Reads "2015-05-17T10:05:03+00:00" and similar forms. */
static bool read_iso(const char *t, size_t len, struct wall *w)
{
	struct rest r = {t, len};

	if (len < 19 || (t[4] != '-' && t[4] != '/') || t[7] != t[4] ||
	    (t[10] != ' ' && t[10] != 'T' && t[10] != 't'))
		return false;
	w->tm.tm_year = read_exact_digits(t, 4) - 1900;
	w->tm.tm_mon = read_exact_digits(t + 5, 2) - 1;
	w->tm.tm_mday = read_exact_digits(t + 8, 2);
	skip_characters(&r, 11);
	return is_day(&w->tm) && read_clock(&r, w) && read_zone(&r, w);
}

static bool read_pattern(const char *t, size_t len, const char *pattern,
			 struct wall *w)
{
	char text[ACCESS_TIME_MAX + 1];
	const char *end;

	if (len > ACCESS_TIME_MAX)
		return false;
	memcpy(text, t, len);
	text[len] = '\0';
	w->tm.tm_mday = 1;
	end = strptime(text, pattern, &w->tm);
	w->offset = (int)w->tm.tm_gmtoff;
	w->zoned = strstr(pattern, "%z") || strstr(pattern, "%s");
	return end && !*end;
}

/* Reads the formats of HTTP headers and of ctime(3). */
static bool read_words(const char *t, size_t len, struct wall *w)
{
	struct wall other = *w;

	if (!len || !isalpha((unsigned char)*t))
		return false;
	if (read_pattern(t, len, "%a, %d %b %Y %H:%M:%S GMT", w)) {
		w->zoned = true;
		return true;
	}
	*w = other;
	return read_pattern(t, len, "%a %b %d %H:%M:%S %Y", w);
}

/* Reads a number; its digits before the point show its unit. */
static bool read_number(const char *t, size_t len, int64_t *ret_ms)
{
	uint64_t whole = 0, fraction = 0, scale = 100;
	size_t digits = 0, i;

	for (; digits < len && isdigit((unsigned char)t[digits]); digits++) {
		if (digits == 19)
			return false;
		whole = whole * 10 + (uint64_t)(t[digits] - '0');
	}
	if (!digits || (digits < len && t[digits] != '.') ||
	    (digits + 1 == len))
		return false;
	for (i = digits + 1; i < len; i++, scale /= 10) {
		if (!isdigit((unsigned char)t[i]))
			return false;
		fraction += (uint64_t)(t[i] - '0') * scale;
	}
	if (digits >= 18)
		whole /= 1000000;
	else if (digits >= 15)
		whole /= 1000;
	else if (digits < 12)
		whole = whole * CLOCK_SECOND + fraction;
	*ret_ms = (int64_t)whole;
	return whole <= INT64_MAX;
}

static bool read_any(const char *t, size_t len, bool local, int64_t *ret_ms)
{
	static bool (*const readers[])(const char *, size_t, struct wall *) = {
		read_clf, read_iso, read_words};

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		struct wall w = {0};

		if (readers[i](t, len, &w)) {
			*ret_ms = to_ms(&w, local);
			return true;
		}
	}
	return read_number(t, len, ret_ms);
}

int access_time_read(const char *text, size_t len, const char *pattern,
		     bool local, int64_t *ret_ms, struct error *err)
{
	const char *whole = text;
	size_t whole_len = len;
	struct wall w = {0};
	int64_t ms = 0;
	bool ok;

	if (len > 2 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	}
	if (pattern) {
		ok = read_pattern(text, len, pattern, &w);
		ms = ok ? to_ms(&w, local) : 0;
	} else {
		ok = read_any(text, len, local, &ms);
	}
	if (!ok || ms <= 0 || ms > CLOCK_REAL_MAX)
		return refuse_time(whole, whole_len, err);
	*ret_ms = ms;
	return 0;
}
