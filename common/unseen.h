/*
 * unseen.h - finds characters that a reader of a text does not see.
 *
 * Unicode has many that draw nothing and yet change what is drawn around them:
 * "moc.elgoog" after U+202E reads as "google.com", and a soft hyphen makes two
 * names look like one.  Programs that show a text to people, or compare texts
 * that people have read, refuse them.
 *
 * The kinds are general categories and the property
 * Default_Ignorable_Code_Point of Unicode 15; the unit test compares them with
 * PCRE2's tables.
 */
#ifndef COMMON_UNSEEN_H
#define COMMON_UNSEEN_H

#include <stddef.h>
#include <stdint.h>

enum unseen {
	UNSEEN_NONE = 0,
	UNSEEN_INVALID = 1, /* bytes that are not UTF-8 */
	UNSEEN_CONTROL = 2, /* Cc, C1 included, and line ends: Zl, Zp */
	UNSEEN_BLANK = 4,   /* Zs, the space included */
	/* Characters that join letters or select their form, which some
	 * languages and emoji need: ZWNJ, ZWJ, variation selectors, tags. */
	UNSEEN_JOINER = 8,
	UNSEEN_FORMAT =
		16, /* all others that draw nothing: direction, fillers */
};

/* Kinds refused in texts for people: names, descriptions. */
#define UNSEEN_IN_TEXT (UNSEEN_INVALID | UNSEEN_CONTROL | UNSEEN_FORMAT)
/* Kinds refused where percent signs can be used instead. */
#define UNSEEN_IN_URL (UNSEEN_IN_TEXT | UNSEEN_BLANK | UNSEEN_JOINER)

enum unseen unseen_kind(uint32_t code_point);

/* Returns where the first character of one of these kinds begins, and its kind;
 * `len` if there is none, and then *ret_kind is UNSEEN_NONE. */
size_t unseen_find(const char *text, size_t len, unsigned kinds,
		   enum unseen *ret_kind);

#endif
