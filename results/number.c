#include "results/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

char *dbio_number_group(char *text, size_t size, double value, int decimals)
{
        char plain[64], grouped[96];
        size_t digits, used = 0;
        const char *p = plain;

        if (!isfinite(value) || fabs(value) >= 1e30) {
                snprintf(text, size, "-");
                return text;
        }
        snprintf(plain, sizeof plain, "%.*f", decimals, value);
        /* -0.0 is no figure. */
        if (plain[0] == '-' && strspn(plain + 1, "0.") == strlen(plain + 1))
                p++;
        if (*p == '-')
                grouped[used++] = *p++;
        digits = strcspn(p, ".");
        while (digits) {
                grouped[used++] = *p++;
                if (--digits && digits % 3 == 0)
                        grouped[used++] = ',';
        }
        grouped[used] = 0;
        snprintf(text, size, "%s%s", grouped, p);
        return text;
}

char *dbio_number_short(char *text, size_t size, double value)
{
        double magnitude = fabs(value);
        int decimals = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : magnitude >= 0.9995 ? 2 : 3;

        return dbio_number_group(text, size, value, value == 0 ? 0 : decimals);
}

/* Decimals that show so many digits of a width in percent points; more than one only where the width is below 0.1. */
static int decimals_of(double width, int digits)
{
        int decimals;

        if (!(width > 0))
                return 1;
        decimals = digits - 1 - (int)floor(log10(width) + 1e-9);
        return decimals < 0 ? 0 : decimals > 1 ? 1 + (width < 0.1) : decimals;
}

static char *change_text(char *text, size_t size, double b, double half, int digits)
{
        char number[DBIO_NUMBER_SIZE];
        double factor = exp(b);
        double width = factor * half;

        if (!isfinite(factor) || factor <= 0) {
                snprintf(text, size, "-");
        } else if (factor > 2) {
                int decimals = factor >= 100 ? 0 : 1;

                if (width > 0 && decimals_of(width, digits) < decimals)
                        decimals = decimals_of(width, digits);
                snprintf(text, size, "x %s", dbio_number_group(number, sizeof number, factor, decimals));
        } else {
                double percent = 100 * expm1(b);

                dbio_number_group(number, sizeof number, fabs(percent), decimals_of(100 * width, digits));
                if (strspn(number, "0.") == strlen(number))
                        snprintf(text, size, "%s %%", half > 0 && decimals_of(100 * width, digits) == 0 ? "0" : "0.0");
                else
                        snprintf(text, size, "%s%s %%", percent < 0 ? "-" : "+", number);
        }
        return text;
}

char *dbio_number_change(char *text, size_t size, double b, double half)
{
        return change_text(text, size, b, half, 2);
}

char *dbio_number_bound(char *text, size_t size, double b, double half)
{
        /* One digit of a half of 6 %, two of 2.2 or 10.5 %: one of those would move the bound by a quarter of it. */
        double lead = half > 0 ? half / pow(10, floor(log10(half) + 1e-9)) : 0;

        return change_text(text, size, b, half, lead < 3 ? 2 : 1);
}

char *dbio_number_percent(char *text, size_t size, double share)
{
        char number[DBIO_NUMBER_SIZE];
        double percent = 100 * fabs(share);
        int decimals = percent >= 1.95 ? 0 : percent >= 0.095 ? 1 : percent > 0 ? 2 : 0;

        snprintf(text, size, "%s %%", dbio_number_group(number, sizeof number, percent, decimals));
        return text;
}
