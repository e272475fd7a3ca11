/*
 * secret.h - secrets are read from where a setting says that they are, so that
 * none sits in a file that is copied around; and what is shown of settings that
 * may have one within them.
 */
#ifndef COMMON_CONFIG_SECRET_H
#define COMMON_CONFIG_SECRET_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/error.h"

#define SECRET_FORMS "file:/path, credential:NAME or env:NAME"

/* Does the text begin as a reference does? */
bool secret_is_reference(const char *text);

/*
 * Reads what "file:/path" (without the ends of lines behind it),
 * "credential:NAME" (of systemd's LoadCredential=) or "env:NAME" refers to.
 * *ret_secret is the caller's, to end with secret_free.  Anything else is
 * ERROR_CONFIG, and so is an empty file; the text is not shown.
 */
int secret_read(const char *reference, char **ret_secret, struct error *err);

/* Overwrites it first.  NULL accepted. */
void secret_free(char *secret);

/* How much of a text that should have been a name may be shown: up to what no
 * name has, since a secret may follow it. */
int secret_name_length(const char *text);

/* Appends the text with "***" in place of what stands between "://" and "@" in
 * the URLs in it. */
void secret_mask_urls(const char *text, struct buf *out);

#endif
