#include "tests/unit.h"

#include "engine/op.h"

START_TEST(names_round_trip)
{
        for (int i = 0; i < DBIO_KINDS; i++)
                ck_assert_int_eq(dbio_kind_find(dbio_kind_name((unsigned)i)), i);
        for (int i = 0; i < DBIO_ROLES; i++)
                ck_assert_int_eq(dbio_role_find(dbio_role_name((unsigned)i)), i);
        ck_assert_ptr_null(dbio_kind_name(DBIO_KINDS));
        ck_assert_int_eq(dbio_role_find("no_such_role"), -1);
}
END_TEST

START_TEST(flags_are_joined_by_plus)
{
        char text[64];

        dbio_op_flags_format(0, text);
        ck_assert_str_eq(text, "");
        dbio_op_flags_format(DBIO_OP_BARRIER | DBIO_OP_DSYNC | DBIO_OP_ADJACENT, text);
        ck_assert_str_eq(text, "barrier+dsync");
}
END_TEST

TEST_MAIN("op", names_round_trip, flags_are_joined_by_plus)
