#include "collector/enrich/bots/own.h"

/*
 * Names are those that the services document or send.  Apps that carry their
 * name in the user agent of the browser they have built in (Instagram, Line,
 * Snapchat, KakaoTalk ...) are people: only the fetcher's own name is here.
 */
const struct own_bot own_bots[] = {
	/* Messengers and networks that fetch a link to show what is behind it.
	 * iMessage calls itself facebookexternalhit, Facebot and Twitterbot at
	 * once; Signal calls itself WhatsApp. */
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
	/* Fetches a file to show it; pages that Google translates carry `via
	 * translate.google.com` and are read by people. */
	{"\\(via docs\\.google\\.com", BOT_PREVIEW},
	/* Slack's other robots fetch for apps, not for a message. */
	{"Slackbot", BOT_CRAWLER},
	{"meta-externalagent|meta-webindexer", BOT_CRAWLER},
	/* Google's, in the agents of whole browsers. */
	{"[Gg]oogle favicon|[Mm]ediapartners-[Gg]oogle", BOT_CRAWLER},
	{"(?:like Gecko[;,]|compatible;) Google(?:[ -]|AdS)", BOT_CRAWLER},
	{"DuplexWeb-Google|Google-SearchByImage", BOT_CRAWLER},
	{"wechatdevtools", BOT_CRAWLER},

	/* Is the page up, and how fast? */
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

	/* What else is there, and is it weak? */
	{"Nmap|masscan|^zgrab|zgrab/", BOT_SCANNER},
	{"sqlmap|[Nn]ikto|WPScan|Wfuzz", BOT_SCANNER},
	{"Nuclei|^httpx - ", BOT_SCANNER},
	{"gobuster|feroxbuster|[Dd]ir[Bb]uster|dirsearch", BOT_SCANNER},
	{"Fuzz Faster U Fool|^ffuf", BOT_SCANNER},
	{"Expanse|CensysInspect|InternetMeasurement", BOT_SCANNER},
	{"l9explore|l9scan|LeakIX", BOT_SCANNER},
	{"[Aa]cunetix|Nessus|OpenVAS|Qualys", BOT_SCANNER},
	{"w3af|Arachni|ZmEu|Jorgee|WhatWeb", BOT_SCANNER},
};
const size_t own_bot_count = sizeof(own_bots) / sizeof(own_bots[0]);
