/* audit_world.h - an audit that is written to a file, and one link for its
 * entries. */
#ifndef TESTS_UNIT_ALLOCATOR_AUDIT_WORLD_H
#define TESTS_UNIT_ALLOCATOR_AUDIT_WORLD_H

#include <arpa/inet.h>
#include <jansson.h>
#include <string.h>

#include "allocator/audit/audit.h"
#include "common/clock.h"
#include "common/drop_const.h"
#include "tests/unit/unit.h"

struct world {
	char path[64], moved[80];
	struct health *health;
	struct metrics *metrics;
	struct audit *audit;
	struct sockaddr_storage peer;
	struct audit_source source;
	Shortloop__Link link;
};

static inline int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct sockaddr_in *in = (struct sockaddr_in *)&w->peer;

	unit_write_file("", w->path);
	snprintf(w->moved, sizeof(w->moved), "%s.1", w->path);
	w->health = health_new();
	w->metrics = metrics_new();
	in->sin_family = AF_INET;
	inet_pton(AF_INET, "10.0.0.7", &in->sin_addr);
	w->source = (struct audit_source){.key = "crm", .peer = &w->peer};
	shortloop__link__init(&w->link);
	w->link.link_id = 7;
	w->link.url = drop_const("https://example.org/");
	w->link.owner = drop_const("ann");
	*state = w;
	return 0;
}

static inline int tear_down(void **state)
{
	struct world *w = *state;

	audit_free(w->audit, 1000);
	health_free(w->health);
	metrics_free(w->metrics);
	unlink(w->path);
	unlink(w->moved);
	free(w);
	return 0;
}

static inline struct audit *audit_to(struct world *w, const char *path,
				     int64_t queue)
{
	const struct audit_options options = {
		.path = path,
		.queue_bytes = queue,
		.health = w->health,
		.metrics = w->metrics,
	};
	struct error err = {0};

	w->audit = audit_new(&options, &err);
	if (!w->audit)
		fail_msg("%s", err.text);
	return w->audit;
}

static inline void add_audit_entry(struct world *w, enum audit_action action,
				   const Shortloop__Link *before,
				   const Shortloop__Link *after)
{
	const struct audit_entry entry = {&w->source, "s7", "kYq3ZtB", before,
					  after};

	audit_link(w->audit, action, &entry);
}

static inline void close_audit(struct world *w)
{
	audit_free(w->audit, 5000);
	w->audit = NULL;
}

/* Returns line `n` of the file, from 0, or NULL. */
static inline json_t *line_of(const char *path, int n)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;
	json_t *line = NULL;

	assert_non_null(file);
	while (n-- >= 0) {
		if (getline(&text, &size, file) < 0)
			goto out;
	}
	line = json_loads(text, 0, NULL);
	assert_non_null(line);
out:
	free(text);
	fclose(file);
	return line;
}

static inline size_t lines_of(const char *path)
{
	json_t *line;
	size_t n = 0;

	while ((line = line_of(path, (int)n))) {
		json_decref(line);
		n++;
	}
	return n;
}

/* Returns the only line that one change writes. */
static inline json_t *line_after(struct world *w, enum audit_action action,
				 const Shortloop__Link *before,
				 const Shortloop__Link *after)
{
	audit_to(w, w->path, 1 << 20);
	add_audit_entry(w, action, before, after);
	close_audit(w);
	return line_of(w->path, 0);
}

static inline const char *text_at(json_t *line, const char *field)
{
	return json_string_value(json_object_get(line, field));
}

static inline json_t *change_at(json_t *line, const char *field,
				const char *which)
{
	json_t *changes = json_object_get(line, "changes");

	return json_object_get(json_object_get(changes, field), which);
}

#define WITH_WORLD(test)                                                       \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
