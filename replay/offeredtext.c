#include "replay/offered.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/demand.h"
#include "replay/differences.h"

const struct dbio_offered_phase *dbio_offered_partner(const struct dbio_offered *other, const struct dbio_offered_phase *phase,
                                                unsigned place)
{
        for (unsigned i = 0; i < other->nphases; i++)
                if (!strcmp(other->phases[i].name, phase->name))
                        return &other->phases[i];
        return place < other->nphases ? &other->phases[place] : NULL;
}

static bool is_bytes(int figure)
{
        return figure == DBIO_OFFERED_READ_SIZE || figure == DBIO_OFFERED_WRITE_SIZE || figure == DBIO_OFFERED_LOG_BYTES ||
               figure == DBIO_OFFERED_EPISODE_BYTES;
}

const char *dbio_offered_bytes(double bytes, char text[40])
{
        static const char *const units[] = {"B", "K", "M", "G", "T"};
        int unit = 0;

        for (; bytes >= 1024 && unit < 4; unit++)
                bytes /= 1024;
        snprintf(text, 40, unit ? "%.1f%s" : "%.0f%s", bytes, units[unit]);
        return text;
}

const char *dbio_offered_count(double value, char text[40])
{
        char digits[40];
        size_t n, out = 0;

        if (value < 100) {
                snprintf(text, 40, value < 10 ? "%.2f" : "%.1f", value);
                return text;
        }
        n = (size_t)snprintf(digits, sizeof digits, "%.0f", fmin(value, 1e18));
        for (size_t i = 0; i < n; i++) {
                if (i && (n - i) % 3 == 0)
                        text[out++] = ',';
                text[out++] = digits[i];
        }
        text[out] = 0;
        return text;
}

const char *dbio_offered_text(int figure, double value, char text[40])
{
        if (isnan(value))
                return strcpy(text, "-");
        return is_bytes(figure) ? dbio_offered_bytes(value, text) : dbio_offered_count(value, text);
}

const char *dbio_offered_change(double a, double b, char text[40])
{
        if (isnan(a) || isnan(b) || !(a > 0))
                return strcpy(text, isnan(a) != isnan(b) ? (isnan(a) ? "new" : "gone") : "");
        double change = b / a - 1;
        if (fabs(change) < 0.0005)
                return strcpy(text, "same");
        if (b >= 2 * a)
                snprintf(text, 40, "x %.1f", b / a);
        else
                snprintf(text, 40, fabs(change) < 0.1 ? "%+.1f %%" : "%+.0f %%", 100 * change);
        return text;
}

/* The demand of a resolved text, on targets of no size of their own. */
static int measure(struct dbio_offered *offered, const char *text)
{
        struct dbio_target_options options = {.null_engine = true, .create = true};
        struct dbio_workload workload = {0};
        struct dbio_targets targets = {0};
        struct dbio_geometry *geometry = NULL;
        struct dbio_schedule *schedule = NULL;
        struct dbio_err ignored = {0};
        int code;

        if (dbio_workload_load_text(&workload, "run", text, strlen(text), NULL, 0, &ignored))
                return -1;
        code = dbio_targets_resolve(&targets, workload.targets, workload.ntargets, NULL, 0, &options, &ignored);
        if (!code)
                geometry = dbio_geometry_list(&targets);
        if (!code)
                code = dbio_workload_compile(&workload, geometry, &schedule, &ignored);
        if (!code)
                code = dbio_offered_measure(offered, schedule, &workload, &ignored);
        if (schedule)
                schedule->free(schedule);
        free(geometry);
        dbio_targets_close(&targets);
        dbio_workload_release(&workload);
        return code;
}

static void print_changed(FILE *out, const struct dbio_offered_phase *a, const struct dbio_offered_phase *b, bool name)
{
        double x[DBIO_OFFERED_FIGURES], y[DBIO_OFFERED_FIGURES];
        char left[40], right[40], change[40], label[120];

        dbio_offered_sum(a, x);
        dbio_offered_sum(b, y);
        for (int f = 0; f < DBIO_OFFERED_PEAK; f++) {
                if ((isnan(x[f]) && isnan(y[f])) || fabs(y[f] / x[f] - 1) < 0.005)
                        continue;
                snprintf(label, sizeof label, "offered %s%s%s", dbio_offered_names[f], name ? ", " : "", name ? a->name : "");
                fprintf(out, "%-28s  %s -> %s   (%s)\n", label, dbio_offered_text(f, x[f], left), dbio_offered_text(f, y[f], right),
                        dbio_offered_change(x[f], y[f], change));
        }
}

char *dbio_offered_differences(const char *base, const char *new_)
{
        char *keys = dbio_differences(base, new_), *text = NULL;
        struct dbio_offered a = {0}, b = {0};
        size_t size;
        FILE *out;

        if (!keys || !*keys || !(out = open_memstream(&text, &size)))
                return keys;
        fputs(keys, out);
        if (!measure(&a, base) && !measure(&b, new_))
                for (unsigned p = 0; p < a.nphases; p++) {
                        const struct dbio_offered_phase *other = dbio_offered_partner(&b, &a.phases[p], p);

                        if (other)
                                print_changed(out, &a.phases[p], other, a.nphases > 1);
                }
        dbio_offered_release(&a);
        dbio_offered_release(&b);
        free(keys);
        return fclose(out) ? NULL : text;
}
