#include "results/study_state.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/op.h"
#include "engine/stream.h"
#include "results/number.h"
#include "results/text.h"

#define KNEE         1.05 /* a later value counts where it is so much more */
#define BEYOND       1.25 /* so much further must have been tried */
#define DEVICE_LIMIT 1.10 /* the device is the limit where another one gains so much */
#define BAR          40   /* columns of the longest bar */
#define LINES_MAX    20u  /* of a scaling curve */

bool dbio_study_number(const char *text, double *number)
{
        char digits[64];
        unsigned n = 0;

        for (; *text && strchr("0123456789._", *text) && n + 1 < sizeof digits; text++)
                if (*text != '_')
                        digits[n++] = *text;
        digits[n] = 0;
        *number = n ? strtod(digits, NULL) : NAN;
        return n && isdigit((unsigned char)digits[0]);
}

static double curve_at(const struct dbio_study_curve *curve, double n)
{
        switch (curve->shape) {
        case DBIO_STUDY_CEILING:
                return curve->rate * n < curve->a ? curve->rate * n : curve->a;
        case DBIO_STUDY_LOG:
                return curve->rate + curve->a * log(n);
        default:
                return curve->rate * n / (1 + curve->a * (n - 1) + curve->b * n * (n - 1));
        }
}

static double residual_of(const struct dbio_study_curve *curve, const double *n, const double *x, unsigned count)
{
        double sum = 0;

        for (unsigned i = 0; i < count; i++) {
                double off = curve_at(curve, n[i]) / x[i] - 1;
                sum += off * off;
        }
        return sqrt(sum / count);
}

static void keep_better(struct dbio_study_curve *best, struct dbio_study_curve curve, const double *n, const double *x,
                        unsigned count)
{
        curve.residual = residual_of(&curve, n, x, count);
        if (curve.residual < best->residual - 1e-9)
                *best = curve;
}

/* The factor of f that comes nearest to x, by relative differences. */
static double factor(const double *f, const double *x, unsigned from, unsigned to)
{
        double sum = 0, squares = 0;

        for (unsigned i = from; i < to; i++) {
                double ratio = (f ? f[i] : 1) / x[i];
                sum += ratio;
                squares += ratio * ratio;
        }
        return sum / squares;
}

/* y = p + q t, each point weighted by 1/x^2: sums over both. */
static void line(const double *t, const double *y, const double *x, unsigned count, double *p, double *q)
{
        double w = 0, wt = 0, wy = 0, wtt = 0, wty = 0;

        for (unsigned i = 0; i < count; i++) {
                double weight = 1 / (x[i] * x[i]);
                w += weight;
                wt += weight * t[i];
                wy += weight * y[i];
                wtt += weight * t[i] * t[i];
                wty += weight * t[i] * y[i];
        }
        *q = (w * wty - wt * wy) / (w * wtt - wt * wt);
        *p = (wy - *q * wt) / w;
}

/* The law is linear in n/x: n/x = p (1 + a (n - 1) + b n (n - 1)); for each b that is tried, p and a come by a line. */
static void fit_usl(const double *n, const double *x, unsigned count, struct dbio_study_curve *best)
{
        double *t = calloc(count, sizeof *t), *y = calloc(count, sizeof *y);

        for (double b = 0; b<0.1; b = b> 0 ? b * 1.5 : 1e-6) {
                double rate = x[0] / n[0], p, q;
                for (unsigned turn = 0, steady = 0; turn < 20 && !steady; turn++) {
                        for (unsigned i = 0; i < count; i++) {
                                t[i] = n[i] - 1;
                                y[i] = n[i] / x[i] - b * n[i] * (n[i] - 1) / rate;
                        }
                        line(t, y, y, count, &p, &q);
                        if (!(p > 0))
                                break;
                        steady = fabs(1 / p / rate - 1) < 1e-6;
                        rate = 1 / p;
                        if (q >= 0)
                                keep_better(best, (struct dbio_study_curve){DBIO_STUDY_USL, rate, q / p, b, 0, 0}, n, x,
                                            count);
                }
        }
        free(t);
        free(y);
}

void dbio_study_curve_fit(const double *n, const double *x, unsigned count, struct dbio_study_curve *curve)
{
        double *logs = calloc(count, sizeof *logs), p, q, most = 0;

        *curve = (struct dbio_study_curve){
                .shape = DBIO_STUDY_CEILING, .rate = x[0] / n[0], .a = INFINITY, .residual = INFINITY};
        for (unsigned split = count; split; split--)
                keep_better(curve,
                            (struct dbio_study_curve){DBIO_STUDY_CEILING, factor(n, x, 0, split),
                                                      split < count ? factor(NULL, x, split, count) : INFINITY, 0, 0,
                                                      0},
                            n, x, count);
        for (unsigned i = 0; i < count; i++)
                logs[i] = log(n[i]);
        line(logs, x, x, count, &p, &q);
        keep_better(curve, (struct dbio_study_curve){DBIO_STUDY_LOG, p, q, 0, 0, 0}, n, x, count);
        fit_usl(n, x, count, curve);
        free(logs);
        curve->knee = count - 1;
        for (unsigned i = count; i-- > 0;) {
                most = x[i] > most ? x[i] : most;
                if (x[i] * KNEE < most)
                        break;
                curve->knee = i;
        }
        if (n[count - 1] < BEYOND * n[curve->knee]) /* what comes after is too near to say */
                curve->knee = count - 1;
}

static void print_bar(FILE *out, double share)
{
        int length = (int)lround(share * BAR);

        for (int i = 0; i < (length ? length : 1); i++)
                fputc('#', out);
}

/* Of many values those a fifth apart, the knee and the last are shown. */
static bool worth_a_line(const double *n, unsigned count, unsigned i, unsigned knee, double *shown)
{
        if (count > LINES_MAX && i && i + 1 < count && i != knee && n[i] < 1.2 * *shown)
                return false;
        *shown = n[i];
        return true;
}

static void print_curve(const struct dbio_study_state *study, FILE *out, const double *n, const double *x,
                        unsigned count)
{
        struct dbio_study_curve curve;
        double most = 0, shown = 0;
        const char *axis = strrchr(study->axes[0], '.') ? strrchr(study->axes[0], '.') + 1 : study->axes[0];
        char a[DBIO_NUMBER_SIZE], b[DBIO_NUMBER_SIZE];

        dbio_study_curve_fit(n, x, count, &curve);
        for (unsigned i = 0; i < count; i++)
                most = x[i] > most ? x[i] : most;
        for (unsigned i = 0; i < count; i++) {
                if (!worth_a_line(n, count, i, curve.knee, &shown))
                        continue;
                fprintf(out, "    %8s %10s  %4.0f %%  ", dbio_number_group(a, sizeof a, n[i], 0),
                        dbio_number_short(b, sizeof b, x[i]), 100 * (x[i] / n[i]) / (x[0] / n[0]));
                print_bar(out, x[i] / most);
                fputs(i == curve.knee ? "  <- knee\n" : "\n", out);
        }
        dbio_number_short(a, sizeof a, curve.rate);
        dbio_number_short(b, sizeof b, curve.a);
        if (curve.shape == DBIO_STUDY_USL)
                fprintf(out, "    fit: %s n / (1 + %.4f (n - 1) + %.6f n (n - 1))", a, curve.a, curve.b);
        else if (curve.shape == DBIO_STUDY_LOG)
                fprintf(out, "    fit: %s + %s ln n", a, b);
        else if (isinf(curve.a))
                fprintf(out, "    fit: %s n", a);
        else
                fprintf(out, "    fit: %s n, at most %s", a, b);
        fprintf(out, "; residual %.1f %%\n", 100 * curve.residual);
        dbio_number_group(a, sizeof a, n[curve.knee], 0);
        if (curve.knee + 1 < count)
                fprintf(out, "    It stops scaling at %s %s: beyond, up to %s, there is less than 5 %% more.\n", a,
                        axis, dbio_number_group(b, sizeof b, n[count - 1], 0));
        else
                fprintf(out, "    It still scales at %s %s, the most that was tried.\n", a, axis);
}

void dbio_study_print_scaling(const struct dbio_study_state *study, FILE *out)
{
        double *n = calloc(study->ncells + 1, sizeof *n), *x = calloc(study->ncells + 1, sizeof *x);

        for (unsigned r = 0; r < study->nrows; r++) {
                const struct dbio_run_figures *row = study->rows[r];
                enum dbio_study_metric metric = dbio_study_metric_of(study, row);
                unsigned count = 0;
                if (metric == DBIO_STUDY_MEAN_MS)
                        continue;
                for (unsigned i = 0; i < study->ncells; i++) {
                        double value = dbio_study_values_of(study, row, metric, i, 0).mean;
                        if (isnan(value) || !dbio_study_number(study->cells[i].values[0], &n[count]))
                                continue;
                        x[count++] = value;
                }
                if (count < 3)
                        continue;
                fprintf(out, "  %s  %s %s  %s\n", row->phase, row->stream, dbio_kind_name((unsigned)row->kind),
                        metric == DBIO_STUDY_IOPS ? "IOPS" : "MiB/s");
                fprintf(out, "    %8s %10s  of n x the first\n", "n", metric == DBIO_STUDY_IOPS ? "IOPS" : "MiB/s");
                print_curve(study, out, n, x, count);
        }
        free(n);
        free(x);
}

/* --- a search --- */

enum { TRIAL_FIGURES = 4 };

/* What is told of a trial: each stream in the last phase that has it, of a log its commits. */
static unsigned trial_figures(const struct dbio_figure_rows *rows, const struct dbio_run_figures *shown[TRIAL_FIGURES])
{
        unsigned n = 0;

        for (unsigned i = 0; i < rows->n && n < TRIAL_FIGURES; i++) {
                const struct dbio_run_figures *row = &rows->rows[i];
                bool again = row->flags & DBIO_STREAM_COMMITS && row->kind != DBIO_COMMIT;

                for (unsigned k = i + 1; k < rows->n; k++)
                        again = again || (!strcmp(rows->rows[k].stream, row->stream) && rows->rows[k].kind == row->kind);
                if (!again)
                        shown[n++] = row;
        }
        return n;
}

/* A search: a line a trial, in the order of trying. */
void dbio_study_print_trials(const struct dbio_study_state *study, FILE *out, const struct dbio_figure_rows *rows)
{
        const struct dbio_run_figures *shown[TRIAL_FIGURES];
        unsigned n = trial_figures(rows, shown);
        int width = n < TRIAL_FIGURES ? 26 : 19;

        fprintf(out, "\n  %-16s", "tried");
        for (unsigned i = 0; i < n; i++) {
                char text[80];
                snprintf(text, sizeof text, "%s %s %s", shown[i]->stream, dbio_kind_name((unsigned)shown[i]->kind),
                         dbio_study_metric_names[dbio_study_metric_of(study, shown[i])]);
                fprintf(out, " %*.*s", width, width, text);
        }
        fputc('\n', out);
        for (unsigned c = 0; c < study->ncells; c++) {
                if (!study->cells[c].nruns)
                        continue;
                fprintf(out, "  %-16s", study->cells[c].name);
                for (unsigned i = 0; i < n; i++) {
                        char text[DBIO_NUMBER_SIZE] = "-";
                        struct dbio_study_values values =
                                dbio_study_values_of(study, shown[i], dbio_study_metric_of(study, shown[i]), 0, c);
                        if (!isnan(values.mean))
                                dbio_number_short(text, sizeof text, values.mean);
                        fprintf(out, " %*s", width, text);
                }
                fputc('\n', out);
        }
}

/* --- two devices over rising concurrency --- */

static const char *combination_value(const struct dbio_study_state *study, unsigned combination)
{
        for (unsigned i = 0; i < study->ncells; i++)
                if (study->cells[i].combination == combination)
                        return study->cells[i].values[0];
        return "";
}

/* What is below the limit must not read as the limit. */
static char *gain_text(char *text, size_t size, double gain)
{
        if (gain < DEVICE_LIMIT && gain >= DEVICE_LIMIT - 0.005)
                snprintf(text, size, "%.1f %%", 100 * (DEVICE_LIMIT - 1.001));
        else
                dbio_number_percent(text, size, gain - 1);
        return text;
}

static void print_gains(FILE *out, double least, double most)
{
        char a[DBIO_NUMBER_SIZE], b[DBIO_NUMBER_SIZE];

        gain_text(a, sizeof a, least);
        gain_text(b, sizeof b, most);
        if (least < 1.005 && most < 1.005)
                fputs("nothing", out);
        else if (!strcmp(a, b))
                fputs(a, out);
        else
                fprintf(out, "%.*s to %s", (int)strcspn(a, " "), least < 1.0005 ? "0" : a, b);
}

void dbio_study_print_device_limit(const struct dbio_study_state *study, FILE *out, const struct dbio_run_figures *row)
{
        enum dbio_study_metric metric = dbio_study_metric_of(study, row);
        double gains[64], number, least = INFINITY, most = 0;
        unsigned n = study->ncombinations, limit = n;

        if (study->naxes != 2 || strncmp(study->axes[1], "target.", 7) || study->ncolumns != 2 || n < 3 || n > 64 ||
            metric == DBIO_STUDY_MEAN_MS || !dbio_study_number(combination_value(study, 0), &number))
                return;
        double total[2] = {0, 0};
        for (unsigned c = 0; c < n; c++)
                for (unsigned k = 0; k < 2; k++)
                        total[k] += dbio_study_values_of(study, row, metric, c, k).mean;
        unsigned fast = total[1] >= total[0];
        for (unsigned c = 0; c < n; c++) {
                gains[c] = dbio_study_values_of(study, row, metric, c, fast).mean /
                           dbio_study_values_of(study, row, metric, c, !fast).mean;
                if (isnan(gains[c]))
                        return;
        }
        while (limit && gains[limit - 1] >= DEVICE_LIMIT)
                limit--;
        for (unsigned c = 0; c < limit; c++) {
                least = gains[c] < least ? gains[c] : least;
                most = gains[c] > most ? gains[c] : most;
        }
        fputs("    ", out);
        if (limit == n)
                fprintf(out, "The device is not the limit up to %s: %s gains ", combination_value(study, n - 1),
                        study->columns[fast]);
        else if (limit)
                fprintf(out, "The device is the limit from %s on; up to %s it is not: %s gains ",
                        combination_value(study, limit), combination_value(study, limit - 1), study->columns[fast]);
        else
                fprintf(out, "The device is the limit from %s on: %s gains ", combination_value(study, 0),
                        study->columns[fast]);
        if (!limit)
                for (unsigned c = 0; c < n; c++) {
                        least = gains[c] < least ? gains[c] : least;
                        most = gains[c] > most ? gains[c] : most;
                }
        print_gains(out, least, most);
        fputs(limit ? " there.\n" : ".\n", out);
}

int dbio_study_bare(const char **value)
{
        int size = (int)strlen(*value);

        if (**value != '[' || strchr(*value, ',') || size < 2)
                return size;
        ++*value;
        return size - 2;
}

/* --- bars: the best of each row --- */

void dbio_study_print_bars(const struct dbio_study_state *study, FILE *out)
{
        if (study->naxes < 3)
                return;
        fputs("\n  BEST OF EACH ROW\n", out);
        for (unsigned r = 0; r < study->nrows; r++) {
                enum dbio_study_metric metric = dbio_study_metric_of(study, study->rows[r]);
                double best[DBIO_STUDY_COLUMNS], most = 0;
                for (unsigned k = 0; k < study->ncolumns; k++) {
                        best[k] = NAN;
                        for (unsigned c = 0; c < study->ncombinations; c++) {
                                double value = dbio_study_values_of(study, study->rows[r], metric, c, k).mean;
                                if (!isnan(value) && (isnan(best[k]) || dbio_study_better(metric, value, best[k])))
                                        best[k] = value;
                        }
                        most = best[k] > most ? best[k] : most;
                }
                for (unsigned k = 0; k < study->ncolumns; k++) {
                        char text[DBIO_NUMBER_SIZE];
                        if (isnan(best[k]))
                                continue;
                        fprintf(out, "    %-24.24s %8.8s %9s ", k ? "" : study->rows[r]->stream, study->columns[k],
                                dbio_number_short(text, sizeof text,
                                                  metric == DBIO_STUDY_MIB_PER_S ? best[k] * 1.048576 : best[k]));
                        fprintf(out, "%-5s ",
                                metric == DBIO_STUDY_IOPS        ? "IOPS"
                                : metric == DBIO_STUDY_MIB_PER_S ? "MB/s"
                                                                 : "ms");
                        print_bar(out, best[k] / most);
                        fputc('\n', out);
                }
        }
}

/* --- what layouts and the host's adapter did --- */

void dbio_study_print_layouts(const struct dbio_study_state *study, FILE *out)
{
        unsigned same = 0, noted = 0;
        const char *first = NULL;

        for (unsigned i = 0; i < study->ncells; i++) {
                const char *note = study->cells[i].note;
                if (!note)
                        continue;
                noted++;
                first = first ? first : note;
                same += !strcmp(note, first);
        }
        if (!noted)
                return;
        if (same == noted) {
                fprintf(out, "\n  in %s runs: %s\n", noted == study->ncells ? "all" : "some", first);
                return;
        }
        fputs("\n  LAYOUT\n", out);
        for (unsigned i = 0; i < study->ncells; i++) {
                bool told = false; /* the same stream on the same column at another depth */
                for (unsigned k = 0; k < i && study->naxes > 2; k++)
                        told |= study->cells[k].note && study->cells[k].column == study->cells[i].column &&
                                !strcmp(study->cells[k].values[0], study->cells[i].values[0]);
                if (!study->cells[i].note || told)
                        continue;
                const char *value = study->cells[i].values[0];
                int size = dbio_study_bare(&value);
                dbio_text_line(out, "    %-20.*s %4.8s  %s", size < 20 ? size : 20, value,
                               study->naxes > 1 ? study->columns[study->cells[i].column] : "", study->cells[i].note);
        }
}

void dbio_study_print_limits(const struct dbio_study_state *study, FILE *out)
{
        bool head = false;

        for (unsigned i = 0; i < study->ncells && !study->naxes; i++)
                for (unsigned k = 0; k < study->cells[i].nlimits; k++) {
                        const struct dbio_study_limit *limit = &study->cells[i].limits[k];
                        char text[5][DBIO_NUMBER_SIZE];
                        if (!head)
                                fprintf(out, "\n  %-16s %-22s %12s %12s %12s %10s %8s\n", "LIMITS", "", "cap", "peak",
                                        "hits", "wait ms", "at it s");
                        head = true;
                        dbio_text_line(out, "  %-16.16s %-22.22s %12s %12s %12s %10s %8s", study->cells[i].name,
                                       limit->name, dbio_number_group(text[0], DBIO_NUMBER_SIZE, limit->cap, 0),
                                       dbio_number_group(text[1], DBIO_NUMBER_SIZE, limit->peak, 0),
                                       dbio_number_group(text[2], DBIO_NUMBER_SIZE, limit->hits, 0),
                                       dbio_number_short(text[3], DBIO_NUMBER_SIZE,
                                                         limit->hits > 0 ? limit->wait_ns / limit->hits / 1e6 : NAN),
                                       dbio_number_short(text[4], DBIO_NUMBER_SIZE, limit->at_cap_ns / 1e9));
                }
}

void dbio_study_print_times(const struct dbio_study_state *study, FILE *out, const struct dbio_run_figures *row)
{
        static const char *const names[] = {"avg ms", "  of it wait", "  of it service"};

        for (unsigned part = 0; part < 3 && row->kind != DBIO_COMMIT; part++) {
                fprintf(out, "    %-24s", names[part]);
                for (unsigned i = 0; i < study->ncells; i++) {
                        const struct dbio_run_figures *figures =
                                study->cells[i].nruns
                                        ? dbio_figures_get(&study->cells[i].runs[0], row->phase, row->stream, row->kind)
                                        : NULL;
                        char text[DBIO_NUMBER_SIZE];
                        double ns = !figures    ? NAN
                                    : part == 0 ? figures->response.mean
                                    : part == 1 ? figures->wait.mean
                                                : figures->service.mean;
                        fprintf(out, " %*s", study->width, dbio_number_short(text, sizeof text, ns / 1e6));
                }
                fputc('\n', out);
        }
}
