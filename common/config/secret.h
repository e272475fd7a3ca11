/*
 * secret.h - reads secrets from the place that a setting refers to, so that no
 * configuration file contains one; and masks secrets within other settings when
 * they are printed.
 */
#ifndef COMMON_CONFIG_SECRET_H
#define COMMON_CONFIG_SECRET_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/error.h"

#define SECRET_FORMS "file:/path, credential:NAME or env:NAME"

/* Returns true if the text begins like a reference. */
bool secret_is_reference(const char *text);

/*
 * Reads what "file:/path" (without line ends at its end), "credential:NAME" (of
 * systemd's LoadCredential=) or "env:NAME" refers to.  The caller frees
 * *ret_secret with secret_free.  Anything else is ERROR_CONFIG, and so is an
 * empty file; the text is not shown.
 */
int secret_read(const char *reference, char **ret_secret, struct error *err);

/* Overwrites the secret before freeing it.  NULL accepted. */
void secret_free(char *secret);

/* Returns how much of a text that should have been a name may be shown: up to
 * the first character that no name has, since a secret may follow. */
int secret_name_length(const char *text);

/* Appends the text with "***" in place of what is between "://" and "@" in its
 * URLs. */
void secret_mask_urls(const char *text, struct buf *out);

#endif
