/* What an import tells. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "engine/units.h"
#include "replay/trace.h"

static const enum dbio_kind kinds[] = {DBIO_READ, DBIO_WRITE, DBIO_TRIM, DBIO_FSYNC};
#define KINDS (sizeof kinds / sizeof *kinds)
#define TARGETS_SHOWN 20u

static void print_sizes(const struct dbio_trace_summary *summary, FILE *out)
{
        uint64_t all = summary->ios[DBIO_READ] + summary->ios[DBIO_WRITE];

        for (unsigned k = 0; k < sizeof summary->sizes / sizeof *summary->sizes; k++) {
                char from[32], to[32];
                if (!summary->sizes[k])
                        continue;
                dbio_format_size(k ? (1ull << (k - 1)) + 1 : 0, from, sizeof from);
                dbio_format_size(1ull << k, to, sizeof to);
                if (k)
                        dbio_format_size(1ull << (k - 1), from, sizeof from);
                fprintf(out, "  over %8s to %8s %12" PRIu64 "  %5.1f %%\n", from, to, summary->sizes[k],
                        100.0 * (double)summary->sizes[k] / (double)all);
        }
}

static void print_counts(const struct dbio_trace_summary *summary, FILE *out)
{
        fprintf(out, "%-8s %12s %18s %12s\n", "op", "count", "bytes", "mean bytes");
        for (unsigned i = 0; i < KINDS; i++) {
                uint64_t n = summary->ios[kinds[i]], bytes = summary->bytes[kinds[i]];
                fprintf(out, "%-8s %12" PRIu64 " %18" PRIu64 " %12.0f\n", dbio_kind_name(kinds[i]), n, bytes,
                        n ? (double)bytes / (double)n : 0);
        }
}

static void print_count(FILE *out, const char *what, uint64_t n)
{
        if (n)
                fprintf(out, "%-34s %12" PRIu64 "\n", what, n);
}

static void print_seconds(uint64_t ns, FILE *out)
{
        fprintf(out, "%" PRIu64 ".%09" PRIu64 " s", ns / 1000000000, ns % 1000000000);
}

static void print_odd(struct dbio_trace_feed *feed, FILE *out)
{
        const struct dbio_trace_summary *summary = dbio_trace_feed_summary(feed);
        const struct dbio_trace_input *input = dbio_trace_feed_input(feed);

        for (unsigned i = 0; input && i < input->nskipped; i++)
                print_count(out, input->skipped[i].why, input->skipped[i].n);
        fprintf(out, "%-34s %12" PRIu64 "\n", "before their predecessor (sorted)", summary->inversions);
        print_count(out, "flushes before writes (ops as well)", summary->preflushes);
        print_count(out, "of no bytes (left out)", summary->zero_length);
        print_count(out, "left out by --map", summary->left_out);
        print_count(out, "left out by --reads-only", summary->dropped);
        print_count(out, "rounded to whole sectors", summary->rounded);
        print_count(out, "folded into their target", summary->folded);
        print_count(out, "bytes never touched and taken out", summary->gap_bytes);
        fprintf(out, "%-34s %12" PRIu64 "\n", "not aligned to 512 bytes", summary->misaligned[0]);
        fprintf(out, "%-34s %12" PRIu64 "\n", "not aligned to 4096 bytes", summary->misaligned[1]);
        if (summary->misaligned[0])
                fprintf(out, "  first: %s\n", summary->first_misaligned);
        fprintf(out, "%-34s %12" PRIu64 "\n", "rejected lines or records", summary->bad);
        if (summary->bad)
                fprintf(out, "  first: %s\n", summary->first_bad);
        if (summary->spread)
                fprintf(out, "stamps are whole seconds: %" PRIu64 " events were spread evenly over their %" PRIu64 " seconds\n",
                        summary->spread, summary->spread_seconds);
        if (summary->untimed)
                fprintf(out, "there are no time stamps, only an order: --pace fast replays it\n");
        if (summary->completions)
                fprintf(out, "completions of %" PRIu64 " ops are known, at most %u were in flight\n", summary->completions,
                        summary->peak_depth);
        else
                fprintf(out, "not known: when ops were completed; --pace fast keeps 32 in flight, --pace dependent is --pace timed\n");
        if (summary->note[0])
                fprintf(out, "not known: %s\n", summary->note);
}

void dbio_trace_summary_print(struct dbio_trace_feed *feed, FILE *out)
{
        const struct dbio_trace_summary *summary = dbio_trace_feed_summary(feed);
        const struct dbio_trace_input *input = dbio_trace_feed_input(feed);
        uint64_t rw = summary->ios[DBIO_READ] + summary->ios[DBIO_WRITE], span = summary->last_ns - summary->first_ns;
        unsigned n = dbio_trace_feed_targets(feed);

        fprintf(out, "TRACE %s", input ? input->paths[0] : "schedule");
        if (input && input->npaths > 1)
                fprintf(out, " and %u more", input->npaths - 1);
        fprintf(out, "%s%s\n", input ? ", format " : "", input ? input->format->name : "");
        print_counts(summary, out);
        fputs("span ", out);
        print_seconds(span, out);
        fputs(", first at ", out);
        print_seconds(summary->first_ns, out);
        fputs(" on the trace's clock, recording ends at ", out);
        print_seconds(summary->end_ns, out);
        fputc('\n', out);
        if (span)
                fprintf(out, "rate %.1f ops/s, %.2f MiB/s\n", (double)dbio_trace_feed_ops(feed) * 1e9 / (double)span,
                        (double)(summary->bytes[DBIO_READ] + summary->bytes[DBIO_WRITE]) * 1e9 / (double)span / 1048576);
        fprintf(out, "offsets %" PRIu64 " to %" PRIu64 "\n", summary->min_offset, summary->max_end);
        fprintf(out, "sizes of reads and writes\n");
        print_sizes(summary, out);
        fprintf(out, "sequential %.1f %% of reads and writes\n", rw ? 100.0 * (double)summary->sequential / (double)rw : 0);
        fprintf(out, "targets %u\n", n);
        for (unsigned i = 0; i < n && i < TARGETS_SHOWN; i++) {
                const struct dbio_trace_target *target = dbio_trace_feed_target(feed, i);
                fprintf(out, "  %-32s %s, bytes %" PRIu64 " to %" PRIu64 "\n", target->name,
                        target->reads && target->writes ? "read and written" : target->writes ? "written" : "read", target->begin,
                        target->end);
        }
        if (n > TARGETS_SHOWN)
                fprintf(out, "  and %u more\n", n - TARGETS_SHOWN);
        print_odd(feed, out);
}

static json_t *counts_json(const struct dbio_trace_summary *summary)
{
        json_t *root = json_object();

        for (unsigned i = 0; i < KINDS; i++)
                json_object_set_new(root, dbio_kind_name(kinds[i]),
                                    json_pack("{s:I, s:I}", "ios", (json_int_t)summary->ios[kinds[i]], "bytes",
                                              (json_int_t)summary->bytes[kinds[i]]));
        return root;
}

static json_t *sizes_json(const struct dbio_trace_summary *summary)
{
        json_t *list = json_array();

        for (unsigned k = 0; k < sizeof summary->sizes / sizeof *summary->sizes; k++)
                if (summary->sizes[k])
                        json_array_append_new(list, json_pack("{s:I, s:I}", "up_to_bytes", (json_int_t)(1ull << k), "ios",
                                                              (json_int_t)summary->sizes[k]));
        return list;
}

void dbio_trace_summary_json(struct dbio_trace_feed *feed, FILE *out)
{
        const struct dbio_trace_summary *summary = dbio_trace_feed_summary(feed);
        const struct dbio_trace_input *input = dbio_trace_feed_input(feed);
        json_t *root = json_object(), *targets = json_array(), *skipped = json_object();
        const struct {
                const char *name;
                uint64_t value;
        } numbers[] = {
                {"first_ns", summary->first_ns}, {"span_ns", summary->last_ns - summary->first_ns}, {"end_ns", summary->end_ns},
                {"min_offset", summary->min_offset}, {"max_end", summary->max_end}, {"sequential", summary->sequential},
                {"inversions", summary->inversions}, {"rejected", summary->bad}, {"misaligned_512", summary->misaligned[0]},
                {"misaligned_4096", summary->misaligned[1]}, {"rounded", summary->rounded}, {"folded", summary->folded}, {"gap_bytes", summary->gap_bytes},
                {"dropped_writes", summary->dropped}, {"left_out", summary->left_out}, {"zero_length", summary->zero_length},
                {"spread", summary->spread}, {"preflushes", summary->preflushes}, {"completions", summary->completions}, {"peak_depth", summary->peak_depth},
        };

        if (input) {
                json_object_set_new(root, "format", json_string(input->format->name));
                json_object_set_new(root, "file", json_string(input->paths[0]));
        }
        json_object_set_new(root, "ops", counts_json(summary));
        for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
                json_object_set_new(root, numbers[i].name, json_integer((json_int_t)numbers[i].value));
        json_object_set_new(root, "sizes", sizes_json(summary));
        for (unsigned i = 0; i < dbio_trace_feed_targets(feed); i++) {
                const struct dbio_trace_target *target = dbio_trace_feed_target(feed, i);
                json_array_append_new(targets, json_pack("{s:s, s:b, s:b, s:I, s:I}", "name", target->name, "reads", target->reads,
                                                         "writes", target->writes, "begin", (json_int_t)target->begin,
                                                         "end", (json_int_t)target->end));
        }
        json_object_set_new(root, "targets", targets);
        for (unsigned i = 0; input && i < input->nskipped; i++)
                json_object_set_new(skipped, input->skipped[i].why, json_integer((json_int_t)input->skipped[i].n));
        json_object_set_new(root, "skipped", skipped);
        json_object_set_new(root, "first_rejected", json_string(summary->first_bad));
        json_object_set_new(root, "timed", json_boolean(!summary->untimed));
        json_object_set_new(root, "not_known", json_string(summary->note));
        json_dumpf(root, out, JSON_INDENT(2));
        fputc('\n', out);
        json_decref(root);
}
