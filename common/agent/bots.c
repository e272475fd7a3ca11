#include "common/agent/bots.h"

#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/agent/structure.h"
#include "common/json_file.h"

/* --- our own robots ------------------------------------------------------- */

struct own_bot {
	const char *regex; /* a PCRE2 expression, case-sensitive */
	enum bot_kind kind;
};

/*
 * Robots that the list lacks, or classifies differently than counting needs;
 * they are searched before the list.  Names are those that the services
 * document or send.  Apps that carry their name in the user agent of their
 * built-in browser (Instagram, Line, Snapchat, KakaoTalk ...) are people: only
 * the fetcher's own name is here.
 */
static const struct own_bot own_bots[] = {
	/* Messengers and networks that fetch a link to show a preview.
	 * iMessage sends facebookexternalhit, Facebot and Twitterbot at once;
	 * Signal sends WhatsApp. */
	{"facebookexternalhit|Facebot", BOT_PREVIEW},
	{"WhatsApp", BOT_PREVIEW},
	{"Slackbot-LinkExpanding|Slack-ImgProxy", BOT_PREVIEW},
	{"TelegramBot", BOT_PREVIEW},
	{"Discordbot", BOT_PREVIEW},
	{"Twitterbot", BOT_PREVIEW},
	{"LinkedInBot", BOT_PREVIEW},
	{"SkypeUriPreview|skype-url-preview", BOT_PREVIEW},
	{"MicrosoftPreview|TeamsBot|Microsoft Teams Link", BOT_PREVIEW},
	{"^Viber", BOT_PREVIEW},
	{"Snap URL Preview|SnapURLPreview", BOT_PREVIEW},
	{"line-poker", BOT_PREVIEW},
	{"kakaotalk-scrap", BOT_PREVIEW},
	{"vkShare|OdklBot", BOT_PREVIEW},
	{"DingTalkBot-LinkService", BOT_PREVIEW},
	{"Chatwork LinkPreview", BOT_PREVIEW},
	{"Mattermost-Bot", BOT_PREVIEW},
	{"^Rocket\\.?Chat", BOT_PREVIEW},
	{"ZulipURLPreview", BOT_PREVIEW},
	{"Synapse \\(bot|^Synapse/", BOT_PREVIEW},
	{"GroupMeBot|KeybaseBot", BOT_PREVIEW},
	{"Bluesky Cardyb|BlueskyPreviewBot", BOT_PREVIEW},
	{"\\(Mastodon/|^Mastodon/|^Misskey/|^Pleroma|^Akkoma", BOT_PREVIEW},
	{"Discourse Forum Onebox", BOT_PREVIEW},
	{"Iframely|Embedly", BOT_PREVIEW},
	{"GoogleImageProxy|YahooMailProxy|Yahoo Link Preview", BOT_PREVIEW},
	{"TwilioProxy", BOT_PREVIEW},
	{"[Gg]oogle[Mm]essages/", BOT_PREVIEW},
	/* This one fetches a file to show it; pages that Google translates
	 * carry `via translate.google.com` and are read by people. */
	{"\\(via docs\\.google\\.com", BOT_PREVIEW},
	/* Office and Outlook fetch a clicked link before the browser does, to
	 * check whether it is a document that they open themselves. */
	{"ms-office|MSOffice \\d|Microsoft Outlook \\d", BOT_PREFETCH},
	{"^Microsoft Office|^MacOutlook/", BOT_PREFETCH},
	{"^Microsoft-WebDAV-MiniRedir/", BOT_PREFETCH},
	/* Slack's other robots fetch for apps, not for a message. */
	{"Slackbot", BOT_CRAWLER},
	{"meta-externalagent|meta-webindexer", BOT_CRAWLER},
	/* Google's robots, in the agents of whole browsers. */
	{"[Gg]oogle favicon|[Mm]ediapartners-[Gg]oogle", BOT_CRAWLER},
	{"(?:like Gecko[;,]|compatible;) Google(?:[ -]|AdS)", BOT_CRAWLER},
	{"DuplexWeb-Google|Google-SearchByImage", BOT_CRAWLER},
	{"wechatdevtools", BOT_CRAWLER},

	/* Monitors check whether a page is up, and how fast it is. */
	{"UptimeRobot", BOT_MONITOR},
	{"[Pp]ingdom", BOT_MONITOR},
	{"StatusCake", BOT_MONITOR},
	{"Better ?(Uptime|Stack)", BOT_MONITOR},
	{"Site24x7", BOT_MONITOR},
	{"Datadog ?(Synthetic|Agent)|Datadog/Synthetics", BOT_MONITOR},
	{"NewRelic(Pinger|Synthetics|bot)", BOT_MONITOR},
	{"GoogleStackdriverMonitoring|^GoogleHC/", BOT_MONITOR},
	{"Amazon-Route53-Health-Check|ELB-HealthChecker", BOT_MONITOR},
	{"Edge Health Probe|^AlwaysOn$", BOT_MONITOR},
	{"Cloudflare-(Healthchecks|Traffic-Manager)", BOT_MONITOR},
	{"^kube-probe/|^Consul Health Check", BOT_MONITOR},
	{"[Bb]lackbox[ -][Ee]xporter", BOT_MONITOR},
	{"^check_http|nagios-plugins|monitoring-plugins", BOT_MONITOR},
	{"Zabbix|^Icinga|PRTG", BOT_MONITOR},
	{"Uptime-Kuma|Gatus/", BOT_MONITOR},
	{"updown\\.io|HetrixTools|NodePing", BOT_MONITOR},
	{"Freshping|Checkly|Catchpoint|Cronitor", BOT_MONITOR},
	{"OhDear|Uptimia|ThousandEyes|Dotcom-Monitor", BOT_MONITOR},
	{"RuxitSynthetic|DynatraceSynthetic", BOT_MONITOR},
	{"GomezAgent|google_partner_monitoring", BOT_MONITOR},

	/* Scanners search for pages and weaknesses. */
	{"Nmap|masscan|^zgrab|zgrab/", BOT_SCANNER},
	{"sqlmap|[Nn]ikto|WPScan|Wfuzz", BOT_SCANNER},
	{"Nuclei|^httpx - ", BOT_SCANNER},
	{"gobuster|feroxbuster|[Dd]ir[Bb]uster|dirsearch", BOT_SCANNER},
	{"Fuzz Faster U Fool|^ffuf", BOT_SCANNER},
	{"Expanse|CensysInspect|InternetMeasurement", BOT_SCANNER},
	{"l9explore|l9scan|LeakIX", BOT_SCANNER},
	{"[Aa]cunetix|Nessus|OpenVAS|Qualys", BOT_SCANNER},
	{"w3af|Arachni|ZmEu|Jorgee|WhatWeb", BOT_SCANNER},
	/* Text that a vulnerable logger would resolve. */
	{"\\$\\{jndi:|\\$\\{\\$\\{", BOT_SCANNER},
};
static const size_t own_bot_count = sizeof(own_bots) / sizeof(own_bots[0]);

/* --- all robots ----------------------------------------------------------- */

struct known_bot {
	enum bot_kind kind;
	enum bot_origin origin;
	size_t entry;	    /* as in struct bot */
	const char *reason; /* as in struct bot */
	bool vague;
};

/* The patterns of robots, followed by the forms of browsers. */
struct bots {
	struct pattern_set *patterns;
	struct known_bot *known; /* by pattern */
	size_t count;		 /* number of robots */
};

/* A robot that makes previews and also feeds models is a crawler: it does not
 * fetch for a person who is about to look. */
static enum bot_kind kind_of_tags(const json_t *tags)
{
	enum bot_kind kind = BOT_CRAWLER;
	bool tool = false;
	size_t i;
	json_t *tag;

	json_array_foreach(tags, i, tag)
	{
		const char *text = json_string_value(tag);

		if (!text)
			continue;
		if (!strcmp(text, "ai-crawler"))
			return BOT_CRAWLER;
		if (kind != BOT_CRAWLER)
			continue;
		if (!strcmp(text, "social-preview"))
			kind = BOT_PREVIEW;
		else if (!strcmp(text, "monitoring"))
			kind = BOT_MONITOR;
		else if (!strcmp(text, "scanner"))
			kind = BOT_SCANNER;
		else if (!strcmp(text, "http-library"))
			tool = true;
	}
	return kind == BOT_CRAWLER && tool ? BOT_TOOL : kind;
}

static bool is_excepted(const struct setting_strings *except, const char *regex)
{
	for (size_t i = 0; except && i < except->count; i++)
		if (!strcmp(except->items[i], regex))
			return true;
	return false;
}

static bool is_vague(const char *regex)
{
	for (size_t i = 0; i < vague_pattern_count; i++)
		if (!strcmp(vague_patterns[i], regex))
			return true;
	return false;
}

static int add_robot_pattern(struct bots *bots, const char *regex,
			     bool caseless, struct known_bot known,
			     struct error *err)
{
	size_t index = pattern_set_count(bots->patterns);

	if (pattern_set_add(bots->patterns, regex, caseless, err) < 0)
		return -1;
	bots->known[index] = known;
	bots->count++;
	return 0;
}

static int add_own(struct bots *bots, struct error *err)
{
	for (size_t i = 0; i < own_bot_count; i++)
		if (add_robot_pattern(
			    bots, own_bots[i].regex, false,
			    (struct known_bot){.kind = own_bots[i].kind,
					       .origin = BOT_OWN},
			    err) < 0)
			return -1;
	return 0;
}

static int add_structure(struct bots *bots, struct error *err)
{
	for (size_t i = 0; i < structure_rule_count; i++)
		if (add_robot_pattern(
			    bots, structure_rules[i].regex, true,
			    (struct known_bot){
				    .kind = structure_rules[i].kind,
				    .origin = BOT_STRUCTURE,
				    .reason = structure_rules[i].reason},
			    err) < 0)
			return -1;
	return 0;
}

static int add_forms(struct bots *bots, struct error *err)
{
	for (size_t i = 0; i < browser_form_count; i++)
		if (pattern_set_add(bots->patterns, browser_forms[i], true,
				    err) < 0)
			return -1;
	return 0;
}

/* Adds an entry of the list, or of the patterns, which are only texts. */
static int add_entry(struct bots *bots, const json_t *entry,
		     struct known_bot known,
		     const struct setting_strings *except, struct error *err)
{
	bool listed = known.origin == BOT_LIST;
	const char *regex = json_string_value(
		listed ? json_object_get(entry, "pattern") : entry);

	if (!regex)
		return error_set(err, ERROR_CONFIG, "entry %zu: expected %s",
				 known.entry - 1,
				 listed ? "an object with a pattern"
					: "a pattern");
	if (is_excepted(except, regex))
		return 0;
	if (listed)
		known.kind = kind_of_tags(json_object_get(entry, "tags"));
	known.vague = is_vague(regex);
	if (add_robot_pattern(bots, regex, !listed, known, err) < 0)
		return error_wrap(err, "entry %zu", known.entry - 1);
	return 0;
}

/* `path` is for errors. */
static int add_file(struct bots *bots, const json_t *file,
		    enum bot_origin origin, const char *path,
		    const struct setting_strings *except, struct error *err)
{
	size_t i;
	json_t *entry;

	json_array_foreach(file, i, entry)
	{
		struct known_bot known = {
			.kind = BOT_CRAWLER,
			.origin = origin,
			.entry = i + 1,
		};

		if (add_entry(bots, entry, known, except, err) < 0)
			return error_wrap(err, "%s", path);
	}
	return 0;
}

/* `list` and `patterns`: the contents of the files, or NULL. */
static int add_all_patterns(struct bots *bots, const struct bots_source *source,
			    const json_t *list, const json_t *patterns,
			    struct error *err)
{
	bots->known =
		calloc(own_bot_count + json_array_size(list) +
			       structure_rule_count + json_array_size(patterns),
		       sizeof(*bots->known));
	if (!bots->known)
		return error_set_nomem(err);
	if (add_own(bots, err) < 0 ||
	    add_file(bots, list, BOT_LIST, source->list, source->except, err) <
		    0 ||
	    add_structure(bots, err) < 0 ||
	    add_file(bots, patterns, BOT_PATTERNS, source->patterns,
		     source->except, err) < 0)
		return -1;
	return add_forms(bots, err);
}

static struct bots *bots_new(const struct bots_source *source,
			     const json_t *list, const json_t *patterns,
			     bool prefilter, struct error *err)
{
	struct bots *bots = calloc(1, sizeof(*bots));

	if (!bots) {
		error_set_nomem(err);
		return NULL;
	}
	bots->patterns = pattern_set_new(source->jit, err);
	if (bots->patterns &&
	    add_all_patterns(bots, source, list, patterns, err) == 0 &&
	    pattern_set_compile(bots->patterns, prefilter, err) == 0)
		return bots;
	bots_free(bots);
	return NULL;
}

static json_t *read_list(const char *path, struct error *err)
{
	json_t *list = json_file_load(path, err);

	if (list && (!json_is_array(list) || json_array_size(list) == 0)) {
		error_set(err, ERROR_CONFIG,
			  "%s: expected an array of patterns", path);
		json_decref(list);
		list = NULL;
	}
	return list;
}

struct bots *bots_load(const struct bots_source *source, bool prefilter,
		       struct error *err)
{
	struct bots *bots = NULL;
	json_t *list = NULL, *patterns = NULL;

	if (source->list) {
		list = read_list(source->list, err);
		if (!list)
			goto out;
	}
	if (source->patterns) {
		patterns = read_list(source->patterns, err);
		if (!patterns)
			goto out;
	}
	bots = bots_new(source, list, patterns, prefilter, err);
out:
	json_decref(list);
	json_decref(patterns);
	if (!bots) {
		error_wrap(err, "robot list");
		err->code = ERROR_CONFIG;
	}
	return bots;
}

void bots_free(struct bots *bots)
{
	if (!bots)
		return;
	pattern_set_free(bots->patterns);
	free(bots->known);
	free(bots);
}

size_t bots_count(const struct bots *bots)
{
	return bots->count;
}

const struct pattern_set *bots_patterns(const struct bots *bots)
{
	return bots->patterns;
}

struct bot bots_at(const struct bots *bots, size_t index)
{
	const struct known_bot *known = &bots->known[index];

	return (struct bot){
		.kind = known->kind,
		.origin = known->origin,
		.pattern = pattern_set_regex(bots->patterns, index),
		.entry = known->entry,
		.reason = known->reason,
		.vague = known->vague,
	};
}

const char *bot_origin_name(enum bot_origin origin)
{
	static const char *const names[] = {
		[BOT_OWN] = "own",
		[BOT_LIST] = "bot_list",
		[BOT_STRUCTURE] = "structure",
		[BOT_PATTERNS] = "bot_patterns",
	};

	return names[origin];
}

bool bots_is_browser(const struct bots *bots, struct pattern_matcher *matcher)
{
	return pattern_first(matcher, bots->count,
			     pattern_set_count(bots->patterns)) >= 0;
}

/* The search for the robot in one user agent. */
struct search {
	const struct bots *bots;
	struct pattern_matcher *matcher;
	bool device;
	bool form_known; /* `browser` is valid */
	bool browser;
};

static bool has_form(struct search *s)
{
	if (!s->form_known) {
		s->browser = s->device || bots_is_browser(s->bots, s->matcher);
		s->form_known = true;
	}
	return s->browser;
}

/* Returns the first robot from `from` on that counts, or -1. */
static int next_robot(struct search *s, size_t from)
{
	int index = pattern_first(s->matcher, from, s->bots->count);

	while (index >= 0 && s->bots->known[index].vague && has_form(s))
		index = pattern_first(s->matcher, (size_t)index + 1,
				      s->bots->count);
	return index;
}

static bool is_plain(const struct known_bot *known)
{
	return known->origin == BOT_LIST &&
	       (known->kind == BOT_CRAWLER || known->kind == BOT_TOOL);
}

/* If an HTTP library also names its purpose, the purpose counts, and if it
 * names a robot, the robot. */
static int find_purpose(struct search *s, int from)
{
	const struct known_bot *known = s->bots->known;
	int best = from;

	for (int index = from;
	     index >= 0 && known[index].origin == known[from].origin;
	     index = next_robot(s, (size_t)index + 1)) {
		if (!is_plain(&known[index]))
			return index;
		if (known[best].kind == BOT_TOOL &&
		    known[index].kind != BOT_TOOL)
			best = index;
	}
	return best;
}

bool bots_find(const struct bots *bots, struct pattern_matcher *matcher,
	       const char *user_agent, size_t len, bool device,
	       struct bot *ret_bot)
{
	struct search s = {.bots = bots, .matcher = matcher, .device = device};
	int index;

	pattern_scan(matcher, user_agent, len);
	index = next_robot(&s, 0);
	if (index < 0)
		return false;
	*ret_bot = bots_at(bots, (size_t)find_purpose(&s, index));
	return true;
}
