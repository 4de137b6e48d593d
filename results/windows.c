#include "results/windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECOVERED_SHARE 0.95
#define RECOVERED_ROW 3
#define WHOLE_SHARE 0.9 /* the last interval counts where it is nearly whole */

/* The time of an interval: the last one ends with the phase. */
static uint64_t interval_length(const struct dbio_window_input *in, uint64_t i)
{
        uint64_t start = i * in->interval_ns;

        if (start >= in->duration_ns)
                return 0;
        return in->duration_ns - start < in->interval_ns ? in->duration_ns - start : in->interval_ns;
}

static uint64_t span_end(const struct dbio_window_input *in, unsigned e)
{
        return in->episodes[e].end_ns < in->duration_ns ? in->episodes[e].end_ns : in->duration_ns;
}

static uint64_t next_begin(const struct dbio_window_input *in, unsigned e)
{
        return e + 1 < in->nepisodes ? in->episodes[e + 1].begin_ns : UINT64_MAX;
}

static uint64_t overlap(uint64_t from, uint64_t to, uint64_t start, uint64_t length)
{
        uint64_t a = from > start ? from : start, b = to < start + length ? to : start + length;

        return b > a ? b - a : 0;
}

/* Time in which an episode ran, an interval; episodes that overlap count once. */
static void fill_inside(const struct dbio_window_input *in, uint64_t *inside_ns)
{
        uint64_t covered = 0;

        for (unsigned e = 0; e < in->nepisodes; e++) {
                uint64_t from = in->episodes[e].begin_ns, to = span_end(in, e);

                if (from < covered)
                        from = covered;
                for (uint64_t i = from / in->interval_ns; i < in->nintervals && i * in->interval_ns < to; i++)
                        inside_ns[i] += overlap(from, to, i * in->interval_ns, interval_length(in, i));
                if (to > covered)
                        covered = to;
        }
}

static double rate_of(const struct dbio_window_input *in, uint64_t i)
{
        uint64_t length = interval_length(in, i);

        return length ? (double)(in->inside[i] + in->outside[i]) * 1e9 / (double)length : 0;
}

static int is_whole(const struct dbio_window_input *in, uint64_t i)
{
        return i < in->nintervals && (double)interval_length(in, i) >= WHOLE_SHARE * (double)in->interval_ns;
}

static int compare_doubles(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

static double median_rate(const struct dbio_window_input *in, const uint64_t *inside_ns, double *rates)
{
        unsigned n = 0;

        for (unsigned i = 0; i < in->nintervals; i++)
                if (!inside_ns[i] && is_whole(in, i))
                        rates[n++] = rate_of(in, i);
        if (!n)
                return NAN;
        qsort(rates, n, sizeof *rates, compare_doubles);
        return n % 2 ? rates[n / 2] : (rates[n / 2 - 1] + rates[n / 2]) / 2;
}

/* The interval with which an episode's recovery begins; UINT64_MAX = none. */
static uint64_t find_recovery(const struct dbio_window_input *in, unsigned e, double median)
{
        uint64_t end = in->episodes[e].end_ns, next = next_begin(in, e);
        unsigned row = 0;

        if (end == UINT64_MAX || isnan(median))
                return UINT64_MAX;
        for (uint64_t i = (end + in->interval_ns - 1) / in->interval_ns; is_whole(in, i); i++) {
                if (next != UINT64_MAX && (i + 1) * in->interval_ns > next)
                        return UINT64_MAX;
                row = rate_of(in, i) >= RECOVERED_SHARE * median ? row + 1 : 0;
                if (row == RECOVERED_ROW)
                        return i + 1 - RECOVERED_ROW;
        }
        return UINT64_MAX;
}

/* Marks the intervals after an episode. [first, last) are those of its `after`. */
static void after_range(const struct dbio_window_input *in, unsigned e, uint64_t recovered, uint64_t *first,
                        uint64_t *last)
{
        uint64_t next = next_begin(in, e);

        *first = *last = 0;
        if (in->episodes[e].end_ns >= in->duration_ns || next <= in->episodes[e].end_ns)
                return;
        *first = in->episodes[e].end_ns / in->interval_ns;
        if (recovered != UINT64_MAX)
                *last = recovered;
        else if (next != UINT64_MAX && (next + in->interval_ns - 1) / in->interval_ns < in->nintervals)
                *last = (next + in->interval_ns - 1) / in->interval_ns;
        else
                *last = in->nintervals;
}

struct sums {
        double ios, ns;
};

/* Reads and writes, and time, of one episode's during and after. */
static struct sums affected_of(const struct dbio_window_input *in, unsigned e, uint64_t first, uint64_t last,
                               const uint64_t *inside_ns)
{
        struct sums sums = {0, 0};
        uint64_t from = in->episodes[e].begin_ns, to = span_end(in, e);

        for (uint64_t i = from / in->interval_ns; i < in->nintervals && i * in->interval_ns < to; i++) {
                double part = (double)overlap(from, to, i * in->interval_ns, interval_length(in, i));

                if (inside_ns[i])
                        sums.ios += (double)in->inside[i] * part / (double)inside_ns[i];
                sums.ns += part;
        }
        for (uint64_t i = first; i < last; i++) {
                sums.ios += (double)in->outside[i];
                sums.ns += (double)(interval_length(in, i) - inside_ns[i]);
        }
        return sums;
}

/* Quiet time between two moments. */
static struct sums quiet_between(const struct dbio_window_input *in, uint64_t from, uint64_t to,
                                 const unsigned char *outside, const uint64_t *inside_ns)
{
        struct sums sums = {0, 0};

        for (uint64_t i = from / in->interval_ns; i < in->nintervals && i * in->interval_ns < to; i++)
                if (outside[i] == DBIO_QUIET) {
                        sums.ios += (double)in->outside[i];
                        sums.ns += (double)(interval_length(in, i) - inside_ns[i]);
                }
        return sums;
}

static void fill_recoveries(const struct dbio_window_input *in, const uint64_t *inside_ns,
                            struct dbio_window_result *out)
{
        struct sums before = quiet_between(in, 0, in->nepisodes ? in->episodes[0].begin_ns : 0, out->outside, inside_ns);

        for (unsigned e = 0; e < in->nepisodes; e++) {
                struct dbio_window_recovery *r = &out->recoveries[e];
                uint64_t first, last;

                after_range(in, e, r->recovered_ns == UINT64_MAX ? UINT64_MAX : r->recovered_ns / in->interval_ns,
                            &first, &last);
                struct sums affected = affected_of(in, e, first, last, inside_ns);
                r->iops_affected = affected.ns > 0 ? affected.ios * 1e9 / affected.ns : NAN;
                struct sums quiet = {0, 0};
                if (r->recovered_ns != UINT64_MAX)
                        quiet = quiet_between(in, r->recovered_ns, next_begin(in, e), out->outside, inside_ns);
                if (quiet.ns <= 0)
                        quiet = before;
                r->iops_quiet = quiet.ns > 0 ? quiet.ios * 1e9 / quiet.ns : NAN;
                before = quiet;
        }
}

int dbio_windows_cut(const struct dbio_window_input *in, struct dbio_window_result *out)
{
        uint64_t *inside_ns = calloc(in->nintervals + 1, sizeof *inside_ns);
        double *rates = calloc(in->nintervals + 1, sizeof *rates);
        int code = -1;

        if (!inside_ns || !rates)
                goto out;
        fill_inside(in, inside_ns);
        out->median_rate = median_rate(in, inside_ns, rates);
        memset(out->outside, DBIO_QUIET, in->nintervals);
        for (unsigned e = 0; e < in->nepisodes; e++) {
                uint64_t first, last, recovered = find_recovery(in, e, out->median_rate);

                after_range(in, e, recovered, &first, &last);
                for (uint64_t i = first; i < last; i++)
                        out->outside[i] = DBIO_AFTER;
                out->recoveries[e].recovered_ns = recovered == UINT64_MAX ? UINT64_MAX : recovered * in->interval_ns;
        }
        memset(out->duration_ns, 0, sizeof out->duration_ns);
        for (unsigned i = 0; i < in->nintervals; i++) {
                out->duration_ns[DBIO_DURING] += inside_ns[i];
                out->duration_ns[out->outside[i]] += interval_length(in, i) - inside_ns[i];
        }
        out->duration_ns[DBIO_AFFECTED] = out->duration_ns[DBIO_DURING] + out->duration_ns[DBIO_AFTER];
        fill_recoveries(in, inside_ns, out);
        code = 0;
out:
        free(inside_ns);
        free(rates);
        return code;
}
