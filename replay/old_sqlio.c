/* What SQLIO prints: one test or many in a file. Its MB and KB are of 1024. Latencies are whole ms cut down: the mean is
 * reckoned by Little's law from what was outstanding; the histogram's percent are rounded, no percentile comes of them. */
#include <math.h>
#include <string.h>

#include "engine/op.h"
#include "replay/derivecsv.h"
#include "replay/oldresults.h"

struct test {
        unsigned line; /* of `sqlio v`; 0 = none */
        double threads, seconds, kib, outstanding, iops, mib, average, longest;
        bool write, sequential;
};

static bool number_behind(const char *text, const char *name, double *value)
{
        const char *at = strstr(text, name);
        char word[40];

        if (!at)
                return false;
        at += strlen(name);
        at += strspn(at, " \t");
        snprintf(word, sizeof word, "%.*s", (int)strspn(at, "0123456789."), at);
        return dbio_csv_number(word, false, value);
}

static int end_test(const struct dbio_derive_file *file, const struct test *t, struct dbio_old_results *out, struct dbio_err *err)
{
        struct dbio_imported_total *total;
        char name[DBIO_OLD_NAME];

        if (!t->line)
                return 0;
        if (isnan(t->threads) || isnan(t->kib) || isnan(t->iops))
                return dbio_derive_bad(file, t->line, err, "a test without %s: it did not end",
                                       isnan(t->iops) ? "`IOs/sec:`" : isnan(t->kib) ? "`using NKB … IOs`" : "`N threads … for N secs`");
        if (!(t->seconds > 0) || t->iops * t->seconds > 1e15 || t->kib > 65536 || t->threads > 65535 || t->outstanding > 65535)
                return dbio_derive_bad(file, t->line, err, "the test's numbers cannot be");
        snprintf(name, sizeof name, "%s-%s-%.0fK", t->sequential ? "sequential" : "random", t->write ? "write" : "read", t->kib);
        char phase[DBIO_OLD_NAME + 40];
        double outstanding = isnan(t->outstanding) ? 1 : t->outstanding;
        snprintf(phase, sizeof phase, "%s-t%.0f-o%.0f", name, t->threads, outstanding);
        if (!dbio_old_phase_add(out, phase, dbio_old_seconds(t->seconds, 1, llround(t->iops * t->seconds), t->iops)) || !(total = dbio_old_total_add(out, name, t->write ? DBIO_WRITE : DBIO_READ)))
                return dbio_err_set(err, DBIO_IO, "out of memory");
        total->pattern = t->sequential ? "io.sequential" : "io.random";
        total->threads = (unsigned)t->threads;
        total->depth = (unsigned)outstanding;
        total->ios = (uint64_t)llround(t->iops * t->seconds);
        total->bytes = total->ios * (uint64_t)t->kib * 1024;
        if (t->iops > 0)
                total->service_mean = total->response_mean = t->threads * outstanding / t->iops * 1e9;
        if (!isnan(t->longest))
                total->service_max = total->response_max = t->longest * 1e6;
        return 0;
}

static void take_line(struct test *t, const char *text)
{
        if (strstr(text, " threads reading for ") || strstr(text, " threads writing for ") || strstr(text, " thread reading for ") ||
            strstr(text, " thread writing for ")) {
                char word[40];

                t->write = strstr(text, "writing") != NULL;
                text += strspn(text, " \t");
                snprintf(word, sizeof word, "%.*s", (int)strspn(text, "0123456789"), text);
                if (!dbio_csv_number(word, false, &t->threads))
                        t->threads = NAN;
                number_behind(text, " for ", &t->seconds);
        } else if (number_behind(text, "using ", &t->kib) && strstr(text, "KB ")) {
                t->sequential = strstr(text, "sequential") != NULL;
        } else if (strstr(text, " outstanding")) {
                number_behind(text, " with ", &t->outstanding);
        } else if (!number_behind(text, "IOs/sec:", &t->iops) && !number_behind(text, "MBs/sec:", &t->mib) &&
                   !number_behind(text, "Avg_Latency(ms):", &t->average)) {
                number_behind(text, "Max_Latency(ms):", &t->longest);
        }
}

static int read_text(const struct dbio_derive_file *file, struct dbio_old_results *out, struct dbio_err *err)
{
        const struct test none = {.threads = NAN, .seconds = NAN, .kib = NAN, .outstanding = NAN, .iops = NAN, .mib = NAN, .average = NAN,
                                  .longest = NAN};
        struct test test = none;

        for (unsigned i = 0; i < file->nlines; i++) {
                const char *text = file->lines[i];

                if (!strncmp(text, "sqlio v", 7)) {
                        if (end_test(file, &test, out, err))
                                return -1;
                        test = none;
                        test.line = i + 1;
                } else if (test.line && !strstr(text, "using specified size") && !strstr(text, "using current size") &&
                           !strstr(text, "using system counter")) {
                        take_line(&test, text);
                }
        }
        if (end_test(file, &test, out, err))
                return -1;
        snprintf(out->note, sizeof out->note, "means by Little's law, as SQLIO cuts its own to whole ms");
        return out->n ? 0 : dbio_derive_bad(file, 0, err, "no `sqlio v…` line: no output of SQLIO");
}

const struct dbio_old_format dbio_old_sqlio_text = {"sqlio-text", "SQLIO output -> runs", "sqlio", read_text};
