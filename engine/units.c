#include "engine/units.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 19
#define DOUBLE_MAX 1e15
#define VALUE_MAX  (UINT64_MAX / 2)

struct unit {
        const char *suffix;
        uint64_t factor;
};

/* In the order in which a formatted size prefers them where texts are equally short. */
static const struct unit size_units[] = {
        {"", 1},
        {"K", 1024},
        {"M", 1048576},
        {"G", 1073741824},
        {"T", 1099511627776},
        {"P", 1125899906842624},
        {"KiB", 1024},
        {"MiB", 1048576},
        {"GiB", 1073741824},
        {"TiB", 1099511627776},
        {"PiB", 1125899906842624},
        {"kB", 1000},
        {"MB", 1000000},
        {"GB", 1000000000},
        {"TB", 1000000000000},
        {"PB", 1000000000000000},
        {NULL, 0},
};

static const struct unit time_units[] = {
        {"ns", 1},          {"us", 1000},         {"ms", 1000000}, {"s", 1000000000},
        {"m", 60000000000}, {"h", 3600000000000}, {NULL, 0},
};

/* digits / 10^decimals, and what follows the number. */
struct number {
        uint64_t digits;
        unsigned decimals;
        const char *rest;
};

/* 0; -1 where no number stands here, -2 where it has more than DIGITS_MAX digits that count. */
static int number_read(const char *text, struct number *number)
{
        const char *c = text;
        unsigned count = 0, zeros = 0;
        bool point = false;

        memset(number, 0, sizeof *number);
        if (!isdigit((unsigned char)*c))
                return -1;
        for (;; c++) {
                if (*c == '_' && isdigit((unsigned char)c[-1]) && isdigit((unsigned char)c[1]))
                        continue;
                if (*c == '.' && !point && isdigit((unsigned char)c[1]) && isdigit((unsigned char)c[-1])) {
                        point = true;
                        zeros = 0;
                        continue;
                }
                if (!isdigit((unsigned char)*c))
                        break;
                /* Zeros at the end of decimals do not count, so hold them back until another digit comes. */
                if (point && *c == '0') {
                        zeros++;
                        continue;
                }
                for (; point && zeros; zeros--, number->decimals++, count++)
                        number->digits *= 10;
                if (count + (number->digits || *c != '0') > DIGITS_MAX)
                        return -2;
                count += number->digits || *c != '0';
                number->digits = number->digits * 10 + (uint64_t)(*c - '0');
                number->decimals += point;
        }
        number->rest = c;
        return count <= DIGITS_MAX ? 0 : -2;
}

/* number_read's error in a parser's words: `what` goes on from `"TEXT" is`. */
static int no_number(int code, const char *text, const char *what, struct dbio_err *err)
{
        if (code == -2)
                return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" has more than %d digits", text, DIGITS_MAX);
        return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" is %s", text, what);
}

static double number_double(const struct number *number)
{
        char text[64];

        /* strtod rounds once; a division by a power of ten would round twice. */
        snprintf(text, sizeof text, "%llue-%u", (unsigned long long)number->digits, number->decimals);
        return strtod(text, NULL);
}

static const struct unit *unit_find(const struct unit *units, const char *suffix)
{
        for (; units->suffix; units++)
                if (!strcmp(units->suffix, suffix))
                        return units;
        return NULL;
}

static int number_scale(const struct number *number, uint64_t factor, uint64_t *value)
{
        unsigned __int128 product = (unsigned __int128)number->digits * factor;

        for (unsigned i = 0; i < number->decimals; i++) {
                if (product % 10)
                        return -1;
                product /= 10;
        }
        if (product > VALUE_MAX)
                return -2;
        *value = (uint64_t)product;
        return 0;
}

static int whole_number(const char *text, const char *what, const struct number *number, uint64_t factor,
                        uint64_t *value, struct dbio_err *err)
{
        switch (number_scale(number, factor, value)) {
        case 0:
                return 0;
        case -1:
                return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" is not a whole number of %s", text, what);
        default:
                return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" is too large", text);
        }
}

/* `8k` and `8KB`: what the writer may have meant. */
static int size_hint(const char *text, const struct number *number, struct dbio_err *err)
{
        static const char letters[] = "kmgtp";
        const char *rest = number->rest, *letter = *rest ? strchr(letters, tolower((unsigned char)*rest)) : NULL;
        int n = (int)(rest - text < 30 ? rest - text : 30);

        if (letter &&
            (!rest[1] || !strcasecmp(rest + 1, "b") || !strcasecmp(rest + 1, "ib") || !strcasecmp(rest + 1, "i"))) {
                int big = toupper((unsigned char)*letter), decimal = *letter == 'k' ? 'k' : big;

                return dbio_err_set(err, DBIO_USAGE,
                                    "\"%.60s\" is no size: write %.*s%c or %.*s%ciB (binary), %.*s%cB (decimal)", text,
                                    n, text, big, n, text, big, n, text, decimal);
        }
        return dbio_err_set(
                err, DBIO_USAGE,
                "\"%.60s\" is no size: write bytes, or a number with K M G T (KiB MiB GiB TiB) or kB MB GB TB", text);
}

int dbio_parse_size(const char *text, uint64_t *bytes, struct dbio_err *err)
{
        struct number number;
        const struct unit *unit;
        int code = number_read(text, &number);

        if (code)
                return no_number(code, text, "no size: write a number such as 8K, 1.5GiB or 4096", err);
        unit = unit_find(size_units, number.rest);
        if (!unit)
                return size_hint(text, &number, err);
        return whole_number(text, "bytes", &number, unit->factor, bytes, err);
}

int dbio_parse_time(const char *text, uint64_t *ns, struct dbio_err *err)
{
        struct number number;
        const struct unit *unit;
        int code = number_read(text, &number);

        if (code)
                return no_number(code, text, "no time: write a number with a unit, such as 20ms or 5m", err);
        if (!*number.rest)
                return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" has no unit: write %.30ss or %.30sms (ns us ms s m h)",
                                    text, text, text);
        unit = unit_find(time_units, number.rest);
        if (!unit)
                return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" is no time: the units are ns us ms s m h", text);
        return whole_number(text, "ns", &number, unit->factor, ns, err);
}

int dbio_parse_count(const char *text, uint64_t *count, struct dbio_err *err)
{
        struct number number;
        int code = number_read(text, &number);

        if (code || *number.rest || strchr(text, '.'))
                return no_number(code, text, "no count: write a whole number such as 16 or 10_000", err);
        return whole_number(text, "units", &number, 1, count, err);
}

int dbio_parse_share(const char *text, double *share, struct dbio_err *err)
{
        static const char what[] = "no share: write a percentage such as 30%";
        struct number number;
        int code = number_read(text, &number);

        if (code)
                return no_number(code, text, what, err);
        if (!*number.rest) {
                char percent[64];

                dbio_format_factor(number_double(&number) * 100, percent, sizeof percent);
                if (number_double(&number) <= 1)
                        return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" has no percent sign: write %.30s%% or %s%%",
                                            text, text, percent);
                return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" has no percent sign: write %.30s%%", text, text);
        }
        if (strcmp(number.rest, "%"))
                return no_number(-1, text, what, err);
        if (number_double(&number) > 100)
                return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" is over 100%%", text);
        *share = number_double(&number) / 100;
        return 0;
}

int dbio_parse_factor(const char *text, double *factor, struct dbio_err *err)
{
        static const char what[] = "no number: write a decimal such as 0.75";
        struct number number;
        int code = number_read(text, &number);

        if (code)
                return no_number(code, text, what, err);
        if (!strcmp(number.rest, "%"))
                return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" is a share where a plain decimal such as 0.75 belongs",
                                    text);
        if (*number.rest)
                return no_number(-1, text, what, err);
        if (number_double(&number) > DOUBLE_MAX)
                return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" is too large", text);
        *factor = number_double(&number);
        return 0;
}

static int rate_error(const char *text, bool ops, bool bytes, struct dbio_err *err)
{
        return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" is no rate: write %s%s%s", text, ops ? "500/s" : "",
                            ops && bytes ? " or " : "", bytes ? "100MiB/s" : "");
}

int dbio_parse_rate(const char *text, double *ops_per_s, double *bytes_per_s, struct dbio_err *err)
{
        struct number number;
        char suffix[8];
        const char *slash;
        const struct unit *unit;
        int code = number_read(text, &number);

        if (code)
                return code == -2 ? no_number(code, text, "", err) : rate_error(text, ops_per_s, bytes_per_s, err);
        if (!*number.rest && ops_per_s)
                return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" has no unit: write %.30s/s", text, text);
        slash = strchr(number.rest, '/');
        if (!slash || strcmp(slash, "/s") || (size_t)(slash - number.rest) >= sizeof suffix)
                return rate_error(text, ops_per_s, bytes_per_s, err);
        snprintf(suffix, sizeof suffix, "%.*s", (int)(slash - number.rest), number.rest);
        unit = unit_find(size_units, suffix);
        if (!unit && bytes_per_s) {
                struct dbio_err why = {0};
                char size[64];
                uint64_t bytes;

                snprintf(size, sizeof size, "%.*s", (int)(slash - text), text);
                if (dbio_parse_size(size, &bytes, &why))
                        return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" is no rate: %s", text, why.message);
        }
        if (!unit || (*suffix && !bytes_per_s) || (!*suffix && !ops_per_s))
                return rate_error(text, ops_per_s, bytes_per_s, err);
        if (number_double(&number) * (double)unit->factor > DOUBLE_MAX)
                return dbio_err_set(err, DBIO_USAGE, "\"%.60s\" is too large", text);
        if (ops_per_s)
                *ops_per_s = *suffix ? NAN : number_double(&number);
        if (bytes_per_s)
                *bytes_per_s = *suffix ? number_double(&number) * (double)unit->factor : NAN;
        return 0;
}

void dbio_format_size(uint64_t bytes, char *text, unsigned long size)
{
        char best[32], candidate[32];

        snprintf(best, sizeof best, "%llu", (unsigned long long)bytes);
        for (const struct unit *unit = size_units; unit->suffix && bytes; unit++) {
                if (bytes % unit->factor)
                        continue;
                snprintf(candidate, sizeof candidate, "%llu%s", (unsigned long long)(bytes / unit->factor),
                         unit->suffix);
                if (strlen(candidate) < strlen(best))
                        strcpy(best, candidate);
        }
        snprintf(text, size, "%s", best);
}

void dbio_format_time(uint64_t ns, char *text, unsigned long size)
{
        char best[40], candidate[40];

        snprintf(best, sizeof best, ns ? "%lluns" : "0s", (unsigned long long)ns);
        for (const struct unit *unit = time_units; unit->suffix && unit->factor <= ns; unit++) {
                uint64_t fraction = ns % unit->factor;
                unsigned decimals = 0;

                while (fraction && decimals < 6) {
                        fraction = fraction * 10 % unit->factor;
                        decimals++;
                }
                if (fraction || (decimals && unit->factor > 1000000000))
                        continue;
                snprintf(candidate, sizeof candidate, "%llu", (unsigned long long)(ns / unit->factor));
                if (decimals) {
                        uint64_t scaled = ns % unit->factor;

                        for (unsigned i = 0; i < decimals; i++)
                                scaled *= 10;
                        snprintf(candidate + strlen(candidate), sizeof candidate - strlen(candidate), ".%0*llu",
                                 (int)decimals, (unsigned long long)(scaled / unit->factor));
                }
                snprintf(candidate + strlen(candidate), sizeof candidate - strlen(candidate), "%s", unit->suffix);
                if (strlen(candidate) <= strlen(best))
                        strcpy(best, candidate);
        }
        snprintf(text, size, "%s", best);
}

void dbio_format_factor(double factor, char *text, unsigned long size)
{
        for (int decimals = 0; decimals <= DIGITS_MAX; decimals++) {
                snprintf(text, size, "%.*f", decimals, factor);
                if (strtod(text, NULL) == factor)
                        return;
        }
}

void dbio_format_share(double share, char *text, unsigned long size)
{
        for (int decimals = 0; decimals <= DIGITS_MAX; decimals++) {
                snprintf(text, size, "%.*f%%", decimals, share * 100);
                if (fabs(strtod(text, NULL) / 100 - share) <= 1e-15 * share)
                        return;
        }
}

void dbio_format_rate(double per_s, int bytes, char *text, unsigned long size)
{
        bool whole_bytes = per_s == floor(per_s) && per_s > 0 && per_s < (double)VALUE_MAX;

        if (!bytes) {
                dbio_format_factor(per_s, text, size);
        } else {
                if (whole_bytes)
                        dbio_format_size((uint64_t)per_s, text, size);
                /* A number without a unit would be ops. */
                if (!whole_bytes || isdigit((unsigned char)text[strlen(text) - 1])) {
                        dbio_format_factor(per_s / 1000, text, size);
                        snprintf(text + strlen(text), size - strlen(text), "kB");
                }
        }
        snprintf(text + strlen(text), size - strlen(text), "/s");
}
