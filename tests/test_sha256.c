/* Vectors of FIPS 180-2 appendix B, and lengths around the padding's edges against coreutils' sha256sum. */
#include "tests/unit.h"

#include <string.h>

#include "engine/sha256.h"

START_TEST(published_vectors)
{
        char hex[65], million[1000000];

        dbio_sha256_hex("abc", 3, hex);
        ck_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        dbio_sha256_hex("", 0, hex);
        ck_assert_str_eq(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        dbio_sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, hex);
        ck_assert_str_eq(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        memset(million, 'a', sizeof million);
        dbio_sha256_hex(million, sizeof million, hex);
        ck_assert_str_eq(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
END_TEST

START_TEST(lengths_around_a_block)
{
        for (int n = 50; n < 70; n++) {
                char command[128], theirs[65] = "", ours[65], text[80];
                FILE *pipe;

                memset(text, 'x', sizeof text);
                snprintf(command, sizeof command, "head -c %d /dev/zero | tr '\\0' x | sha256sum", n);
                pipe = popen(command, "r");
                ck_assert_ptr_nonnull(pipe);
                ck_assert_int_eq((int)fread(theirs, 1, 64, pipe), 64);
                pclose(pipe);
                dbio_sha256_hex(text, (size_t)n, ours);
                ck_assert_str_eq(ours, theirs);
        }
}
END_TEST

TEST_MAIN("sha256", published_vectors, lengths_around_a_block)
