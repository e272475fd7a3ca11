#include "tests/unit/unit.h"

#include "common/versions.h"

struct counted {
	int freed;
};

/* A value that records whether it was freed. */
struct noted {
	int number;
	struct counted *counted;
};

static void note_free(void *value)
{
	struct noted *n = value;

	n->counted->freed++;
	free(n);
}

static struct noted *make_value(int number, struct counted *counted)
{
	struct noted *n = malloc(sizeof(*n));

	assert_non_null(n);
	*n = (struct noted){number, counted};
	return n;
}

static struct versions *versions_of(struct noted *first)
{
	struct error err = {0};
	struct versions *v = versions_new(first, note_free, &err);

	assert_non_null(v);
	return v;
}

static void replace_value(struct versions *v, struct noted *value)
{
	struct error err = {0};

	assert_int_equal(versions_replace(v, value, &err), 0);
}

static int number_of(struct versions_user *user)
{
	const struct noted *n = versions_use(user);

	return n->number;
}

static void a_value_stays_while_any_user_holds_it(void **state)
{
	struct counted counted = {0};
	struct versions *v = versions_of(make_value(1, &counted));
	struct versions_user one = {.of = v}, other = {.of = v};

	(void)state;
	assert_int_equal(number_of(&one), 1);
	assert_int_equal(number_of(&other), 1);
	replace_value(v, make_value(2, &counted));
	assert_int_equal(counted.freed, 0);
	assert_int_equal(number_of(&one), 2);
	assert_int_equal(counted.freed, 0);
	versions_leave(&other);
	assert_int_equal(counted.freed, 1);
	versions_leave(&other);
	versions_leave(&one);
	assert_int_equal(counted.freed, 1);
	versions_free(v);
	assert_int_equal(counted.freed, 2);
}

static void what_nobody_took_is_freed_when_it_is_replaced(void **state)
{
	struct counted counted = {0};
	struct versions *v = versions_of(make_value(1, &counted));
	struct versions_user user = {.of = v};

	(void)state;
	replace_value(v, make_value(2, &counted));
	replace_value(v, make_value(3, &counted));
	assert_int_equal(counted.freed, 2);
	assert_int_equal(number_of(&user), 3);
	versions_leave(&user);
	versions_free(v);
	assert_int_equal(counted.freed, 3);
}

static void who_has_left_may_come_again(void **state)
{
	struct counted counted = {0};
	struct versions *v = versions_of(make_value(1, &counted));
	struct versions_user user = {.of = v};

	(void)state;
	assert_int_equal(number_of(&user), 1);
	versions_leave(&user);
	replace_value(v, make_value(2, &counted));
	assert_int_equal(number_of(&user), 2);
	versions_leave(&user);
	versions_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_stays_while_any_user_holds_it),
		cmocka_unit_test(what_nobody_took_is_freed_when_it_is_replaced),
		cmocka_unit_test(who_has_left_may_come_again),
	};

	return cmocka_run_group_tests_name("versions", tests, NULL, NULL);
}
