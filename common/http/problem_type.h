/*
 * problem_type.h - the types of problems (RFC 9457): URI references that
 * programs can compare, while titles and details are for people.
 *
 * A problem has the type of its status unless the program knows better.  They
 * do not change; docs/problems.md lists them.
 */
#ifndef COMMON_HTTP_PROBLEM_TYPE_H
#define COMMON_HTTP_PROBLEM_TYPE_H

/* Types that share their status with another: 429, ... */
#define PROBLEM_RATE  "/problems/rate"
#define PROBLEM_QUOTA "/problems/quota"

/* ... and 401. */
#define PROBLEM_SHARE_PASSWORD "/problems/share-password"

/* Returns the type of a status, such as "/problems/not-found"; "about:blank"
 * for a status without one. */
const char *problem_type_of(int status);

#endif
