#include "common/yaml_load.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TAG_DIRECTIVES_MAX 16

/* Counts of the first pass so far. */
struct yaml_counts {
	size_t depth, nodes, anchors, documents;
	size_t anchors_max;
};

static int refuse_at(const yaml_mark_t *mark, const char *what,
		     struct yaml_place *ret_place, struct error *err)
{
	*ret_place = (struct yaml_place){mark->line + 1, mark->column + 1};
	return error_set(err, ERROR_INPUT, "%s", what);
}

static int parser_failed(const yaml_parser_t *parser,
			 struct yaml_place *ret_place, struct error *err)
{
	/* An error of the byte reader has an offset, and no mark. */
	const yaml_mark_t *mark = parser->error == YAML_READER_ERROR
					  ? &parser->mark
					  : &parser->problem_mark;

	if (parser->error == YAML_MEMORY_ERROR)
		return error_set_nomem(err);
	*ret_place = (struct yaml_place){mark->line + 1, mark->column + 1};
	return error_set(err, ERROR_INPUT, "%s%s%s",
			 parser->context ? parser->context : "",
			 parser->context ? ": " : "",
			 parser->problem ? parser->problem : "not valid YAML");
}

static const char *anchor_of(const yaml_event_t *event)
{
	const yaml_char_t *anchor = NULL;

	if (event->type == YAML_ALIAS_EVENT)
		anchor = event->data.alias.anchor;
	else if (event->type == YAML_SCALAR_EVENT)
		anchor = event->data.scalar.anchor;
	else if (event->type == YAML_SEQUENCE_START_EVENT)
		anchor = event->data.sequence_start.anchor;
	else if (event->type == YAML_MAPPING_START_EVENT)
		anchor = event->data.mapping_start.anchor;
	return (const char *)anchor;
}

static bool is_start(const yaml_event_t *event)
{
	return event->type == YAML_SEQUENCE_START_EVENT ||
	       event->type == YAML_MAPPING_START_EVENT;
}

static bool is_end(const yaml_event_t *event)
{
	return event->type == YAML_SEQUENCE_END_EVENT ||
	       event->type == YAML_MAPPING_END_EVENT;
}

static bool is_node(const yaml_event_t *event)
{
	return is_start(event) || event->type == YAML_SCALAR_EVENT ||
	       event->type == YAML_ALIAS_EVENT;
}

/* Returns what exceeds a limit, or NULL. */
static const char *count_event(struct yaml_counts *c, const yaml_event_t *event)
{
	if (is_start(event) && ++c->depth > YAML_DEPTH_MAX)
		return "more than 64 lists and mappings within each other";
	if (is_end(event))
		c->depth--;
	if (is_node(event) && ++c->nodes > YAML_NODES_MAX)
		return "more than 2000000 values";
	if (anchor_of(event) && ++c->anchors > c->anchors_max)
		return c->anchors_max ? "too many anchors and aliases"
				      : "anchors and aliases are not taken";
	return is_node(event) && c->documents > 1 ? "a second document" : NULL;
}

static int check_event(struct yaml_counts *c, const yaml_event_t *event,
		       struct yaml_place *ret_place, struct error *err)
{
	const char *wrong;

	if (event->type == YAML_DOCUMENT_START_EVENT)
		c->documents++;
	wrong = count_event(c, event);
	return wrong ? refuse_at(&event->start_mark, wrong, ret_place, err) : 0;
}

static int check_events(yaml_parser_t *parser, size_t anchors_max,
			struct yaml_place *ret_place, struct error *err)
{
	struct yaml_counts counts = {.anchors_max = anchors_max};
	yaml_event_t event;
	bool ended = false;
	int status = 0;

	while (status == 0 && !ended) {
		if (!yaml_parser_parse(parser, &event))
			return parser_failed(parser, ret_place, err);
		ended = event.type == YAML_STREAM_END_EVENT;
		status = check_event(&counts, &event, ret_place, err);
		yaml_event_delete(&event);
	}
	return status;
}

/* libyaml compares each directive with all before it, and has read them all
 * before the first event. */
static int check_directives(const char *text, size_t len,
			    struct yaml_place *ret_place, struct error *err)
{
	static const char tag[] = "%TAG";
	const char *end = text + len, *line = text;
	size_t number = 0, count = 0;

	while (line && line < end) {
		number++;
		if ((size_t)(end - line) >= sizeof(tag) - 1 &&
		    !memcmp(line, tag, sizeof(tag) - 1) &&
		    ++count > TAG_DIRECTIVES_MAX) {
			*ret_place = (struct yaml_place){number, 1};
			return error_set(err, ERROR_INPUT,
					 "too many %%TAG directives");
		}
		line = memchr(line, '\n', (size_t)(end - line));
		line = line ? line + 1 : NULL;
	}
	return 0;
}

static int parser_open(yaml_parser_t *parser, const char *text, size_t len,
		       struct error *err)
{
	if (!yaml_parser_initialize(parser))
		return error_set_nomem(err);
	yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(parser, (const unsigned char *)text, len);
	return 0;
}

int yaml_load(const char *text, size_t len, size_t anchors,
	      yaml_document_t *ret_document, struct yaml_place *ret_place,
	      struct error *err)
{
	yaml_parser_t parser;
	int status;

	*ret_place = (struct yaml_place){1, 1};
	if (!text)
		text = "";
	if (check_directives(text, len, ret_place, err) < 0 ||
	    parser_open(&parser, text, len, err) < 0)
		return -1;
	status = check_events(&parser, anchors, ret_place, err);
	yaml_parser_delete(&parser);
	if (status < 0 || parser_open(&parser, text, len, err) < 0)
		return -1;
	if (!yaml_parser_load(&parser, ret_document))
		status = parser_failed(&parser, ret_place, err);
	yaml_parser_delete(&parser);
	return status;
}
