#include "aggregator/zone/civil.h"

#include <inttypes.h>
#include <stdio.h>

int64_t floor_div(int64_t n, int64_t d)
{
	return n / d - (n % d < 0);
}

int64_t civil_to_days(int64_t year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = floor_div(y, 400);
	int64_t year_of_era = y - era * 400;
	int64_t day_of_year =
		(153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	int64_t day_of_era = year_of_era * 365 + year_of_era / 4 -
			     year_of_era / 100 + day_of_year;

	return era * 146097 + day_of_era - 719468;
}

struct civil civil_from_days(int64_t days)
{
	int64_t z = days + 719468;
	int64_t era = floor_div(z, 146097);
	int64_t doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int mp = (int)((5 * doy + 2) / 153);
	int month = mp < 10 ? mp + 3 : mp - 9;

	return (struct civil){
		.year = yoe + era * 400 + (month <= 2),
		.month = month,
		.day = (int)(doy - (153 * mp + 2) / 5 + 1),
	};
}

int civil_weekday(int64_t days)
{
	int64_t w = (days + 4) % 7;

	return (int)(w < 0 ? w + 7 : w);
}

const char *civil_day_name(int64_t start, char text[CIVIL_NAME_MAX])
{
	struct civil c = civil_from_days(floor_div(start, CIVIL_DAY));

	snprintf(text, CIVIL_NAME_MAX, "%04" PRId64 "-%02d-%02d", c.year,
		 c.month, c.day);
	return text;
}

const char *civil_hour_name(int64_t start, char text[CIVIL_NAME_MAX])
{
	int64_t day = floor_div(start, CIVIL_DAY);
	struct civil c = civil_from_days(day);

	snprintf(text, CIVIL_NAME_MAX, "%04" PRId64 "-%02d-%02dT%02dZ", c.year,
		 c.month, c.day, (int)((start - day * CIVIL_DAY) / 3600));
	return text;
}
