#include "redirector/serve.h"

#include <signal.h>
#include <unistd.h>

#include "common/app/fd_store.h"
#include "common/buf.h"
#include "common/clock.h"
#include "redirector/handover/handover.h"
#include "redirector/handover/sockets.h"
#include "redirector/redirector.h"
#include "redirector/redirector_config.h"
#include "redirector/server.h"
#include "redirector/visit/visits.h"

enum {
	LOOK_MS = 10, /* between two checks whether visits can be redirected */
	/* Other processes may have been started earlier, and get the sockets
	 * first.  The wait for this process's turn is TURN_MS, and TURNS times
	 * the time that each may take until it serves. */
	TURN_MS = 30000,
	TURNS = 4,
	/* Limits at the end of a process that the service manager restarts,
	 * while visitors wait: for connections that have sent no request, and
	 * for Kafka. */
	LAST_VISITORS_MS = 1000,
	LAST_EVENTS_MS = 3000,
};

struct serving {
	struct app *app;
	const struct redirector_config *config;
	struct inherited *inherited;
	struct predecessor *predecessor; /* NULL: none runs */
	bool takes_over;		 /* sockets with waiting clients */
	struct redirector *redirector;
	struct sockets *sockets;
	struct servers *servers;
	struct handover *handover; /* NULL: no hand-over */
	bool kept; /* the service manager keeps sockets over a restart */
};

/* --- the start ------------------------------------------------------------ */

static int inherit_sockets(struct serving *s, struct error *err)
{
	const struct redirector_settings *settings = &s->config->redirector;
	const char *path = settings->handover_socket;
	int64_t turn = TURN_MS + TURNS * settings->handover_timeout;

	s->inherited = inherited_new(err);
	if (!s->inherited || fd_store_take(s->inherited, err) < 0)
		return -1;
	if (path && predecessor_find(path, turn, s->inherited, &s->predecessor,
				     err) < 0)
		return error_wrap(err, "redirector.handover_socket");
	s->takes_over = inherited_count(s->inherited) > 0;
	if (s->predecessor)
		log_info(app_log(s->app), "taking over",
			 log_int("pid", predecessor_pid(s->predecessor)));
	return 0;
}

/* True if a former process may still have the spool: the predecessor, or one
 * that has handed over to a successor which was killed meanwhile. */
static bool may_succeed(const struct serving *s)
{
	return s->predecessor || s->config->redirector.handover_socket;
}

static int make_serving_parts(struct serving *s, struct error *err)
{
	s->redirector = redirector_new(s->app, s->config, may_succeed(s), err);
	if (!s->redirector)
		return -1;
	s->sockets = sockets_new(&s->config->redirector, s->redirector->threads,
				 s->inherited, err);
	if (!s->sockets)
		return -1;
	s->servers =
		servers_new(s->redirector, s->sockets, &visits_handler, err);
	return s->servers ? 0 : -1;
}

static int give_up(struct serving *s, struct error *err)
{
	struct buf why = {0};

	health_report(app_health(s->app), &why);
	error_set_retriable(err, ERROR_REMOTE,
			    "not taken over from process %d, which goes on: "
			    "cannot redirect within handover_timeout: %.300s",
			    (int)predecessor_pid(s->predecessor),
			    buf_cstr(&why));
	buf_free(&why);
	return -1;
}

/* Waits while another process serves, or while visitors wait at the sockets.
 * *ret_ended is true if the process was told to end meanwhile. */
static int await_redirects(struct serving *s, bool *ret_ended,
			   struct error *err)
{
	int64_t until =
		clock_monotonic_ms() + s->config->redirector.handover_timeout;

	*ret_ended = false;
	while (s->takes_over && !redirector_can_redirect(s->redirector)) {
		*ret_ended = app_should_stop(s->app, LOOK_MS);
		if (*ret_ended)
			return redirector_failure(s->redirector, err);
		if (clock_monotonic_ms() < until)
			continue;
		if (s->predecessor)
			return give_up(s, err);
		log_warn(app_log(s->app), "serving, though it cannot redirect");
		break;
	}
	if (!*ret_ended)
		*ret_ended =
			redirector_await_denied_hosts(s->redirector, s->app);
	return *ret_ended ? redirector_failure(s->redirector, err) : 0;
}

/* A successor serves; the signal ends this process: main waits for it. */
static void on_relieved(void *arg)
{
	struct serving *s = arg;

	log_info(app_log(s->app), "relieved by a successor");
	kill(getpid(), SIGTERM);
}

static int make_handover(struct serving *s, struct error *err)
{
	const int *fds;
	size_t count = sockets_all(s->sockets, &fds);
	int listening = sockets_handover(s->sockets);

	if (listening < 0)
		return 0;
	s->handover = handover_new(listening, fds, count, on_relieved, s,
				   app_log(s->app), err);
	return s->handover ? 0 : -1;
}

/* If storing them fails, a restart still works, but loses visitors that come
 * meanwhile. */
static void have_sockets_kept(struct serving *s)
{
	struct error err = {0};

	if (fd_store_is_offered()) {
		s->kept = sockets_store(s->sockets, s->predecessor != NULL,
					&err) == 0;
		if (!s->kept)
			log_warn(app_log(s->app), "sockets not stored",
				 log_err(&err));
	} else {
		s->kept = s->takes_over && !s->predecessor &&
			  sockets_are_all_inherited(s->sockets);
	}
}

/* Steps that can fail come first: the predecessor goes on until this process
 * serves for good. */
static int open_doors(struct serving *s, struct error *err)
{
	if (redirector_start_counters(s->redirector, err) < 0 ||
	    app_serve_admin_at(s->app, sockets_take_admin(s->sockets),
			       &s->config->http, err) < 0 ||
	    make_handover(s, err) < 0 || servers_open(s->servers, err) < 0)
		return -1;
	if (s->predecessor)
		predecessor_relieve(s->predecessor);
	have_sockets_kept(s);
	if (s->handover)
		handover_begin(s->handover);
	return 0;
}

static int start_serving(struct serving *s, bool *ret_ended, struct error *err)
{
	if (inherit_sockets(s, err) < 0 || make_serving_parts(s, err) < 0 ||
	    servers_start(s->servers, err) < 0 ||
	    redirector_start_hosts(s->redirector, err) < 0 ||
	    redirector_start_invalidations(s->redirector, err) < 0 ||
	    await_redirects(s, ret_ended, err) < 0)
		return -1;
	return *ret_ended ? 0 : open_doors(s, err);
}

/* --- the end -------------------------------------------------------------- */

static int64_t at_most(int64_t ms, int64_t most)
{
	return ms < most ? ms : most;
}

/* Closes the sockets that both have.  Otherwise, after a kill of the successor,
 * a process that starts would find a socket at which no process accepts. */
static void leave_sockets(struct serving *s)
{
	struct error err;

	sockets_disown(s->sockets);
	sockets_close_handover(s->sockets);
	if (servers_stop_accepting(s->servers, &err) < 0) {
		log_warn(app_log(s->app), "sockets kept until connections end",
			 log_err(&err));
		return;
	}
	sockets_free(s->sockets);
	s->sockets = NULL;
}

/* Another process serves already: no visitor waits for the end of this one. */
static int64_t end_relieved(struct serving *s)
{
	int64_t timeout = s->config->redirector.drain_timeout;

	leave_sockets(s);
	app_leave_admin(s->app, timeout);
	servers_leave(s->servers, timeout);
	sockets_free(s->sockets);
	s->sockets = NULL;
	redirector_flush_events(s->redirector, timeout);
	return timeout;
}

/* Another process is started when this one has ended, so this one serves as
 * long as it can, and then ends quickly. */
static int64_t end_restarted(struct serving *s)
{
	int64_t timeout = s->config->redirector.drain_timeout;

	sockets_disown(s->sockets);
	servers_wind_down(s->servers, timeout);
	servers_leave(s->servers, at_most(timeout, LAST_VISITORS_MS));
	redirector_flush_events(s->redirector,
				at_most(timeout, LAST_EVENTS_MS));
	return at_most(timeout, LAST_VISITORS_MS);
}

static int64_t end_for_good(struct serving *s)
{
	int64_t timeout = s->config->redirector.drain_timeout;

	servers_drain(s->servers, timeout);
	redirector_flush_events(s->redirector, timeout);
	return timeout;
}

static void end_serving(struct serving *s)
{
	int64_t timeout;

	if (s->handover && handover_end(s->handover))
		timeout = end_relieved(s);
	else if (s->kept && app_is_restarted(s->app))
		timeout = end_restarted(s);
	else
		timeout = end_for_good(s);
	redirector_stop_invalidations(s->redirector);
	servers_free(s->servers);
	s->servers = NULL;
	redirector_end_reports(s->redirector, timeout);
}

static void release_serving(struct serving *s)
{
	handover_free(s->handover);
	if (s->redirector)
		redirector_stop_invalidations(s->redirector);
	servers_free(s->servers);
	sockets_free(s->sockets);
	redirector_free(s->redirector);
	/* Freed last: a predecessor that was not relieved goes on, with all
	 * sockets of this process. */
	predecessor_free(s->predecessor);
	inherited_free(s->inherited);
}

/* --- the command ---------------------------------------------------------- */

static void on_reload(void *arg)
{
	redirector_reload(arg);
}

int redirector_serve(struct app *app, const void *config, struct error *err)
{
	struct serving s = {.app = app, .config = config};
	bool ended = false;
	int result = start_serving(&s, &ended, err);

	if (result == 0 && !ended) {
		app_wait(app, on_reload, s.redirector);
		end_serving(&s);
		result = redirector_failure(s.redirector, err);
	}
	release_serving(&s);
	return result;
}
