/*
 * Produces clicks as a redirector does.  Links, addresses and user agents
 * follow Zipf's law (the k-th most frequent one comes 1/k as often as the
 * first).  A file has the user agents, one a line, the most frequent first.
 * usage: bench_clicks BROKER TOPIC AGENTS COUNT [RATE]
 *
 * With RATE it makes that many a second, whether or not the broker keeps up.
 * The same COUNT makes the same clicks, except for their time.  It ends when
 * the broker has acknowledged all of them, or with status 1 if that fails.
 */
#include <librdkafka/rdkafka.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/buf.h"
#include "common/clock.h"
#include "schemas/click.pb-c.h"

enum {
	AGENTS_MAX = 20000,
	ADDRESSES = 1000000,
	LINKS = 1000000,
	PACKED_MAX = 8192,
	TEXT_MAX = 64,
};

struct load {
	rd_kafka_t *rk;
	const char *topic;
	char *agents[AGENTS_MAX];
	size_t agent_count;
	uint64_t state; /* state of the random numbers */
	uint64_t failed;
};

static const char *const sites[] = {
	"https://www.google.com/",
	"https://t.co/",
	"https://l.facebook.com/",
	"https://www.linkedin.com/feed/",
	"https://news.example.org/politics/2026/11/article-",
	"https://mail.google.com/mail/u/",
	"https://www.reddit.com/r/example/comments/",
	"android-app://com.google.android.gm/",
	"https://blog.example.net/posts/",
	"https://www.bing.com/",
};
static const char *const languages[] = {
	"en-US,en;q=0.9", "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7",
	"fr-FR,fr;q=0.9", "es-ES,es;q=0.9,en;q=0.8",
	"pt-BR,pt;q=0.9", "en-GB,en;q=0.9",
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* splitmix64, by Sebastiano Vigna. */
static uint64_t mix_bits(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t next_random(struct load *l)
{
	return mix_bits(l->state += UINT64_C(0x9e3779b97f4a7c15));
}

/* Returns 0 .. n-1; the chance of the k-th is nearly proportional to 1/k. */
static uint64_t draw_zipf_rank(struct load *l, uint64_t n)
{
	double u = (double)(next_random(l) >> 11) / 9007199254740992.0;

	return (uint64_t)exp(u * log((double)n + 1)) - 1;
}

static size_t read_agents(struct load *l, const char *path)
{
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	if (!in)
		return 0;
	while (l->agent_count < AGENTS_MAX &&
	       (len = getline(&line, &room, in)) > 0) {
		line[len - 1] = '\0';
		l->agents[l->agent_count++] = strdup(line);
	}
	free(line);
	fclose(in);
	return l->agent_count;
}

/* One in four addresses is IPv6. */
static size_t make_address(struct load *l, uint8_t ip[16])
{
	uint64_t bits = mix_bits(draw_zipf_rank(l, ADDRESSES) + 1);

	memcpy(ip, &bits, 8);
	if (bits % 4) {
		ip[0] = (uint8_t)(11 + bits % 110);
		return 4;
	}
	memcpy(ip, (const uint8_t[]){0x2a, 0x02}, 2);
	bits = mix_bits(bits);
	memcpy(ip + 8, &bits, 8);
	return 16;
}

static ProtobufCBinaryData bytes_of_text(const char *text)
{
	return (ProtobufCBinaryData){strlen(text), (uint8_t *)(uintptr_t)text};
}

static size_t pack_click(struct load *l, uint64_t number, uint8_t *out)
{
	char code[16], account[] = "acme", owner[32],
		       referrer[2 * TEXT_MAX] = "";
	uint64_t link = draw_zipf_rank(l, LINKS), r = next_random(l);
	uint8_t ip[16];
	Shortloop__Click m;

	snprintf(code, sizeof(code), "%07llx",
		 (unsigned long long)(mix_bits(link + 7) >> 36));
	snprintf(owner, sizeof(owner), "owner-%u", (unsigned)(link % 500));
	if (r & 1)
		snprintf(referrer, sizeof(referrer), "%s%u",
			 sites[(r >> 1) % COUNT(sites)],
			 (unsigned)(r >> 40 & 0xffff));
	shortloop__click__init(&m);
	m.event_id = number;
	m.event_id_high = UINT64_C(0x5bd1e9955bd1e995);
	m.time_ms = (uint64_t)clock_real_ms();
	m.edge = (char *)(uintptr_t) "edge-1";
	m.domain = (char *)(uintptr_t) "go.example.com";
	m.code = code;
	m.link_id = link + 1;
	m.account = account;
	m.owner = owner;
	m.outcome = SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED;
	m.status = 302;
	m.client_ip = (ProtobufCBinaryData){make_address(l, ip), ip};
	m.user_agent =
		bytes_of_text(l->agents[draw_zipf_rank(l, l->agent_count)]);
	m.referrer = bytes_of_text(referrer);
	m.accept_language =
		bytes_of_text(languages[(r >> 8) % COUNT(languages)]);
	if ((r >> 20) % 10 == 0)
		m.query = bytes_of_text("utm_source=newsletter&utm_medium=email"
					"&utm_campaign=november");
	if (shortloop__click__get_packed_size(&m) > PACKED_MAX)
		return 0;
	return shortloop__click__pack(&m, out);
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m,
			void *opaque)
{
	struct load *l = opaque;

	(void)rk;
	if (m->err)
		l->failed++;
}

static int open_producer(struct load *l, const char *broker)
{
	const char *const settings[][2] = {
		{"bootstrap.servers", broker},
		{"compression.codec", "lz4"},
		{"linger.ms", "50"},
		/* These settings are those of our own producers. */
		{"batch.size", "200000"},
		{"enable.idempotence", "true"},
		{"queue.buffering.max.messages", "200000"},
	};
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char text[256];

	for (size_t i = 0; i < COUNT(settings); i++)
		if (rd_kafka_conf_set(conf, settings[i][0], settings[i][1],
				      text, sizeof(text)))
			return -1;
	rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
	rd_kafka_conf_set_opaque(conf, l);
	l->rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text));
	return l->rk ? 0 : -1;
}

/* Waits while the queue is full. */
static int produce_click(struct load *l, uint64_t number)
{
	uint8_t packed[PACKED_MAX];
	size_t len = pack_click(l, number, packed);
	rd_kafka_resp_err_t code;

	do {
		code = rd_kafka_producev(
			l->rk, RD_KAFKA_V_TOPIC(l->topic),
			RD_KAFKA_V_VALUE(packed, len),
			RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
			RD_KAFKA_V_END);
		if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL)
			rd_kafka_poll(l->rk, 10);
	} while (code == RD_KAFKA_RESP_ERR__QUEUE_FULL);
	return code ? -1 : 0;
}

static void wait_until(int64_t ns)
{
	struct timespec until = {ns / 1000000000, ns % 1000000000};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static int run_load(struct load *l, uint64_t count, double rate)
{
	int64_t start = clock_monotonic_ns();

	for (uint64_t i = 0; i < count; i++) {
		if (rate > 0 && i % 16 == 0)
			wait_until(start + (int64_t)((double)i * 1e9 / rate));
		if (produce_click(l, i) < 0)
			return -1;
		if (i % 64 == 0)
			rd_kafka_poll(l->rk, 0);
	}
	if (rd_kafka_flush(l->rk, 60000) || l->failed)
		return -1;
	printf("%llu in %.2f s\n", (unsigned long long)count,
	       (double)(clock_monotonic_ns() - start) / 1e9);
	return 0;
}

int main(int argc, char **argv)
{
	static struct load l;

	if (argc < 5 || argc > 6 || !read_agents(&l, argv[3])) {
		fprintf(stderr, "usage: bench_clicks BROKER TOPIC AGENTS COUNT "
				"[RATE]\n");
		return 64;
	}
	l.topic = argv[2];
	if (open_producer(&l, argv[1]) < 0 ||
	    run_load(&l, strtoull(argv[4], NULL, 10),
		     argc == 6 ? strtod(argv[5], NULL) : 0) < 0) {
		fprintf(stderr, "bench_clicks: the broker has not got all\n");
		return 1;
	}
	rd_kafka_destroy(l.rk);
	return 0;
}
