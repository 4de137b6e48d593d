/* Workloads on simulated devices through everything that a run uses but the store. The published figures are those of
 * test_sim_studies.c, with its gates; here the database's own patterns make the load. */
#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "engine/embedded.h"
#include "tests/simrun.h"

#define S UINT64_C(1000000000)

static void near(const char *what, double got, double published, double gate)
{
        ck_assert_msg(fabs(got / published - 1) <= gate, "%s: %.3f, published %.3f, %+.1f %%", what, got, published,
                      100 * (got / published - 1));
}

static double mean_ms(const struct dbio_hist *hist)
{
        return (double)hist->sum_ns / (double)hist->count / 1e6;
}

/* Reads a second in the intervals before the episode, and from its beginning until three intervals in a row have 95 %
 * of that again. */
static void around(const struct simrun_stream *stream, const struct dbio_episode *episode, uint64_t interval_ns,
                   double *quiet, double *affected)
{
        unsigned begin = (unsigned)(episode->begin_ns / interval_ns), end = begin;
        double per_s = (double)S / (double)interval_ns, sum = 0;

        for (unsigned i = 1; i < begin; i++)
                sum += (double)stream->reads[i];
        *quiet = sum / (begin - 1) * per_s;
        while ((double)(stream->reads[end] + stream->reads[end + 1] + stream->reads[end + 2]) / 3 * per_s < 0.95 * *quiet)
                end++;
        sum = 0;
        for (unsigned i = begin; i < end; i++)
                sum += (double)stream->reads[i];
        *affected = end > begin ? sum / (end - begin) * per_s : *quiet;
}

START_TEST(fitted_v1_v2_shipped_read_plus_checkpoint_on_raid10)
{
        const struct dbio_embedded *shipped = dbio_embedded_find("configs/sqlserver/read-plus-checkpoint.yaml");
        const char *bindings[] = {"data=sim:raid10-15k-sas", "log=sim:raid10-15k-sas", NULL};
        struct simrun *run;
        struct simrun_stream *reads, *checkpoint;
        double quiet, affected;

        ck_assert_ptr_nonnull(shipped);
        run = simrun(shipped->text, bindings, S);
        reads = simrun_stream(run, "reads-and-checkpoint", "user-reads");
        checkpoint = simrun_stream(run, "reads-and-checkpoint", "checkpoint");
        ck_assert_uint_ge(checkpoint->episodes, 4);
        ck_assert_uint_eq(checkpoint->first.pages, 10000);
        around(reads, &checkpoint->first, S, &quiet, &affected);
        near("quiet reads/s", quiet, 3700, 0.05);
        near("affected reads/s", affected, 2000, 0.08);
        /* The dip is the cache's: the writes themselves are acknowledged in a fraction of a second. */
        ck_assert_uint_lt(checkpoint->first.end_ns - checkpoint->first.begin_ns, S);
        free(run);
}
END_TEST

static const char burst_on_ssd[] =
        "name: burst\n"
        "targets: {data: {size: 50%, page: 8K}}\n"
        "streams:\n"
        "  user-reads: {pattern: sqlserver.random_read, target: data, threads: 3, depth: 4}\n"
        "  checkpoint: {pattern: sqlserver.checkpoint, target: data, every: 10s, pages: 10_000, dirty: {map: pages},\n"
        "               outstanding_pages: 16, poll: 500us}\n"
        "phases: [{name: both, duration: 12s}]\n";

START_TEST(fitted_v4_v5_v6_checkpoint_bursts_on_iodrive)
{
        const char *bindings[] = {"data=sim:pcie-ssd-iodrive80", NULL};
        struct simrun *run = simrun(burst_on_ssd, bindings, S / 20);
        struct simrun_stream *reads = simrun_stream(run, "both", "user-reads");
        struct simrun_stream *checkpoint = simrun_stream(run, "both", "checkpoint");
        double quiet, affected;

        around(reads, &checkpoint->first, S / 20, &quiet, &affected);
        near("quiet reads/s", quiet, 42000, 0.05);
        near("affected reads/s", affected, 33000, 0.08);
        ck_assert_double_le(12 / affected * 1000, 0.4);
        ck_assert_double_ge(mean_ms(&checkpoint->kinds[DBIO_WRITE].service), 0.4);
        ck_assert_double_le(mean_ms(&checkpoint->kinds[DBIO_WRITE].service), 1.5);
        free(run);
}
END_TEST

START_TEST(fitted_v9_predicted_v10_scan_against_lookup_on_iodrive)
{
        static const char text[] =
                "name: access-paths\n"
                "targets: {data: {size: 50GiB, page: 8K}}\n"
                "streams:\n"
                "  scan: {pattern: sqlserver.scan, target: data, pages: 1_002_491}\n"
                "  lookup: {pattern: sqlserver.lookup, target: data, threads: 9, rows: 1_006_198}\n"
                "phases:\n"
                "  - {name: scan, streams: [scan], duration: 100s}\n"
                "  - {name: lookup, streams: [lookup], duration: 100s}\n";
        const char *bindings[] = {"data=sim:pcie-ssd-iodrive80", NULL};
        struct simrun *run = simrun(text, bindings, S);

        near("scan s", (double)run->phases[0].duration_ns / 1e9, 10.404, 0.05);
        near("lookup s", (double)run->phases[1].duration_ns / 1e9, 15.898, 0.07);
        free(run);
}
END_TEST

/* The window is an assumption: the study does not say how far ahead it read. */
static double scan_s(const char *layout, const char *binding, struct dbio_sim_split *split)
{
        const char *bindings[] = {binding, NULL};
        char text[512];
        struct simrun *run;
        double s;

        snprintf(text, sizeof text,
                 "name: fragments\n"
                 "targets: {data: {size: 10GiB, page: 8K, files: 2, layout: %s}}\n"
                 "streams:\n"
                 "  scan: {pattern: sqlserver.scan, target: data, pages: 579_712, window_pages: 1000, region: {to: 50%%}}\n"
                 "phases: [{name: scan, duration: 100s}]\n", layout);
        run = simrun(text, bindings, S);
        s = (double)run->phases[0].duration_ns / 1e9;
        *split = run->split;
        free(run);
        return s;
}

START_TEST(fitted_v11_predicted_v12_v13_fragmented_scans)
{
        static const char in_turn[] = "{grow: 1MiB, interleave: yes}";
        struct dbio_sim_split split;
        double contiguous = scan_s("contiguous", "data=sim:raid10-15k-sas", &split);
        double fragmented = scan_s(in_turn, "data=sim:raid10-15k-sas", &split);

        near("contiguous scan s", contiguous, 6.452, 0.10);
        near("fragmented scan s", fragmented, 10.829, 0.10);
        ck_assert_double_ge(fragmented / contiguous, 1.4);
        ck_assert_double_le(fragmented / contiguous, 2.0);
        contiguous = scan_s("contiguous", "data=sim:pcie-ssd-iodrive80", &split);
        fragmented = scan_s(in_turn, "data=sim:pcie-ssd-iodrive80", &split);
        ck_assert_double_le(fabs(fragmented / contiguous - 1), 0.01);
}
END_TEST

/* The published last target is 1600: the governor never gave way, so its latency target is out of the way here. */
static void checkpoint(const char *pages, const char *dirty, struct simrun **run)
{
        const char *bindings[] = {"data=sim:s0-checkpoint-volume", NULL};
        char text[512];

        snprintf(text, sizeof text,
                 "name: gather\n"
                 "targets: {data: {size: 32GiB, page: 8K, files: 2}}\n"
                 "streams:\n"
                 "  checkpoint: {pattern: sqlserver.checkpoint, target: data, mode: manual, pages: %s, dirty: %s, version: 2005,\n"
                 "               latency_target: 10s}\n"
                 "phases: [{name: checkpoint, duration: 100s}]\n", pages, dirty);
        *run = simrun(text, bindings, S);
}

START_TEST(fitted_v14_consecutive_pages_against_every_second_one)
{
        struct simrun *run;
        const struct dbio_episode *episode;

        checkpoint("1_572_070", "{map: extents, pages_per_write: 16.07}", &run);
        episode = &simrun_stream(run, "checkpoint", "checkpoint")->first;
        near("MiB/s", (double)episode->pages / 128 / ((double)(episode->end_ns - episode->begin_ns) / 1e9), 280.93, 0.01);
        near("writes", (double)episode->writes, 97851, 0.01);
        ck_assert_uint_eq(episode->outstanding_target, 1600);
        free(run);
        checkpoint("147_579", "{map: stride, stride: 2}", &run);
        episode = &simrun_stream(run, "checkpoint", "checkpoint")->first;
        near("MiB/s", (double)episode->pages / 128 / ((double)(episode->end_ns - episode->begin_ns) / 1e9), 56.41, 0.01);
        near("writes", (double)episode->writes, 147573, 0.01);
        free(run);
}
END_TEST

/* 2,048 outstanding before an array of 5 ms with 1,024 elements wait 5 ms and are served 5 ms; 4,096 elements: no wait. */
START_TEST(hba_elements_halve_or_do_not_halve_the_response)
{
        for (unsigned elements = 1024; elements <= 4096; elements *= 4) {
                const char *bindings[] = {"data=sim:fixed-5ms", NULL};
                char text[512];
                struct simrun *run;
                struct simrun_figures *reads;

                snprintf(text, sizeof text,
                         "name: hba\n"
                         "hba: {ports: 1, max_outstanding: %u}\n"
                         "targets: {data: {size: 100GiB, page: 8K}}\n"
                         "streams: {reads: {pattern: io.random, target: data, depth: 2048}}\n"
                         "phases: [{name: load, duration: 10s}]\n", elements);
                run = simrun(text, bindings, S);
                reads = &simrun_stream(run, "load", "reads")->kinds[DBIO_READ];
                near("response ms", mean_ms(&reads->response), elements == 1024 ? 10 : 5, 0.002);
                near("service ms", mean_ms(&reads->service), 5, 1e-9);
                ck_assert_double_eq_tol(mean_ms(&reads->wait), elements == 1024 ? 5 : 0, 0.02);
                ck_assert_uint_eq(run->phases[0].outstanding.peak, elements == 1024 ? 1024 : 2048);
                free(run);
        }
}
END_TEST

START_TEST(a_cluster_size_that_changes_nothing_splits_nothing)
{
        const char *bindings[] = {"data=sim:raid10-15k-sas", NULL};
        uint64_t ios[3], bytes[3];
        static const char *const clusters[] = {"4K", "8K", "64K"};

        for (int i = 0; i < 3; i++) {
                char text[512];
                struct simrun *run;

                snprintf(text, sizeof text,
                         "name: clusters\n"
                         "targets: {data: {size: 100GiB, page: 8K, layout: {cluster: %s, grow: 1MiB, interleave: yes}}}\n"
                         "streams: {reads: {pattern: io.random, target: data, depth: 16, size: 64K}}\n"
                         "phases: [{name: load, duration: 5s}]\n", clusters[i]);
                run = simrun(text, bindings, S);
                ck_assert_uint_eq(run->split.split, 0);
                dbio_sim_split_format(&(struct dbio_layout){.cluster = 4096u << i}, &run->split, text, sizeof text);
                ck_assert_str_eq(text, "cluster size changed nothing: 0 split I/Os");
                ios[i] = simrun_stream(run, "load", "reads")->kinds[DBIO_READ].ios;
                bytes[i] = run->split.ios;
                free(run);
        }
        ck_assert_uint_eq(ios[0], ios[1]);
        ck_assert_uint_eq(ios[0], ios[2]);
        ck_assert_uint_eq(bytes[0], bytes[2]);
}
END_TEST

START_TEST(a_cluster_size_that_changes_something_says_how_much)
{
        static const char text[] =
                "name: clusters\n"
                "targets: {data: {size: 10GiB, page: 8K, layout: {cluster: 4K, aged: 64K}}}\n"
                "streams: {reads: {pattern: io.random, target: data, depth: 16, size: 8K}}\n"
                "phases: [{name: load, duration: 20s}]\n";
        const char *bindings[] = {"data=sim:raid10-15k-sas", NULL};
        struct simrun *run = simrun(text, bindings, S);
        char said[128];

        near("pieces", (double)run->split.pieces / (double)run->split.ios, 1 + 4096.0 / 65536, 0.01);
        dbio_sim_split_format(&(struct dbio_layout){.cluster = 4096}, &run->split, said, sizeof said);
        ck_assert_ptr_nonnull(strstr(said, "pieces an I/O"));
        free(run);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_figures_through_the_pacer)
{
        const char *bindings[] = {"data=sim:pcie-ssd-iodrive80", NULL};
        struct simrun *a = simrun(burst_on_ssd, bindings, S / 10), *b = simrun(burst_on_ssd, bindings, S / 10);

        a->cpu_s = b->cpu_s = 0;
        ck_assert_int_eq(memcmp(a, b, sizeof *a), 0);
        free(a);
        free(b);
}
END_TEST

TEST_MAIN("sim_workloads", fitted_v1_v2_shipped_read_plus_checkpoint_on_raid10, fitted_v4_v5_v6_checkpoint_bursts_on_iodrive,
          fitted_v9_predicted_v10_scan_against_lookup_on_iodrive, fitted_v11_predicted_v12_v13_fragmented_scans,
          fitted_v14_consecutive_pages_against_every_second_one, hba_elements_halve_or_do_not_halve_the_response,
          a_cluster_size_that_changes_nothing_splits_nothing, a_cluster_size_that_changes_something_says_how_much,
          the_same_seed_gives_the_same_figures_through_the_pacer)
