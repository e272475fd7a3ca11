/*
 * visits.h - handles requests: finds the link of the visited code, in the
 * thread's cache or in Redis, and answers.
 */
#ifndef REDIRECTOR_VISIT_VISITS_H
#define REDIRECTOR_VISIT_VISITS_H

#include "redirector/server.h"

extern const struct request_handler visits_handler;

#endif
