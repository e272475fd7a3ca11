/* The scripts of what programs share: node numbers and domains. */
#include "tests/unit/linkstore/script_bench.h"

/* --- node numbers --------------------------------------------------------- */

static void a_node_number_has_one_holder(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_NODE_LEASE, "n", "me 100 0", "(1 0 @100)");
	keys_are(b, "n: from=0 holder=me until=@100");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 100 0", "(0 me @100)");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "me 90 0", "(1 0 @100)");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "me 110 0", "(1 0 @110)");
	keys_are(b, "n: from=0 holder=me until=@110");
	b->now += 109;
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 100 0", "(0 me @1)");
	b->now += 1;
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 100 0", "(1 @0 @100)");
	keys_are(b, "n: from=@0 holder=she until=@100");
	/* The second call returns the lease again; nothing is lost. */
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 120 0", "(1 @0 @120)");
}

static void a_node_number_is_given_up_with_what_was_made(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	send_commands(b, "HSET n holder me until @100 from @-50");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 0 @10", "(0 me @100)");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "me 0 @10", "(1 0 0)");
	keys_are(b, "n: from=@-50 holder= until=@10");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 100 0", "(1 @10 @100)");
	keys_are(b, "n: from=@10 holder=she until=@100");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 0 @-90", "(1 0 0)");
	keys_are(b, "n: from=@10 holder= until=@10");
	/* A program that does not hold the lease cannot release it. */
	send_commands(b, "HSET n holder me until @0 from @-50");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 0 @90", "(1 0 0)");
	keys_are(b, "n: from=@-50 holder=me until=@0");
	send_commands(b, "HSET n holder '' until @90");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "she 0 @95", "(1 0 0)");
	keys_are(b, "n: from=@-50 holder= until=@90");
	send_commands(b, "DEL n\nHSET n holder me until @0");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "me 0 @-9", "(1 0 0)");
	keys_are(b, "n: holder= until=@-9");
	send_commands(b, "DEL n\nHSET n holder me until @0");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "me 0 0", "(1 0 0)");
	keys_are(b, "n: holder= until=0");
	/* A lease without a holder excludes no program. */
	send_commands(b, "DEL n\nHSET n until @10");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "me 9 0", "(1 @10 @10)");
	send_commands(b, "DEL n\nHSET n holder me until @10");
	script_replies(b, SCRIPT_NODE_LEASE, "n", "me 9 0", "(1 0 @10)");
	keys_are(b, "n: from=0 holder=me until=@10");
}

/* --- domains -------------------------------------------------------------- */

static void domains_are_stored_over_the_revision_that_was_read(void **state)
{
	struct script_bench *b = script_bench_reset(state);

	script_replies(b, SCRIPT_DOMAINS, "d", "1 text", "(0)");
	script_replies(b, SCRIPT_DOMAINS, "d", "0 text", "(1 @0)");
	keys_are(b, "d: revision=@0 text=text");
	script_replies(b, SCRIPT_DOMAINS, "d", "@1 more", "(0)");
	script_replies(b, SCRIPT_DOMAINS, "d", "@-1 more", "(0)");
	script_replies(b, SCRIPT_DOMAINS, "d", "@0 more", "(1 @1)");
	script_replies(b, SCRIPT_DOMAINS, "d", "@1 ''", "(1 @2)");
	keys_are(b, "d: revision=@2 text=");
	b->now += 100;
	script_replies(b, SCRIPT_DOMAINS, "d", "@-98 more", "(1 @0)");
	send_commands(b, "HSET d revision x");
	script_replies(b, SCRIPT_DOMAINS, "d", "0 more",
		       "!DAMAGED the field revision of d is damaged");
	/* The greatest number that Lua can count to. */
	send_commands(b, "HSET d revision 9007199254740992");
	script_replies(b, SCRIPT_DOMAINS, "d", "9007199254740992 more",
		       "!DAMAGED the field revision of d is damaged");
	send_commands(b, "HSET d revision 9007199254740991");
	script_replies(b, SCRIPT_DOMAINS, "d", "9007199254740991 more",
		       "(1 9007199254740992)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_number_has_one_holder),
		cmocka_unit_test(a_node_number_is_given_up_with_what_was_made),
		cmocka_unit_test(
			domains_are_stored_over_the_revision_that_was_read),
	};

	return cmocka_run_group_tests(tests, script_bench_start,
				      script_bench_stop);
}
