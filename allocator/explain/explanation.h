/*
 * explanation.h - what a visitor of a code would be answered, and why.
 *
 * The rules are those of the redirector (linkstore/visit/visit_rule.h).  What
 * its own settings decide is not known here: whether an unknown code leads to a
 * fallback, who is denied, and how often one may ask.
 */
#ifndef ALLOCATOR_EXPLAIN_EXPLANATION_H
#define ALLOCATOR_EXPLAIN_EXPLANATION_H

#include "common/buf.h"
#include "common/domain_list.h"
#include "common/http/request.h"
#include "linkstore/domains.h"
#include "linkstore/link/code_facts.h"

/* The visit that is explained. */
struct explained_visit {
	const char *code;
	const char *host;	/* NULL: that of the link's short URL */
	const char *user_agent; /* NULL: none */
};

/* The rules beside those of the link itself. */
struct explanation_rules {
	const struct linkstore *store;
	const struct domains *domains;
	const struct domain_list *denied; /* hosts */
};

/*
 * Appends the explanation as a JSON object.  `facts` NULL: the text cannot be a
 * code of a link here; no server was queried.
 */
void explanation_write(struct buf *out, const struct explained_visit *visit,
		       const struct code_facts *facts,
		       const struct explanation_rules *rules);

#endif
