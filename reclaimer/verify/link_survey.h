/* link_survey.h - `verify --deep`: every link against its block's marker. */
#ifndef RECLAIMER_VERIFY_LINK_SURVEY_H
#define RECLAIMER_VERIFY_LINK_SURVEY_H

#include "common/error.h"
#include "reclaimer/verify/survey.h"

/* Adds a finding for each link in trouble.  *ret_links: how many there are.
 * s->pause is called with keys rather than blocks, s->rate is of keys. */
int link_survey(struct survey *s, uint64_t *ret_links, struct error *err);

#endif
