#include "collector/enrich/sites.h"

#include <stdlib.h>
#include <string.h>

/* Hosts, which stand for those under them, too.  In strcmp's order. */
static const struct site hosts[] = {
	{"4chan.org", "social"},
	{"9gag.com", "social"},
	{"aistudio.google.com", "ai"},
	{"ameblo.jp", "social"},
	{"andisearch.com", "ai"},
	{"app.tuta.com", "email"},
	{"ask.com", "search"},
	{"b23.tv", "social"},
	{"badoo.com", "social"},
	{"bard.google.com", "ai"},
	{"behance.net", "social"},
	{"bilibili.com", "social"},
	{"bsky.app", "social"},
	{"bsky.social", "social"},
	{"campaign-archive.com", "email"},
	{"character.ai", "ai"},
	{"chat.mistral.ai", "ai"},
	{"chat.qwen.ai", "ai"},
	{"chatgpt.com", "ai"},
	{"claude.ai", "ai"},
	{"coccoc.com", "search"},
	{"copilot.com", "ai"},
	{"copilot.microsoft.com", "ai"},
	{"createsend.com", "email"},
	{"dailymotion.com", "social"},
	{"daum.net", "search"},
	{"deepseek.com", "ai"},
	{"deviantart.com", "social"},
	{"digg.com", "social"},
	{"discord.com", "social"},
	{"discord.gg", "social"},
	{"discordapp.com", "social"},
	{"disqus.com", "social"},
	{"dogpile.com", "search"},
	{"douban.com", "social"},
	{"doubao.com", "ai"},
	{"douyin.com", "social"},
	{"dribbble.com", "social"},
	{"duck.ai", "ai"},
	{"excite.com", "search"},
	{"fastmail.com", "email"},
	{"fb.com", "social"},
	{"fb.me", "social"},
	{"fb.watch", "social"},
	{"felo.ai", "ai"},
	{"flickr.com", "social"},
	{"flipboard.com", "social"},
	{"fosstodon.org", "social"},
	{"gab.com", "social"},
	{"gemini.google.com", "ai"},
	{"genspark.ai", "ai"},
	{"getpocket.com", "social"},
	{"gettr.com", "social"},
	{"gibiru.com", "search"},
	{"gmx.com", "email"},
	{"gmx.de", "email"},
	{"gmx.net", "email"},
	{"go.mail.ru", "search"},
	{"goo.ne.jp", "search"},
	{"goodreads.com", "social"},
	{"grok.com", "ai"},
	{"haosou.com", "search"},
	{"hatena.ne.jp", "social"},
	{"hey.com", "email"},
	{"hi5.com", "social"},
	{"hubspotlinks.com", "email"},
	{"huggingface.co", "ai"},
	{"iask.ai", "ai"},
	{"icloud.com", "email"},
	{"imgur.com", "social"},
	{"info.com", "search"},
	{"instagram.com", "social"},
	{"kagi.com", "search"},
	{"kakao.com", "social"},
	{"kakaotalk.com", "social"},
	{"karmasearch.org", "search"},
	{"kbin.social", "social"},
	{"kimi.com", "ai"},
	{"kimi.moonshot.cn", "ai"},
	{"komo.ai", "ai"},
	{"kuaishou.com", "social"},
	{"laposte.net", "email"},
	{"lemmy.world", "social"},
	{"letterboxd.com", "social"},
	{"libero.it", "email"},
	{"lilo.org", "search"},
	{"line.me", "social"},
	{"linkedin.com", "social"},
	{"list-manage.com", "email"},
	{"livejournal.com", "social"},
	{"lnkd.in", "social"},
	{"lobste.rs", "social"},
	{"m.me", "social"},
	{"mail.google.com", "email"},
	{"mail.naver.com", "email"},
	{"mail.yahoo.com", "email"},
	{"mail.yandex.com", "email"},
	{"mail.yandex.ru", "email"},
	{"mailchi.mp", "email"},
	{"mailtrack.io", "email"},
	{"manus.im", "ai"},
	{"mas.to", "social"},
	{"medium.com", "social"},
	{"meetup.com", "social"},
	{"messenger.com", "social"},
	{"meta.ai", "ai"},
	{"metager.de", "search"},
	{"metager.org", "search"},
	{"minds.com", "social"},
	{"missiveapp.com", "email"},
	{"mix.com", "social"},
	{"mixi.jp", "social"},
	{"mojeek.com", "search"},
	{"mstdn.social", "social"},
	{"myspace.com", "social"},
	{"news.ycombinator.com", "social"},
	{"nextdoor.com", "social"},
	{"nicovideo.jp", "social"},
	{"note.com", "social"},
	{"notebooklm.google.com", "ai"},
	{"oceanhero.today", "search"},
	{"odysee.com", "social"},
	{"ok.ru", "social"},
	{"openai.com", "ai"},
	{"orange.fr", "email"},
	{"orkut.com", "social"},
	{"outlook.com", "email"},
	{"outlook.live.com", "email"},
	{"outlook.office.com", "email"},
	{"outlook.office365.com", "email"},
	{"parler.com", "social"},
	{"patreon.com", "social"},
	{"perplexity.ai", "ai"},
	{"phind.com", "ai"},
	{"pi.ai", "ai"},
	{"pin.it", "social"},
	{"plus.google.com", "social"},
	{"pocket.co", "social"},
	{"poe.com", "ai"},
	{"presearch.com", "search"},
	{"presearch.org", "search"},
	{"producthunt.com", "social"},
	{"quora.com", "social"},
	{"qzone.qq.com", "social"},
	{"rambler.ru", "search"},
	{"redd.it", "social"},
	{"reddit.com", "social"},
	{"rumble.com", "social"},
	{"search.aol.com", "search"},
	{"search.brave.com", "search"},
	{"search.lycos.com", "search"},
	{"search.marginalia.nu", "search"},
	{"search.orange.fr", "search"},
	{"search.t-online.de", "search"},
	{"sendgrid.net", "email"},
	{"seznam.cz", "search"},
	{"shenma.com", "search"},
	{"signal.org", "social"},
	{"skype.com", "social"},
	{"slack.com", "social"},
	{"slashdot.org", "social"},
	{"sm.cn", "search"},
	{"snapchat.com", "social"},
	{"so.com", "search"},
	{"stract.com", "search"},
	{"strava.com", "social"},
	{"stumbleupon.com", "social"},
	{"substack.com", "email"},
	{"suche.gmx.net", "search"},
	{"suche.web.de", "search"},
	{"superhuman.com", "email"},
	{"swisscows.com", "search"},
	{"szukaj.onet.pl", "search"},
	{"t-online.de", "email"},
	{"t.co", "social"},
	{"t.me", "social"},
	{"tagged.com", "social"},
	{"taringa.net", "social"},
	{"teams.microsoft.com", "social"},
	{"telegram.me", "social"},
	{"telegram.org", "social"},
	{"threads.com", "social"},
	{"threads.net", "social"},
	{"tieba.baidu.com", "social"},
	{"tiktok.com", "social"},
	{"tongyi.aliyun.com", "ai"},
	{"truthsocial.com", "social"},
	{"tumblr.com", "social"},
	{"tutanota.com", "email"},
	{"twitch.tv", "social"},
	{"twitter.com", "social"},
	{"venice.ai", "ai"},
	{"viber.com", "social"},
	{"vimeo.com", "social"},
	{"vk.cc", "social"},
	{"vk.com", "social"},
	{"wa.me", "social"},
	{"web.de", "email"},
	{"webcrawler.com", "search"},
	{"wechat.com", "social"},
	{"weixin.qq.com", "social"},
	{"whatsapp.com", "social"},
	{"wolframalpha.com", "search"},
	{"x.ai", "ai"},
	{"x.com", "social"},
	{"xhslink.com", "social"},
	{"xiaohongshu.com", "social"},
	{"xing.com", "social"},
	{"ya.ru", "search"},
	{"yep.com", "search"},
	{"yiyan.baidu.com", "ai"},
	{"you.com", "ai"},
	{"youtu.be", "social"},
	{"youtube.com", "social"},
	{"yuanbao.tencent.com", "ai"},
	{"zalo.me", "social"},
	{"zhihu.com", "social"},
};

/* Labels of a host ("google" is in www.google.co.uk).  In strcmp's order. */
static const struct site labels[] = {
	{"baidu", "search"},	  {"bing", "search"},
	{"duckduckgo", "search"}, {"ecosia", "search"},
	{"email", "email"},	  {"facebook", "social"},
	{"google", "search"},	  {"mail", "email"},
	{"mastodon", "social"},	  {"naver", "search"},
	{"pinterest", "social"},  {"qwant", "search"},
	{"roundcube", "email"},	  {"searx", "search"},
	{"searxng", "search"},	  {"sogou", "search"},
	{"startpage", "search"},  {"webmail", "email"},
	{"weibo", "social"},	  {"yahoo", "search"},
	{"yandex", "search"},
};

struct word {
	const char *text;
	size_t len;
};

static int compare(const void *key, const void *site)
{
	const struct word *word = key;
	const char *name = ((const struct site *)site)->name;
	int order = strncmp(word->text, name, word->len);

	return order ? order : -(name[word->len] != '\0');
}

static const struct site *search(const struct site *sites, size_t count,
				 const char *text, size_t len)
{
	struct word word = {text, len};

	return bsearch(&word, sites, count, sizeof(*sites), compare);
}

static const struct site *find_label(const char *text, size_t len)
{
	return search(labels, sizeof(labels) / sizeof(*labels), text, len);
}

const struct site *site_of_host(const char *host)
{
	const struct site *site;
	const char *at, *dot;

	for (at = host; (dot = strchr(at, '.')); at = dot + 1) {
		site = search(hosts, sizeof(hosts) / sizeof(*hosts), at,
			      strlen(at));
		if (site)
			return site;
	}
	/* The last label is the top-level domain and no name. */
	for (at = host; (dot = strchr(at, '.')); at = dot + 1) {
		site = find_label(at, (size_t)(dot - at));
		if (site)
			return site;
	}
	return NULL;
}

const struct site *site_of_name(const char *name)
{
	char host[SITE_NAME_MAX + sizeof(".com")];
	const struct site *site = site_of_host(name);

	if (!site)
		site = find_label(name, strlen(name));
	if (site || strchr(name, '.') || strlen(name) > SITE_NAME_MAX)
		return site;
	strcpy(host, name);
	strcat(host, ".com");
	return site_of_host(host);
}
