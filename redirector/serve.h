/* serve.h - the one command of the redirector. */
#ifndef REDIRECTOR_SERVE_H
#define REDIRECTOR_SERVE_H

#include "common/app/app.h"

/*
 * Answers visits until the process is told to end, or another redirector has
 * taken over (handover.h).  `config` is a struct redirector_config.
 */
int redirector_serve(struct app *app, const void *config, struct error *err);

#endif
