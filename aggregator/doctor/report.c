#include "aggregator/doctor/report.h"

#include <stdarg.h>
#include <stdio.h>

void doctor_say(struct doctor *d, enum doctor_level level, const char *what,
		const char *fmt, ...)
{
	static const char *const names[] = {"ok", "behind", "WRONG"};
	va_list args;

	printf("%-7s %-15s ", names[level], what);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	if (level > d->worst)
		d->worst = level;
}

const char *doctor_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

bool doctor_is_stale(const struct doctor *d, int64_t day)
{
	for (size_t i = 0; i < d->hours.count; i++)
		if (d->hours.items[i].start >= day &&
		    d->hours.items[i].start < day + CLOCK_DAY / 1000)
			return true;
	return false;
}
