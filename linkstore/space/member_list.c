#include "linkstore/space/member_list.h"

#include <stdlib.h>
#include <string.h>

void member_list_free(struct member_list *list)
{
	free(list->members);
	list->members = NULL;
	list->count = list->room = 0;
}

static int grow_member_list(struct member_list *list, struct error *err)
{
	size_t room = list->room ? 2 * list->room : 64;
	struct found_member *members =
		realloc(list->members, room * sizeof(*members));

	if (!members)
		return error_set_nomem(err);
	list->members = members;
	list->room = room;
	return 0;
}

int member_list_take(void *arg, const struct set_member *member,
		     struct error *err)
{
	struct member_list *list = arg;

	if (!member->sound || member->range.last < list->first ||
	    member->range.first > list->last)
		return 0;
	if (list->count == list->room && grow_member_list(list, err) < 0)
		return -1;
	list->members[list->count++] = (struct found_member){
		member->set, member->range, member->score};
	return 0;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int in_order(const void *a, const void *b)
{
	const struct found_member *x = a, *y = b;
	int order = compare_u64(x->range.first, y->range.first);

	if (!order)
		order = compare_u64(x->range.last, y->range.last);
	if (!order)
		order = compare_u64(x->set, y->set);
	return order ? order
		     : compare_u64(x->range.generation, y->range.generation);
}

void member_list_sort(struct member_list *list)
{
	size_t kept = 0;

	if (!list->count)
		return;
	qsort(list->members, list->count, sizeof(*list->members), in_order);
	for (size_t i = 1; i < list->count; i++)
		if (in_order(&list->members[kept], &list->members[i]) != 0)
			list->members[++kept] = list->members[i];
	list->count = kept + 1;
}

uint64_t member_list_overlap(const struct member_list *list, size_t i)
{
	const struct block_range *r = &list->members[i].range;
	uint64_t first = r->first > list->first ? r->first : list->first;
	uint64_t last = r->last < list->last ? r->last : list->last;

	return last - first + 1;
}

bool member_list_gap(const struct member_list *list, int set,
		     uint64_t *ret_block)
{
	uint64_t next = list->first;

	for (size_t i = 0; i < list->count && next <= list->last; i++) {
		const struct found_member *m = &list->members[i];

		if (set >= 0 && m->set != (enum space_set)set)
			continue;
		if (m->range.first > next)
			break;
		if (m->range.last >= next)
			next = m->range.last + 1;
	}
	*ret_block = next;
	return next <= list->last;
}
