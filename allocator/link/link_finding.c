#include "allocator/link/link_finding.h"

#include "allocator/link/link_whose.h"
#include "common/keys/key_access.h"
#include "linkstore/link/edit.h"

static const struct link_refusal no_refusal = {0, NULL};
static const struct link_refusal unknown = {404,
					    "there is no link with this code"};

void link_finding_metrics_register(struct link_finding_metrics *fm,
				   struct metrics *m)
{
	static const char reads[] = "shortloop_allocator_reads_total";
	static const char help[] = "Requests to read a link";

	fm->found = metrics_counter(m, reads, "outcome=\"found\"", help);
	fm->unknown = metrics_counter(m, reads, "outcome=\"unknown\"", help);
	fm->gone = metrics_counter(m, reads, "outcome=\"gone\"", help);
	fm->failed = metrics_counter(m, reads, "outcome=\"unavailable\"", help);
}

void link_finding_count(const struct link_finding_metrics *fm, int status)
{
	if (status == 404)
		metric_add(fm->unknown, 1);
	else if (status == 410)
		metric_add(fm->gone, 1);
	else
		metric_add(fm->failed, 1);
}

struct link_refusal link_finding_unknown(void)
{
	return unknown;
}

struct link_refusal link_finding_locate(const struct linkstore *store,
					struct http_slice code,
					struct link_target *ret_target)
{
	if (linkstore_locate(store, code.data, code.len, ret_target))
		return no_refusal;
	if (linkstore_lacks_key(store, code.data, code.len))
		return (struct link_refusal){
			503, "this code is of a key version that is not "
			     "configured here"};
	return unknown;
}

/* Returns whether the caller may know what was found. */
static bool is_known_to(const struct api_key_info *caller,
			const struct link_answer *answer)
{
	struct key_link whose;

	if (answer->outcome == LINK_OUTCOME_UNKNOWN)
		return false;
	if (!answer->link)
		return key_may(caller, KEY_READS_ALL, NULL);
	whose = link_whose(answer->link);
	return key_may(caller, KEY_SEES_LINK, &whose);
}

struct link_refusal link_finding_refuse(const struct api_key_info *caller,
					const struct link_answer *answer)
{
	if (!is_known_to(caller, answer))
		return unknown;
	if (!answer->link)
		return (struct link_refusal){
			410, "the link with this code has expired"};
	if (answer->outcome == LINK_OUTCOME_GONE)
		return (struct link_refusal){
			410, link_edit_may_restore(answer->link)
				     ? "this link was deleted; a POST to "
				       ".../restore brings it back"
				     : "this link was deleted for good"};
	return no_refusal;
}
