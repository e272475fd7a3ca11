#include "common/agent/structure.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Shells of Internet Explorer whose agents contain their makers' address where
 * robots put that of the page about them. */
#define NO_SHELL                                                               \
	"(?!(?:www\\.)?(?:avantbrowser|abolimba|aggsoft|netvitamine)\\.)"

const struct structure_rule structure_rules[] = {
	/* Text that programs send if they have no agent: "-", "null". */
	{"^[-\\s\"'_.?]+$", "no user agent", BOT_TOOL},
	{"^\\(?(?:null|none|undefined|unknown|n/a)\\)?$", "no user agent",
	 BOT_TOOL},
	{"^[&?=%]|^https?://", "no product name", BOT_TOOL},
	/* Some phones are named Cubot. */
	{"(?<!cu)bots?(?:\\b|_)|crawler|spider\\b", "calls itself a robot",
	 BOT_CRAWLER},
	{"[\\w.+-](?:@|\\(at\\)|\\[at\\]) ?[a-z0-9][\\w-]*(?:\\.[\\w-]+)*"
	 "\\.[a-z]{2}",
	 "e-mail address", BOT_CRAWLER},
	{"\\bat [\\w-]+ dot [a-z]{2}", "e-mail address", BOT_CRAWLER},
	/* "+https://", or a whole item of a comment; an address elsewhere is a
	 * provider's or a maker's. */
	{"\\+ ?(?:https?://|www\\.)" NO_SHELL, "page about it", BOT_CRAWLER},
	{"[(;,] ?https?://" NO_SHELL "[^ ;)]*[;)]", "page about it",
	 BOT_CRAWLER},
	/* Current browsers have no address in their agent. */
	{"AppleWebKit/.* \\(?https?://", "page about it", BOT_CRAWLER},
	{"^Mozilla/\\d\\.\\d+(?: ?\\((?:compatible)?;? ?\\))?$",
	 "no browser named", BOT_TOOL},
	/* The agent names a system, but no engine and no browser. */
	{"^Mozilla/5\\.0 \\((?:Windows "
	 "NT|Macintosh;|X11;)(?![^)]*(?:MSIE|Trident|"
	 "rv:))[^()]*\\)$",
	 "no browser named", BOT_TOOL},
	{"^(?:fetch )?(?:libfetch|libcurl|PycURL|curl|Wget|Go-http-client|Ruby|"
	 "python-requests|python-urllib|python-httpx|aiohttp|httpx|okhttp|"
	 "axios|Dart|node-fetch|undici|got|superagent|rest-client|Faraday|"
	 "Typhoeus|"
	 "http\\.rb|Chef Client|Chef Knife|Java|Jakarta Commons-HttpClient|"
	 "Apache-HttpClient|libwww-perl|LWP|HTTP_Request2?|PHP|GuzzleHttp|"
	 "RestSharp|WinHttp|reqwest|hyper|PostmanRuntime|insomnia|HTTPie|"
	 "portscout|http[-_ ]?(?:client|requester|kit))(?:[/ :.]|$)",
	 "HTTP library", BOT_TOOL},
};
const size_t structure_rule_count = COUNT(structure_rules);

const char *const browser_forms[] = {
	("^Mozilla/\\d\\.\\d+ .*(?:MSIE \\d|Trident/|Gecko|AppleWebKit/|KHTML|"
	 "Presto/|Opera|Netscape|Konqueror)"),
	"^Opera[ /]\\d",
	/* Browsers of phones before smartphones, and their proxies. */
	("UP\\.(?:Browser|Link)|Profile/MIDP|Configuration/CLDC|Obigo|NetFront|"
	 "\\bMAUI\\b|WAP Browser"),
	("^(?:Nokia|SonyEricsson|Ericsson|SIE-|SAMSUNG[- ]|SEC-|LGE?[-/]|MOT-|"
	 "BlackBerry|Alcatel|SAGEM|Panasonic|Philips|DoCoMo|KDDI|J-PHONE|"
	 "Vodafone|HTC[-_/ ]|ZTE|Huawei|PalmSource|LENOVO)"),
	/* Browsers that have never called themselves Mozilla. */
	("^(?:E?Links|Lynx|w3m|Dillo|Konqueror|NCSA.?Mosaic|ICE Browser|Avant|"
	 "MSIE \\d|Pinterest/|\\[FB)"),
	/* A browser's agent after the header's name, sent by a broken proxy. */
	"^User-Agent: ?Mozilla/",
};
const size_t browser_form_count = COUNT(browser_forms);

const char *const vague_patterns[] = {
	/* Patterns of crawler-user-agents: parts of versions, models and
	 * toolbars. */
	"008\\/",
	"Butterfly",
	"Sonic",
	"Teoma",
	"Viber",
	/* Patterns of isbot: forms that phones and apps have, too. */
	("^[\\w \\.\\-\\(?:\\):%]+(?:/v?\\d+(?:\\.\\d+)?(?:\\.\\d{1,10})*?)?"
	 "(?:,|$)"),
	"^[\\w\\-]+/[\\w]+$",
	"^\\w+/[\\w\\(\\)]*$",
	"^\\w+/\\d\\.\\d\\s\\([\\w@]+\\)$",
	("^mozilla/\\d\\.\\d\\s\\((?:compatible;)?(?:\\s?[\\w\\d\\-.]+[\\s/"
	 "]\\d+"
	 "\\.\\d+)?\\)$"),
	"^[^ ]{50,}$",
	"^[<\\(;]",
	"^\\d+\\b",
	"^yahoo",
	"\\b\\w+/1\\.0;",
	";\\s\\w+;$",
	"\\(\\)",
	"\\|",
	/* Patterns of isbot: names of providers, add-ons and phones contain
	 * them. */
	"(?:^|[^g])news(?!sapphire)",
	"(?<! channel/|google/)google(?!(?:wv|app|/google| pixel))",
	"(?<!lib)http",
	"@[a-z][\\w-]+\\.",
	"\\.com\\b",
	"advisor",
	"agent\\b",
	"archive",
	"browsex",
	"catch",
	"chromeframe",
	"detect",
	"discovery",
	"download",
	"feed",
	"insight",
	"java(?!;)",
	"library",
	"measure",
	"node\\b",
	"optimize",
	"preview",
	"proxy",
	"radar",
	"rexx;",
	"server",
	"splash",
	"synapse",
	"tools",
	"url",
};
const size_t vague_pattern_count = COUNT(vague_patterns);
