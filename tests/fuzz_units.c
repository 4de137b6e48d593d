/* Units from any text: what parses is formatted to a text that parses to the same value. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
        if (!condition)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        char text[256], out[128];
        struct dbio_err err;
        uint64_t whole, back;
        double ops, bytes, value, again;

        if (size >= sizeof text)
                return 0;
        memcpy(text, data, size);
        text[size] = '\0';
        if (!dbio_parse_size(text, &whole, &err)) {
                dbio_format_size(whole, out, sizeof out);
                check(!dbio_parse_size(out, &back, &err) && back == whole);
        }
        if (!dbio_parse_time(text, &whole, &err)) {
                dbio_format_time(whole, out, sizeof out);
                check(!dbio_parse_time(out, &back, &err) && back == whole);
        }
        dbio_parse_count(text, &whole, &err);
        if (!dbio_parse_share(text, &value, &err)) {
                dbio_format_share(value, out, sizeof out);
                check(!dbio_parse_share(out, &again, &err) && fabs(again - value) <= 1e-15);
        }
        if (!dbio_parse_factor(text, &value, &err)) {
                dbio_format_factor(value, out, sizeof out);
                check(!dbio_parse_factor(out, &again, &err) && again == value);
        }
        if (!dbio_parse_rate(text, &ops, &bytes, &err)) {
                dbio_format_rate(isnan(ops) ? bytes : ops, isnan(ops), out, sizeof out);
                check(!dbio_parse_rate(out, &value, &again, &err) && isnan(value) == isnan(ops));
        }
        return 0;
}
