/* diff: what two workloads, schedules or traces demand, side by side; no I/O. */
#include "replay/command.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/units.h"
#include "replay/demand.h"
#include "replay/differences.h"
#include "replay/offered.h"

#define CHANGED 0.05 /* below it days of one load differ too */

struct side {
        struct dbio_demand demand;
        struct dbio_targets targets;
        struct dbio_schedule *schedule;
        struct dbio_offered offered;
        const char *description; /* "" = none */
};

enum verdict { SAME, ABOUT_THE_SAME, CHANGED_DEMAND, NOT_KNOWN };
static const char *const verdict_names[] = {"same", "about the same", "changed", "not known"};

struct comparison {
        struct side sides[2];
        char *keys;          /* dbio_differences, or NULL */
        enum verdict verdict;
        double largest;      /* change of a figure */
        unsigned known;      /* figures that both have */
};

static int open_side(struct side *side, const char *source, const struct dbio_cmdline *line, struct dbio_err *err)
{
        const struct dbio_workload *workload = NULL;

        if (dbio_demand_prepare(source, line, &side->demand, &side->targets, &side->schedule, err)) {
                side->schedule = NULL;
                return -1;
        }
        if (side->demand.has_workload)
                workload = &side->demand.workload;
        side->description = workload && workload->description ? workload->description : "";
        return dbio_offered_measure(&side->offered, side->schedule, workload, err);
}

static void close_side(struct side *side)
{
        dbio_offered_release(&side->offered);
        if (!side->schedule)
                return;
        side->schedule->free(side->schedule);
        dbio_targets_close(&side->targets);
        dbio_demand_release(&side->demand);
}

static void judge(struct comparison *c)
{
        const struct dbio_offered *a = &c->sides[0].offered, *b = &c->sides[1].offered;

        c->verdict = NOT_KNOWN;
        if (!strcmp(c->sides[0].schedule->hash, c->sides[1].schedule->hash) && *c->sides[0].schedule->hash) {
                c->verdict = SAME;
                return;
        }
        for (unsigned p = 0; p < a->nphases; p++) {
                const struct dbio_offered_phase *other = dbio_offered_partner(b, &a->phases[p], p);
                double x[DBIO_OFFERED_FIGURES], y[DBIO_OFFERED_FIGURES];

                if (!other)
                        continue;
                dbio_offered_sum(&a->phases[p], x);
                dbio_offered_sum(other, y);
                /* The busiest second is an extreme of one drawing: it is shown, and tells too little to judge by. */
                for (int f = 0; f < DBIO_OFFERED_PEAK; f++) {
                        if (isnan(x[f]) && isnan(y[f]))
                                continue;
                        double change = isnan(x[f]) || isnan(y[f]) ? INFINITY : fabs(y[f] / x[f] - 1);
                        c->known++;
                        c->largest = fmax(c->largest, change);
                }
        }
        if (a->nphases != b->nphases)
                c->largest = INFINITY;
        if (c->known || isinf(c->largest))
                c->verdict = c->largest > CHANGED ? CHANGED_DEMAND : ABOUT_THE_SAME;
}

/* --- words --------------------------------------------------------------------------------------------------------- */

static void print_figures(const struct dbio_offered_phase *a, const struct dbio_offered_phase *b)
{
        double x[DBIO_OFFERED_FIGURES], y[DBIO_OFFERED_FIGURES];
        char left[40], right[40], change[40];

        dbio_offered_sum(a, x);
        dbio_offered_sum(b, y);
        for (int f = 0; f < DBIO_OFFERED_FIGURES; f++) {
                if (isnan(x[f]) && isnan(y[f]))
                        continue;
                printf("  %-18s %12s -> %-12s %s\n", dbio_offered_names[f], dbio_offered_text(f, x[f], left),
                       dbio_offered_text(f, y[f], right), dbio_offered_change(x[f], y[f], change));
        }
}

/* `4,120/s of 8.0K reads, 10/s of 64.0K writes`, or what a closed loop keeps outstanding. */
static void stream_text(const struct dbio_offered_stream *s, char *text, size_t size)
{
        char rate[40], length[40];
        size_t n = 0;

        *text = 0;
        for (int k = 0; k < 2; k++) {
                double per_s = k ? s->writes_per_s : s->reads_per_s, bytes = k ? s->write_bytes : s->read_bytes;

                if (isnan(bytes))
                        continue;
                dbio_offered_count(per_s, rate);
                n += (size_t)snprintf(text + n, size - n, "%s%s%s%s of %s", n ? ", " : "", s->closed || isnan(per_s) ? "" : rate,
                                      s->closed || isnan(per_s) ? "" : "/s ", k ? "writes" : "reads", dbio_offered_bytes(bytes, length));
                if (n >= size)
                        return;
        }
        if (s->closed && s->sessions)
                snprintf(text + n, size - n, ", %llu sessions that wait", (unsigned long long)s->sessions);
        else if (s->closed)
                snprintf(text + n, size - n, ", %u x %u kept outstanding, as fast as the device", s->threads, s->depth ? s->depth : 1);
}

static const struct dbio_offered_stream *find_stream(const struct dbio_offered_phase *phase, const char *name)
{
        for (unsigned i = 0; i < phase->nstreams; i++)
                if (!strcmp(phase->streams[i].name, name))
                        return &phase->streams[i];
        return NULL;
}

static void print_streams(const struct dbio_offered_phase *a, const struct dbio_offered_phase *b)
{
        char left[200], right[200];

        for (unsigned i = 0; i < a->nstreams; i++) {
                const struct dbio_offered_stream *other = find_stream(b, a->streams[i].name);

                stream_text(&a->streams[i], left, sizeof left);
                strcpy(right, "gone");
                if (other)
                        stream_text(other, right, sizeof right);
                if (!strcmp(left, right))
                        printf("  %-18s on %s: %s, both\n", a->streams[i].name, a->streams[i].target, left);
                else
                        printf("  %-18s on %s: %s\n  %-18s   -> %s\n", a->streams[i].name, a->streams[i].target, left, "", right);
        }
        for (unsigned i = 0; i < b->nstreams; i++)
                if (!find_stream(a, b->streams[i].name)) {
                        stream_text(&b->streams[i], right, sizeof right);
                        printf("  %-18s on %s: new: %s\n", b->streams[i].name, b->streams[i].target, right);
                }
}

/* A derived workload says in its description over what its means were taken. */
static const char *means_of(const struct side *side)
{
        const char *at = strstr(side->description, "means over ");

        return at ? at + strlen("means over ") : NULL;
}

static bool has_episodes(const struct side *side)
{
        for (unsigned p = 0; p < side->offered.nphases; p++)
                for (unsigned i = 0; i < side->offered.phases[p].nstreams; i++)
                        if (side->offered.phases[p].streams[i].episodes)
                                return true;
        return false;
}

/* What can be said of bursts, in one or two sentences. */
static void bursts_text(const struct comparison *c, char *text, size_t size)
{
        const char *means[2] = {means_of(&c->sides[0]), means_of(&c->sides[1])};
        unsigned adapter = c->sides[0].schedule->hba.max_outstanding ? c->sides[0].schedule->hba.max_outstanding
                                                                     : c->sides[1].schedule->hba.max_outstanding;
        char reached[100] = "what the means hide", commands[40];

        if (adapter)
                snprintf(reached, sizeof reached, "whether the adapter's %s commands are reached", dbio_offered_count(adapter, commands));
        if (means[0] || means[1])
                snprintf(text, size, "not known: %s %s means over %s.\nA block trace of one minute would tell %s.",
                         means[0] && means[1] ? "both hold" : means[0] ? "the first holds" : "the second holds", "only",
                         means[0] ? means[0] : means[1], reached);
        else if (!c->sides[0].demand.has_workload || !c->sides[1].demand.has_workload)
                snprintf(text, size, "%s: the busiest second above is the trace's own",
                         c->sides[0].demand.has_workload ? "after" : c->sides[1].demand.has_workload ? "before" : "both");
        else if (has_episodes(&c->sides[0]) || has_episodes(&c->sides[1]))
                snprintf(text, size, "episodes as above; everything else as it is drawn");
        else
                snprintf(text, size, "no episodes; the batches of writers and the arrivals come as they are drawn");
}

static void conclusion_text(const struct comparison *c, char *text, size_t size)
{
        switch (c->verdict) {
        case SAME:
                snprintf(text, size, "the demand is the same (schedule %.8s).  A latency change between the two is not the workload's\n"
                                     "            doing: look at the storage, the host, and what else they carry.", c->sides[0].schedule->hash);
                break;
        case ABOUT_THE_SAME:
                snprintf(text, size, "the demand is about the same: no figure differs by more than %.1f %%.  What lies behind the means\n"
                                     "            may still differ.", 100 * c->largest);
                break;
        case CHANGED_DEMAND:
                snprintf(text, size, "the workload changed.  A latency change between the two is no evidence against\n"
                                     "            the storage.");
                break;
        case NOT_KNOWN:
                snprintf(text, size, "nothing that both sides tell can be compared.");
                break;
        }
}

static void print_head(const struct comparison *c)
{
        const struct side *a = &c->sides[0], *b = &c->sides[1];

        printf("DEMAND   %s  ->  %s\n", a->demand.name, b->demand.name);
        for (int i = 0; i < 2; i++)
                if (*c->sides[i].description)
                        printf("  %-8s %.*s%s\n", i ? "after" : "before", strlen(c->sides[i].description) > 89 ? 86 : 89,
                               c->sides[i].description, strlen(c->sides[i].description) > 89 ? "..." : "");
}

static void print_keys(const char *keys)
{
        unsigned lines = 0;

        if (!keys || !*keys)
                return;
        puts("KEYS");
        for (const char *at = keys; *at; lines++) {
                size_t n = strcspn(at, "\n");

                if (lines == 20) {
                        puts("  ...");
                        break;
                }
                printf("  %.*s%s\n", n > 95 ? 92 : (int)n, at, n > 95 ? "..." : "");
                at += n + (at[n] == '\n');
        }
}

static void print_text(const struct comparison *c)
{
        const struct dbio_offered *a = &c->sides[0].offered, *b = &c->sides[1].offered;
        char text[500];

        print_head(c);
        for (unsigned p = 0; p < a->nphases; p++) {
                const struct dbio_offered_phase *other = dbio_offered_partner(b, &a->phases[p], p);

                if (a->nphases > 1 || b->nphases > 1)
                        printf("PHASE %s%s%s\n", a->phases[p].name, other && strcmp(other->name, a->phases[p].name) ? " -> " : "",
                               !other ? ": only before" : strcmp(other->name, a->phases[p].name) ? other->name : "");
                if (!other)
                        continue;
                print_figures(&a->phases[p], other);
                if (c->verdict != SAME)
                        print_streams(&a->phases[p], other);
        }
        for (unsigned p = a->nphases; p < b->nphases; p++)
                if (dbio_offered_partner(a, &b->phases[p], p) == NULL)
                        printf("PHASE %s: only after\n", b->phases[p].name);
        bursts_text(c, text, sizeof text);
        char *second = strchr(text, '\n');
        printf("  %-18s %.*s\n", "bursts", second ? (int)(second - text) : (int)sizeof text, text);
        if (second)
                printf("  %-18s %s\n", "", second + 1);
        print_keys(c->keys);
        conclusion_text(c, text, sizeof text);
        printf("CONCLUSION  %s\n", text);
}

/* --- JSON ---------------------------------------------------------------------------------------------------------- */

static json_t *number(double value)
{
        return isnan(value) || isinf(value) ? json_null() : json_real(value);
}

static json_t *side_json(const struct side *side)
{
        return json_pack("{ss ss ss}", "name", side->demand.name, "description", side->description, "schedule",
                         side->schedule->hash);
}

static json_t *streams_json(const struct dbio_offered_phase *phase)
{
        json_t *list = json_array();

        for (unsigned i = 0; i < phase->nstreams; i++) {
                const struct dbio_offered_stream *s = &phase->streams[i];

                json_array_append_new(list, json_pack("{ss ss sb sb si si sI so so so so so so sI si so so}", "stream", s->name,
                                                      "target", s->target, "log", s->log, "closed", s->closed, "threads",
                                                      (int)s->threads, "depth", (int)s->depth, "think_ns",
                                                      (json_int_t)s->think_ns, "reads_per_s", number(s->reads_per_s), "writes_per_s",
                                                      number(s->writes_per_s), "fsyncs_per_s", number(s->fsyncs_per_s), "read_bytes",
                                                      number(s->read_bytes), "write_bytes", number(s->write_bytes), "commits_per_s",
                                                      number(s->commits_per_s), "sessions", (json_int_t)s->sessions, "episodes",
                                                      (int)s->episodes, "episode_bytes", number(s->episode_bytes), "peak_per_s",
                                                      number(s->peak_per_s)));
        }
        return list;
}

static json_t *phase_json(const struct dbio_offered_phase *a, const struct dbio_offered_phase *b)
{
        double x[DBIO_OFFERED_FIGURES], y[DBIO_OFFERED_FIGURES];
        json_t *figures = json_array();

        dbio_offered_sum(a, x);
        dbio_offered_sum(b, y);
        for (int f = 0; f < DBIO_OFFERED_FIGURES; f++)
                if (!isnan(x[f]) || !isnan(y[f]))
                        json_array_append_new(figures, json_pack("{ss so so so}", "figure", dbio_offered_names[f], "a", number(x[f]),
                                                                 "b", number(y[f]), "change", number(y[f] / x[f] - 1)));
        return json_pack("{ss ss so so so}", "a_phase", a->name, "b_phase", b->name, "figures", figures, "a_streams",
                         streams_json(a), "b_streams", streams_json(b));
}

/* Line ends and what indents the next line become one blank. */
static void one_line(char *text)
{
        char *to = text;

        for (; *text; text++) {
                if (*text == '\n') {
                        text += strspn(text, "\n ") - 1;
                        *to++ = ' ';
                } else {
                        *to++ = *text;
                }
        }
        *to = 0;
}

static int print_json(const struct comparison *c, struct dbio_err *err)
{
        const struct dbio_offered *a = &c->sides[0].offered, *b = &c->sides[1].offered;
        json_t *phases = json_array(), *root;
        char bursts[500], conclusion[500];
        int code;

        for (unsigned p = 0; p < a->nphases; p++) {
                const struct dbio_offered_phase *other = dbio_offered_partner(b, &a->phases[p], p);

                if (other)
                        json_array_append_new(phases, phase_json(&a->phases[p], other));
        }
        bursts_text(c, bursts, sizeof bursts);
        conclusion_text(c, conclusion, sizeof conclusion);
        one_line(bursts);
        one_line(conclusion);
        root = json_pack("{so so ss so ss ss ss}", "a", side_json(&c->sides[0]), "b", side_json(&c->sides[1]), "verdict",
                         verdict_names[c->verdict], "phases", phases, "bursts", bursts, "keys", c->keys ? c->keys : "", "conclusion",
                         conclusion);
        code = !root || json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10)) ? -1 : 0;
        putchar('\n');
        json_decref(root);
        return code ? dbio_err_set(err, DBIO_IO, "cannot write to stdout") : 0;
}

int dbio_cmd_diff(const struct dbio_cmdline *line, struct dbio_err *err)
{
        struct comparison c = {0};
        int code = 0;

        for (int i = 0; !code && i < 2; i++)
                code = open_side(&c.sides[i], line->arguments[i], line, err);
        if (!code) {
                if (c.sides[0].demand.has_workload && c.sides[1].demand.has_workload)
                        c.keys = dbio_differences(c.sides[0].demand.workload.resolved, c.sides[1].demand.workload.resolved);
                judge(&c);
                if (dbio_cmdline_has(line, DBIO_OPT_JSON))
                        code = print_json(&c, err);
                else
                        print_text(&c);
        }
        free(c.keys);
        close_side(&c.sides[0]);
        close_side(&c.sides[1]);
        return code;
}
