#include "replay/progress.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ull
#define PLAIN_EVERY_NS (5 * SECOND)

/* Real time, also where the run's is virtual. */
static uint64_t wall_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

void dbio_progress_init(struct dbio_progress *progress, bool quiet, unsigned nphases)
{
        const char *term = getenv("TERM");

        memset(progress, 0, sizeof *progress);
        setlocale(LC_CTYPE, "");
        progress->quiet = quiet;
        progress->terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
        progress->unicode = !strcmp(nl_langinfo(CODESET), "UTF-8");
        progress->nphases = nphases;
}

void dbio_progress_phase(struct dbio_progress *progress, unsigned phase)
{
        dbio_progress_end(progress);
        progress->phase = phase;
        progress->nhistory = 0;
        progress->next_line_ns = progress->terminal ? 0 : wall_ns() + PLAIN_EVERY_NS;
        memset(progress->history, 0, sizeof progress->history);
}

static unsigned width(void)
{
        struct winsize size;

        return !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
}

/* 41.8k, 900, 3.6; - where it is not known yet */
static void short_number(double value, char *text, size_t size)
{
        if (isnan(value))
                snprintf(text, size, "-");
        else if (value >= 1e6)
                snprintf(text, size, "%.1fM", value / 1e6);
        else if (value >= 1e4)
                snprintf(text, size, "%.1fk", value / 1e3);
        else if (value >= 10)
                snprintf(text, size, "%.0f", value);
        else
                snprintf(text, size, "%.1f", value);
}

static void clock_text(uint64_t ns, char *text, size_t size)
{
        uint64_t s = ns / SECOND;

        if (ns == UINT64_MAX)
                snprintf(text, size, "--:--");
        else if (s >= 3600)
                snprintf(text, size, "%llu:%02llu:%02llu", (unsigned long long)(s / 3600),
                         (unsigned long long)(s / 60 % 60), (unsigned long long)(s % 60));
        else
                snprintf(text, size, "%02llu:%02llu", (unsigned long long)(s / 60), (unsigned long long)(s % 60));
}

static void bar(const struct dbio_progress *progress, double share, char *text, size_t size)
{
        unsigned full = (unsigned)(share * 16 + 0.5);

        text[0] = 0;
        for (unsigned i = 0; i < 16 && strlen(text) + 4 < size; i++)
                strcat(text, progress->unicode ? i < full ? "\u2588" : "\u2591" : i < full ? "#" : ".");
}

static void spark(const struct dbio_progress *progress, unsigned stream, char *text, size_t size)
{
        static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
        const double *values = progress->history[stream % 16];
        double highest = 0;

        text[0] = 0;
        for (unsigned i = 0; i < progress->nhistory; i++)
                highest = values[i] > highest ? values[i] : highest;
        for (unsigned i = 0; progress->unicode && highest > 0 && i < progress->nhistory && strlen(text) + 4 < size; i++)
                strcat(text, blocks[(unsigned)(values[i] / highest * 7.0)]);
}

static void remember(struct dbio_progress *progress, unsigned stream, double iops)
{
        double *values = progress->history[stream % 16];

        if (progress->nhistory == 8)
                memmove(values, values + 1, 7 * sizeof *values);
        values[progress->nhistory == 8 ? 7 : progress->nhistory] = iops;
}

/* Mean bytes of an op: 8.0K, 512. */
static void length_text(const struct dbio_live *live, char *text, size_t size)
{
        double bytes = live->iops > 0 ? live->mib_per_s * 1048576 / live->iops : NAN;

        if (isnan(bytes))
                snprintf(text, size, "-");
        else if (bytes < 1024)
                snprintf(text, size, "%.0f", bytes);
        else
                snprintf(text, size, bytes < 10 * 1024 ? "%.1fK" : bytes < 9999 * 1024 ? "%.0fK" : "%.0fM",
                         bytes / (bytes < 9999 * 1024 ? 1024 : 1048576));
}

static void stream_line(const struct dbio_progress *progress, unsigned i, const char *name, const struct dbio_live *live,
                        char *text, size_t size)
{
        char iops[16], mib[16], length[16], more[128] = "", line[128];

        short_number(live->iops, iops, sizeof iops);
        short_number(live->mib_per_s, mib, sizeof mib);
        length_text(live, length, sizeof length);
        if (live->commits_per_s > 0)
                snprintf(more, sizeof more, "  commit p50 %.2f ms  p99 %.2f ms", (double)live->commit_p50_ns / 1e6,
                         (double)live->commit_p99_ns / 1e6);
        else if (live->p99_ns)
                snprintf(more, sizeof more, "  p50 %.2f ms  p99 %.2f ms", (double)live->p50_ns / 1e6,
                         (double)live->p99_ns / 1e6);
        if (live->last_pages_per_write > 0)
                snprintf(more + strlen(more), sizeof more - strlen(more), "  %.1f pages/write", live->last_pages_per_write);
        spark(progress, i, line, sizeof line);
        snprintf(text, size, "  %-12.24s %5s %6s IOPS %6s MiB/s%s  %s", name, length, iops, mib, more, line);
}

/* Cuts to n columns, counting UTF-8 sequences as one. */
static void print_line(const char *text, unsigned n)
{
        for (unsigned used = 0; *text && used < n; used++) {
                do
                        fputc(*text++, stderr);
                while ((*text & 0xc0) == 0x80);
        }
        fputs("\033[K\n", stderr);
}

static void plain_line(const struct dbio_phase *phase, const struct dbio_recorder *recorder, const char *head)
{
        struct dbio_live live;
        char iops[16];

        fprintf(stderr, "%s", head);
        for (unsigned i = 0; i < phase->nstreams; i++) {
                dbio_recorder_live(recorder, i, &live);
                short_number(live.iops, iops, sizeof iops);
                fprintf(stderr, "  %s %s IOPS", phase->streams[i].name, iops);
        }
        fputc('\n', stderr);
}

void dbio_progress_draw(struct dbio_progress *progress, const struct dbio_phase *phase,
                        const struct dbio_recorder *recorder, uint64_t elapsed_ns)
{
        char text[512], now[16], all[16], meter[96], lag[32] = "";
        double share = phase->duration_ns == UINT64_MAX ? 0 : (double)elapsed_ns / (double)phase->duration_ns;

        if (progress->quiet)
                return;
        if (wall_ns() < progress->next_line_ns)
                return;
        clock_text(elapsed_ns, now, sizeof now);
        clock_text(phase->duration_ns, all, sizeof all);
        progress->next_line_ns = wall_ns() + (progress->terminal ? SECOND / 5 : PLAIN_EVERY_NS);
        if (!progress->terminal) {
                snprintf(text, sizeof text, "phase %u/%u %s  %s/%s", progress->phase + 1, progress->nphases, phase->name, now,
                         all);
                plain_line(phase, recorder, text);
                return;
        }
        unsigned columns = width() - 1;
        bool known = false;
        if (progress->drawn)
                fprintf(stderr, "\033[%uA\r", progress->drawn);
        bar(progress, share > 1 ? 1 : share, meter, sizeof meter);
        uint64_t lag_ns = dbio_recorder_lag_p99_ns(recorder);
        if (lag_ns != UINT64_MAX)
                snprintf(lag, sizeof lag, "   lag p99 %.0f us", (double)lag_ns / 1e3);
        snprintf(text, sizeof text, "phase %u/%u %s   %s/%s  %s  %.0f %%%s", progress->phase + 1, progress->nphases,
                 phase->name, now, all, meter, 100 * (share > 1 ? 1 : share), lag);
        print_line(text, columns);
        for (unsigned i = 0; i < phase->nstreams; i++) {
                struct dbio_live live;
                dbio_recorder_live(recorder, i, &live);
                if (!isnan(live.iops)) {
                        remember(progress, i, live.iops);
                        known = true;
                }
                stream_line(progress, i, phase->streams[i].name, &live, text, sizeof text);
                print_line(text, columns);
        }
        progress->nhistory += known && progress->nhistory < 8;
        progress->drawn = phase->nstreams + 1;
        fflush(stderr);
}

void dbio_progress_end(struct dbio_progress *progress)
{
        progress->drawn = 0;
}

void dbio_progress_bytes(void *user, const char *what, uint64_t done_bytes, uint64_t all_bytes)
{
        struct dbio_progress *progress = user;
        static uint64_t began;
        char eta[16];
        uint64_t now = wall_ns();

        if (!done_bytes || !began)
                began = now;
        uint64_t spent = now - began;
        if (progress->quiet || (!progress->terminal && done_bytes < all_bytes && now < progress->next_line_ns))
                return;
        progress->next_line_ns = now + PLAIN_EVERY_NS;
        double share = all_bytes ? (double)done_bytes / (double)all_bytes : 1;
        clock_text(share > 0 ? (uint64_t)((double)spent * (1 - share) / share) : UINT64_MAX, eta, sizeof eta);
        fprintf(stderr, "%s%s: %.0f of %.0f MiB, %.0f %%, %s left%s", progress->terminal ? "\r" : "", what,
                (double)done_bytes / 1048576, (double)all_bytes / 1048576, 100 * share, eta,
                progress->terminal && done_bytes < all_bytes ? "\033[K" : "\n");
}
