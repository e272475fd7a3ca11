#include "common/config/config_print.h"

#include <string.h>

#include "common/buf.h"
#include "common/config/value.h"

#define TEXT_WIDTH 78

static void put_indent(struct buf *out, unsigned depth)
{
	for (unsigned i = 0; i < depth; i++)
		buf_puts(out, "  ");
}

/* Writes a paragraph as comment lines. */
static void put_comment(struct buf *out, unsigned depth, const char *text)
{
	size_t width = TEXT_WIDTH - 2 * (size_t)depth - 2;

	while (*text) {
		size_t len = strlen(text), cut;

		if (len > width) {
			for (cut = width; cut > 0 && text[cut] != ' '; cut--)
				;
			len = cut ? cut : width;
		}
		put_indent(out, depth);
		buf_printf(out, "# %.*s\n", (int)len, text);
		text += len;
		text += strspn(text, " ");
	}
}

/* Returns NULL if SIGHUP does nothing. */
static const char *reload_sentence(const struct setting *s)
{
	switch (s->reload) {
	case RELOADS:
		return s->type == SETTING_TYPE_STRINGS
			       ? "The files are read again on SIGHUP."
			       : "The file is read again on SIGHUP.";
	case REOPENS:
		return "The file is opened again on SIGHUP.";
	case AT_START:
		break;
	}
	return NULL;
}

/* Writes the help, followed by the effect of SIGHUP. */
static void put_help(const struct setting *s, struct buf *out)
{
	const char *sentence = reload_sentence(s);
	size_t len = strlen(s->help);

	buf_puts(out, s->help);
	if (sentence)
		buf_printf(out, "%s  %s",
			   len && s->help[len - 1] == '.' ? "" : ".", sentence);
}

static void print_table(const struct setting *table, const void *base,
			unsigned depth, struct buf *out);

static void print_list(const struct setting *s, const void *base,
		       unsigned depth, struct buf *out)
{
	const void *at = (const char *)base + s->offset;
	const struct setting_list *list = at;
	size_t dash;

	if (list->count == 0)
		buf_puts(out, " []");
	buf_putc(out, '\n');
	for (size_t i = 0; i < list->count; i++) {
		dash = out->len + 2 * (size_t)depth;
		print_table(s->sub, (char *)list->items + i * s->sub_size,
			    depth + 1, out);
		if (!out->failed && dash < out->len)
			out->data[dash] = '-';
	}
}

static void print_table(const struct setting *table, const void *base,
			unsigned depth, struct buf *out)
{
	for (const struct setting *s = table; s->key; s++) {
		put_indent(out, depth);
		buf_printf(out, "%s:", s->key);
		if (s->type == SETTING_TYPE_LIST) {
			print_list(s, base, depth + 1, out);
			continue;
		}
		buf_putc(out, ' ');
		value_print(s, base, out);
		buf_putc(out, '\n');
	}
}

static void write_out(struct buf *b, FILE *out)
{
	if (b->len)
		fwrite(b->data, 1, b->len, out);
	buf_free(b);
}

void config_print(const struct config_spec *spec, const void *config, FILE *out)
{
	struct buf text = {0};

	for (size_t i = 0; i < spec->group_count; i++) {
		const struct setting_group *g = &spec->groups[i];

		buf_printf(&text, "%s:\n", g->section->name);
		print_table(g->section->settings,
			    (const char *)config + g->offset, 1, &text);
	}
	write_out(&text, out);
}

static void sample_strings(const struct setting *s, struct buf *out)
{
	const char *from = s->fallback ? s->fallback : "";
	struct buf item = {0};
	const char *gap = "";

	buf_puts(out, " [");
	while (*from) {
		size_t len = strcspn(from, ",");

		buf_reset(&item);
		buf_append(&item, from, len);
		buf_puts(out, gap);
		if (buf_cstr(&item))
			value_print_text(item.data, out);
		gap = ", ";
		from += len;
		from += strspn(from, ", ");
	}
	buf_puts(out, "]\n");
	buf_free(&item);
}

static void sample_value(const struct setting *s, struct buf *out)
{
	const char *text = s->fallback ? s->fallback : s->example;

	if (!s->fallback && s->example && s->type != SETTING_TYPE_LIST)
		buf_printf(out, " %s\n", s->example);
	else if (s->type == SETTING_TYPE_STRINGS ||
		 s->type == SETTING_TYPE_OPTIONS)
		sample_strings(s, out);
	else if (s->type == SETTING_TYPE_LIST && s->example)
		buf_printf(out, "\n%s\n", s->example);
	else if (s->type == SETTING_TYPE_LIST)
		buf_puts(out, " []\n");
	else if (text) {
		buf_putc(out, ' ');
		value_print_text(text, out);
		buf_putc(out, '\n');
	} else
		buf_puts(out, "\n");
}

/* Describes the settings of a list's item, below the list's own help. */
static void sample_items(const struct setting *table, unsigned depth,
			 struct buf *out)
{
	struct buf line = {0};

	for (const struct setting *s = table; s->key; s++) {
		for (unsigned i = 0; i < depth; i++)
			buf_puts(&line, "- ");
		buf_printf(&line, "%s: ", s->key);
		put_help(s, &line);
		buf_puts(&line, " (");
		value_describe(s, &line);
		buf_putc(&line, ')');
		if (buf_cstr(&line))
			put_comment(out, 1, line.data);
		buf_reset(&line);
		if (s->sub)
			sample_items(s->sub, depth + 1, out);
	}
	buf_free(&line);
}

/* Writes the example of a missing list as comments that are valid once the
 * comment marks are removed.  Its lines are indented by at least two. */
static void sample_absent_list(const struct setting *s, struct buf *out)
{
	const char *line = s->example ? s->example : "";
	size_t len;

	buf_printf(out, "  # %s:%s\n", s->key, *line ? "" : " []");
	while (*line) {
		line += strspn(line, " ") < 2 ? 0 : 2;
		len = strcspn(line, "\n");
		buf_printf(out, "  # %.*s\n", (int)len, line);
		line += len + (line[len] == '\n');
	}
}

static void sample_setting(const struct setting *s, struct buf *out)
{
	struct buf text = {0};
	bool off = s->optional && !s->fallback;

	put_help(s, &text);
	if (buf_cstr(&text))
		put_comment(out, 1, text.data);
	buf_reset(&text);
	value_describe(s, &text);
	if (buf_cstr(&text))
		put_comment(out, 1, text.data);
	buf_free(&text);
	if (s->sub)
		sample_items(s->sub, 1, out);
	if (off && s->type == SETTING_TYPE_LIST) {
		sample_absent_list(s, out);
	} else {
		buf_printf(out, "  %s%s:", off ? "# " : "", s->key);
		sample_value(s, out);
	}
	buf_putc(out, '\n');
}

void config_print_sample(const struct config_spec *spec, FILE *out)
{
	struct buf text = {0};

	for (size_t i = 0; i < spec->group_count; i++) {
		const struct setting_section *section = spec->groups[i].section;

		if (spec->groups[i].borrowed)
			continue;
		put_comment(&text, 0, section->help);
		buf_printf(&text, "%s:\n", section->name);
		for (const struct setting *s = section->settings; s->key; s++)
			sample_setting(s, &text);
	}
	write_out(&text, out);
}

static void man_setting(const struct setting *s, struct buf *out)
{
	buf_printf(out, ".It Ic %s\n", s->key);
	put_help(s, out);
	buf_puts(out, "\n.Pq ");
	value_describe(s, out);
	buf_putc(out, '\n');
	if (!s->sub)
		return;
	buf_puts(out, "Each item:\n.Bl -tag -width Ds\n");
	for (const struct setting *sub = s->sub; sub->key; sub++)
		man_setting(sub, out);
	buf_puts(out, ".El\n");
}

/* Appends the keys, each followed by `behind`.  Only keys of sections: SIGHUP
 * does not affect the items of a list. */
static void put_keys(const struct config_spec *spec, enum setting_reload reload,
		     const char *between, const char *behind, struct buf *out)
{
	const struct setting *s;
	const char *gap = "";

	for (size_t i = 0; i < spec->group_count; i++) {
		if (spec->groups[i].borrowed)
			continue;
		for (s = spec->groups[i].section->settings; s->key; s++) {
			if (s->reload != reload)
				continue;
			buf_printf(out, "%s%s.%s%s", gap,
				   spec->groups[i].section->name, s->key,
				   behind);
			gap = between;
		}
	}
}

static void put_reloads(const struct config_spec *spec, struct buf *out)
{
	struct buf read = {0}, opened = {0};

	put_keys(spec, RELOADS, ", ", "", &read);
	put_keys(spec, REOPENS, "; ", " is opened anew", &opened);
	if (read.len)
		buf_printf(out, "reads again: %s", buf_cstr(&read));
	else
		buf_puts(out,
			 opened.len ? "reads nothing again" : "is ignored");
	if (opened.len)
		buf_printf(out, "; %s", buf_cstr(&opened));
	buf_free(&read);
	buf_free(&opened);
}

void config_print_reloads(const struct config_spec *spec, FILE *out)
{
	struct buf text = {0};

	put_reloads(spec, &text);
	write_out(&text, out);
}

void config_print_man(const struct config_spec *spec, FILE *out)
{
	struct buf text = {0};

	buf_puts(&text, "Settings are read at start: a change takes a "
			"restart.\nSIGHUP ");
	put_reloads(spec, &text);
	buf_puts(&text, ".\n");
	for (size_t i = 0; i < spec->group_count; i++) {
		const struct setting_section *section = spec->groups[i].section;

		if (spec->groups[i].borrowed)
			continue;
		buf_printf(&text, ".Ss Section %s\n%s\n.Bl -tag -width Ds\n",
			   section->name, section->help);
		for (const struct setting *s = section->settings; s->key; s++)
			man_setting(s, &text);
		buf_puts(&text, ".El\n");
	}
	write_out(&text, out);
}
