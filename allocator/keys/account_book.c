#include "allocator/keys/account_book.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r\n";

/* A line of the file: the rules of an account, or of all others ("*"). */
struct account_line {
	char name[API_KEY_NAME_MAX];
	struct account_rules rules;
};

struct kept_rules {
	char account[API_KEY_NAME_MAX];
	struct account_rules rules;
	struct kept_rules *next;
};

struct account_book {
	const struct links_config *links;
	struct metrics *metrics;
	struct account_line *lines; /* the file's last reading */
	size_t count;
	struct kept_rules *kept;
};

/* --- lines ---------------------------------------------------------------- */

static const struct account_line *line_of(const struct account_book *book,
					  const char *name)
{
	for (size_t i = 0; i < book->count; i++) {
		if (!strcmp(book->lines[i].name, name))
			return &book->lines[i];
	}
	return NULL;
}

static void clear_account_lines(void *arg)
{
	struct account_book *book = arg;

	free(book->lines);
	book->lines = NULL;
	book->count = 0;
}

static int add_account_line(void *arg, char *text, struct error *err)
{
	struct account_book *book = arg;
	char *name = text, *rest = text + strcspn(text, blanks);
	struct account_line *lines, *line;

	if (*rest)
		*rest++ = '\0';
	if (strcmp(name, "*") != 0 && !key_line_name_is_valid(name))
		return error_set(err, ERROR_INPUT,
				 "expected @* or @ and the name of an account");
	if (line_of(book, name))
		return error_set(err, ERROR_INPUT,
				 "the account '%s' has a line already", name);
	lines = reallocarray(book->lines, book->count + 1, sizeof(*lines));
	if (!lines)
		return error_set_nomem(err);
	book->lines = lines;
	line = &lines[book->count++];
	snprintf(line->name, sizeof(line->name), "%s", name);
	return account_rules_parse(rest, book->links, &line->rules, err);
}

/* --- rules ---------------------------------------------------------------- */

static const struct account_rules *
keep_account_rules(struct account_book *book, const char *account,
		   const struct account_rules *rules, struct error *err)
{
	struct kept_rules *kept;

	for (kept = book->kept; kept; kept = kept->next) {
		if (!strcmp(kept->account, account) &&
		    account_rules_equal(&kept->rules, rules))
			return &kept->rules;
	}
	kept = calloc(1, sizeof(*kept));
	if (!kept) {
		error_set_nomem(err);
		return NULL;
	}
	snprintf(kept->account, sizeof(kept->account), "%s", account);
	kept->rules = *rules;
	account_rules_register_metrics(&kept->rules, account, book->metrics);
	kept->next = book->kept;
	book->kept = kept;
	return &kept->rules;
}

static int find_account_rules(void *arg, const char *account,
			      const struct account_rules **ret,
			      struct error *err)
{
	struct account_book *book = arg;
	const struct account_line *line = line_of(book, account);

	if (!line)
		line = line_of(book, "*");
	if (!line)
		return 0;
	*ret = keep_account_rules(book, account, &line->rules, err);
	return *ret ? 0 : -1;
}

/* --- the book ------------------------------------------------------------- */

struct account_book *account_book_new(const struct links_config *links,
				      struct metrics *m, struct error *err)
{
	struct account_book *book = calloc(1, sizeof(*book));

	if (!book) {
		error_set_nomem(err);
		return NULL;
	}
	book->links = links;
	book->metrics = m;
	return book;
}

void account_book_free(struct account_book *book)
{
	struct kept_rules *next;

	if (!book)
		return;
	for (struct kept_rules *kept = book->kept; kept; kept = next) {
		next = kept->next;
		free(kept);
	}
	free(book->lines);
	free(book);
}

struct account_reader account_book_reader(struct account_book *book)
{
	return (struct account_reader){clear_account_lines, add_account_line,
				       find_account_rules, book};
}
