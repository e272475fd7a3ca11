#include "aggregator/api/shares/share_turn.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/api/problem.h"

struct share_turn {
	struct share_turn_uses uses;
	struct http_request *req;
	share_turn_fn *fn;
	void *arg;
	size_t number;
	struct share_entry entry;
};

static void free_turn(struct share_turn *t)
{
	share_entry_release(&t->entry);
	free(t);
}

static void admit_share(void *arg, unsigned index)
{
	struct share_turn *t = arg;

	(void)index;
	share_desk_admit(t->uses.desk, &t->entry);
}

static void finish_turn(void *arg)
{
	struct share_turn *t = arg;

	slots_give_back(t->uses.slots, SHARE_UNKNOWN);
	if (t->entry.refusal == SHARE_FAILED)
		problem_reply(t->req, t->uses.log, &t->entry.err);
	else if (share_desk_take(t->req, &t->entry))
		t->fn(t->arg, t->req, &t->entry, t->number);
	free_turn(t);
}

static void submit_turn(struct share_turn *t, struct loop *loop)
{
	const struct access unknown = {.who = {.name = SHARE_UNKNOWN}};
	enum slots_answer slot = slots_take(t->uses.slots, SHARE_UNKNOWN);
	struct error err = {0};

	if (slot != SLOTS_TAKEN) {
		metric_add(t->uses.refused, 1);
		problem_reply_full(t->req, slot, "questions");
		free_turn(t);
		return;
	}
	if (workers_submit_of(t->uses.workers, access_turn(&unknown), loop,
			      admit_share, finish_turn, t, &err) == 0)
		return;
	metric_add(t->uses.refused, 1);
	slots_give_back(t->uses.slots, SHARE_UNKNOWN);
	http_reply_problem(t->req, 503, NULL, "%s", err.text);
	free_turn(t);
}

void share_turn_begin(const struct share_turn_uses *uses, struct loop *loop,
		      struct http_request *req, share_turn_fn *fn, void *arg,
		      size_t number)
{
	struct share_turn *t = calloc(1, sizeof(*t));

	if (!t) {
		http_reply_problem(req, 503, NULL, "out of memory");
		return;
	}
	*t = (struct share_turn){.uses = *uses,
				 .req = req,
				 .fn = fn,
				 .arg = arg,
				 .number = number};
	if (share_desk_read(uses->desk, req, &t->entry))
		submit_turn(t, loop);
	else
		free_turn(t);
}
