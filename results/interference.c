#include "results/interference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/number.h"
#include "results/stat_dist.h"

struct moments {
        unsigned nr;
        double mean, squares;
};

static void moments_add(struct moments *moments, double value)
{
        double step = value - moments->mean;

        moments->mean += step / ++moments->nr;
        moments->squares += step * (value - moments->mean);
}

void dbio_interference_measure(const struct dbio_interference_episode *episodes, unsigned nr,
                               struct dbio_interference *interference)
{
        struct moments all = {0}, runs = {0}, run = {0}, recovery = {0};
        const struct moments *unit;
        unsigned last = 0;

        for (unsigned i = 0; i < nr; i++) {
                const struct dbio_interference_episode *e = &episodes[i];

                if (!(e->quiet > 0 && e->affected > 0))
                        continue;
                if (run.nr && e->run != last) {
                        moments_add(&runs, run.mean);
                        run = (struct moments){0};
                }
                last = e->run;
                moments_add(&run, log(e->affected / e->quiet));
                moments_add(&all, log(e->affected / e->quiet));
                if (e->recovered_ns != UINT64_MAX && e->recovered_ns >= e->begin_ns)
                        moments_add(&recovery, (double)(e->recovered_ns - e->begin_ns));
        }
        if (run.nr)
                moments_add(&runs, run.mean);
        unit = runs.nr >= 3 ? &runs : &all;
        *interference = (struct dbio_interference){
                .episodes = all.nr,
                .runs = runs.nr,
                .change = all.nr ? expm1(unit->mean) : NAN,
                .low = NAN,
                .high = NAN,
                .recovered = recovery.nr,
                .recovery_ns = recovery.nr ? recovery.mean : NAN,
        };
        if (unit->nr >= 3 && (runs.nr == 1 || runs.nr >= 3)) {
                double half =
                        dbio_stat_t_quantile(0.975, unit->nr - 1) * sqrt(unit->squares / (unit->nr - 1) / unit->nr);

                interference->bounded = true;
                interference->low = expm1(unit->mean - half);
                interference->high = expm1(unit->mean + half);
        }
}

bool dbio_interference_falls(const struct dbio_interference_figures *figures)
{
        const struct dbio_interference *effect = &figures->effect;

        if (!effect->episodes)
                return false;
        return effect->bounded ? effect->high < 0 && effect->change <= -0.01 : effect->change <= -0.05;
}

/* A mean that fell, but by so different amounts that the interval contains 0: neither a fall nor a rate kept. */
static bool loss_unsure(const struct dbio_interference_figures *figures)
{
        return figures->effect.bounded && figures->effect.change <= -0.05;
}

static bool mean_rises(const struct dbio_interference_figures *figures)
{
        return figures->affected_mean_ns >= 1.10 * figures->quiet_mean_ns;
}

bool dbio_interference_seen(const struct dbio_interference_figures *figures)
{
        return dbio_interference_falls(figures) || mean_rises(figures);
}

/* "-45 %, 95 % CI -47..-43", or without the interval what it lacks. */
static void change_text(char *text, size_t size, const struct dbio_interference *effect)
{
        bool fine = effect->high - effect->low < 0.01 || fabs(effect->low) < 0.005 || fabs(effect->high) < 0.005;
        int decimals = effect->bounded && fine ? 1 : 0; /* no bound of "-0" */

        if (effect->bounded)
                snprintf(text, size, "%+.*f %%, 95 %% CI %+.*f..%+.*f", decimals, 100 * effect->change, decimals,
                         100 * effect->low, decimals, 100 * effect->high);
        else
                snprintf(text, size, "%+.0f %%, %u episode%s: too few for an interval", 100 * effect->change,
                         effect->episodes, effect->episodes == 1 ? "" : "s");
}

/* 7.1 s, 60 s, 850 ms. */
static char *span_text(char *text, size_t size, double ns)
{
        char number[DBIO_NUMBER_SIZE];
        double seconds = ns / 1e9;

        if (seconds < 0.95)
                snprintf(text, size, "%s ms", dbio_number_group(number, sizeof number, ns / 1e6, 0));
        else
                snprintf(text, size, "%s s",
                         dbio_number_group(number, sizeof number, seconds,
                                           fabs(seconds - nearbyint(seconds)) < 0.05 || seconds >= 100 ? 0 : 1));
        return text;
}

char *dbio_interference_sentence(char *text, size_t size, const struct dbio_interference_figures *f)
{
        char from[DBIO_NUMBER_SIZE], to[DBIO_NUMBER_SIZE], change[96], rate[256] = "", mean[160] = "", time[96] = "";
        char span[DBIO_NUMBER_SIZE], period[DBIO_NUMBER_SIZE];
        bool falls = dbio_interference_falls(f), rises = mean_rises(f);

        if (!falls && !rises) {
                snprintf(text, size, "%s: no change seen while %s works.", f->stream, f->other);
                return text;
        }
        if (f->affected_ns > 0 && f->affected_ns >= 0.99 * f->period_ns)
                snprintf(time, sizeof time, " from one episode to the next");
        else if (f->affected_ns > 0 && f->period_ns > 0)
                snprintf(time, sizeof time, " for %s in every %s", span_text(span, sizeof span, f->affected_ns),
                         span_text(period, sizeof period, f->period_ns));
        else if (f->affected_ns > 0)
                snprintf(time, sizeof time, " for %s", span_text(span, sizeof span, f->affected_ns));
        if (falls) {
                change_text(change, sizeof change, &f->effect);
                snprintf(rate, sizeof rate, "falls from %s to %s IOPS (%s)",
                         dbio_number_short(from, sizeof from, f->quiet_iops),
                         dbio_number_short(to, sizeof to, f->affected_iops), change);
        } else if (loss_unsure(f)) {
                change_text(change, sizeof change, &f->effect);
                snprintf(rate, sizeof rate, "may lose rate (%s)", change);
        } else {
                snprintf(rate, sizeof rate, "keeps its rate");
        }
        if (rises)
                snprintf(mean, sizeof mean, "%s the average %s rises from %s to %s ms",
                         falls ? ";" : loss_unsure(f) ? ", and" : ", but", f->op,
                         dbio_number_short(from, sizeof from, f->quiet_mean_ns / 1e6),
                         dbio_number_short(to, sizeof to, f->affected_mean_ns / 1e6));
        snprintf(text, size, "While %s works, %s %s%s%s%s.", f->other, f->stream, rate, falls ? time : "", mean,
                 falls ? "" : time);
        return text;
}
