/*
 * field_mistakes.h - collects the mistakes in the fields of a body, so that one
 * answer names all of them: a person corrects a form once.
 *
 * Zeroed, it has none.
 */
#ifndef COMMON_FIELD_MISTAKES_H
#define COMMON_FIELD_MISTAKES_H

#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"

/* Further ones are left out: a body may have a thousand unknown names. */
#define FIELD_MISTAKES_MAX 20

struct field_mistakes {
	size_t count; /* those that are kept */
	struct error first;
	struct buf texts; /* of each, field and detail, each with its NUL */
};

/* `field` is a name of the body; its text is copied, up to 64 bytes. */
void field_mistakes_add(struct field_mistakes *m, const char *field,
			const struct error *err);

/* Returns 0 without mistakes, otherwise -1 and the first. */
int field_mistakes_result(const struct field_mistakes *m, struct error *err);

/*
 * Writes the members "field" and "errors" of a problem, each after a comma, for
 * as long as `out`, which is empty, stays as it is.  `within` is put before the
 * name of each field: "patch." or "".  Without mistakes, or memory, there are
 * none: "".
 */
const char *field_mistakes_format(const struct field_mistakes *m,
				  const char *within, struct buf *out);

void field_mistakes_release(struct field_mistakes *m);

#endif
