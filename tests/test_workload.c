/* Loading and resolving. Expected values: the example written out; presets: sqlserver.log_write's table. */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/embedded.h"
#include "patterns/edit.h"
#include "patterns/workload.h"
#include "tests/unit.h"

#define TARGETS "targets:\n  data: {size: 50%, page: 8K, files: 2}\n  log: {size: 1GiB}\n"
#define STREAMS                                                                                                        \
        "streams:\n"                                                                                                   \
        "  reads: {pattern: sqlserver.random_read, target: data, threads: 19, depth: 4}\n"                             \
        "  checkpoint:\n"                                                                                              \
        "    pattern: sqlserver.checkpoint\n"                                                                          \
        "    target: data\n"                                                                                           \
        "    every: 60s\n"                                                                                             \
        "    pages: 10_000\n"                                                                                          \
        "    dirty: {map: extents, pages_per_write: 16.07}\n"                                                          \
        "    after: log\n"                                                                                             \
        "  log: {pattern: sqlserver.log_write, target: log, commit_rate: 2000/s}\n"
#define PHASES                                                                                                         \
        "phases:\n"                                                                                                    \
        "  - {name: warm-up, duration: 10s, streams: [reads], record: no}\n"                                           \
        "  - {name: main, duration: 5m}\n"
#define WHOLE TARGETS STREAMS PHASES

static struct dbio_workload workload;
static struct dbio_err err;

static int load_sets(const char *text, const struct dbio_set *sets, unsigned n)
{
        memset(&err, 0, sizeof err);
        return dbio_workload_load_text(&workload, "a.yaml", text, strlen(text), sets, n, &err);
}

static void load(const char *text)
{
        ck_assert_msg(!load_sets(text, NULL, 0), "%s", err.message);
}

static const char *resolved(const char *path)
{
        const struct dbio_node *node = dbio_edit_get(workload.doc->root, path);

        return node ? node->text : "(none)";
}

static void check_hash(const char *text, const char *other, bool same)
{
        char hash[65];

        load(text);
        strcpy(hash, workload.hash);
        ck_assert_uint_eq(strlen(hash), 64);
        dbio_workload_release(&workload);
        load(other);
        ck_assert_msg(!strcmp(hash, workload.hash) == same, "%s", other);
        dbio_workload_release(&workload);
}

START_TEST(everything_in_its_place)
{
        load("description: a line\nseed: 20081216\nhba: {max_outstanding: 1024, max_transfer: 1MiB}\n"
             "timeout: 20s\nworkers: 4\non_error: 10\npayload: {dedup: 5%}\n"
             "limits: ['log.commit.mean < 2ms', 'reads.read.p99 < 50ms']\nobserved: {reads.read.mean: 18.4ms}\n" WHOLE);
        ck_assert_str_eq(workload.name, "a");
        ck_assert_str_eq(workload.description, "a line");
        ck_assert_uint_eq(workload.seed, 20081216);
        ck_assert(workload.hba_given && workload.hba.ports == 1 && workload.hba.max_outstanding == 1024);
        ck_assert_uint_eq(workload.hba.max_transfer, 1048576);
        ck_assert(workload.timeout_ns == 20000000000 && workload.workers == 4 && workload.max_errors == 10);
        ck_assert(workload.compressible == 0 && workload.dedup == 0.05);
        ck_assert_uint_eq(workload.ntargets, 2);
        ck_assert_str_eq(workload.targets[0].name, "data");
        ck_assert(workload.targets[0].unit == DBIO_SIZE_SHARE && workload.targets[0].size_share == 0.5);
        ck_assert(workload.targets[0].page == 8192 && workload.targets[0].nfiles == 2);
        ck_assert(workload.targets[1].unit == DBIO_SIZE_BYTES && workload.targets[1].size_bytes == 1 << 30);
        ck_assert(workload.targets[1].layout.contiguous && workload.targets[1].nfiles == 0);
        ck_assert_uint_eq(workload.nstreams, 3);
        ck_assert_str_eq(workload.streams[0].pattern->name, "sqlserver.random_read");
        ck_assert(workload.streams[0].keys.threads == 19 && workload.streams[0].keys.depth == 4);
        ck_assert(isnan(workload.streams[0].keys.rate.per_s) && workload.streams[0].keys.stop_ns == DBIO_UNSET);
        ck_assert(workload.streams[0].keys.after == -1 && workload.streams[0].dedup == 0.05);
        ck_assert(workload.streams[1].keys.after == 2 && workload.streams[1].keys.write_through);
        ck_assert(workload.streams[1].keys.dirty.pages_per_write == 16.07);
        ck_assert(isnan(workload.streams[1].keys.dirty.density));
        ck_assert(workload.streams[2].keys.target == 1 && workload.streams[2].keys.version == 2019);
        ck_assert_uint_eq(workload.nphases, 2);
        ck_assert(!workload.phases[0].record && workload.phases[1].record);
        ck_assert(workload.phases[0].duration_ns == 10000000000 && workload.phases[0].ops == UINT64_MAX);
        ck_assert(workload.phases[0].nstreams == 1 && workload.phases[1].nstreams == 3);
        ck_assert_str_eq(workload.phases[1].resolved[2].name, "log");
        ck_assert(workload.nlimits == 2 && workload.limits[1].value == 5e7);
        ck_assert(workload.nobserved == 1 && workload.observed[0].value == 18.4e6);
        dbio_workload_release(&workload);
        dbio_workload_release(&workload);
}
END_TEST

START_TEST(not_given)
{
        load(WHOLE);
        ck_assert(!workload.hba_given && workload.timeout_ns == DBIO_UNSET && workload.workers == DBIO_UNSET);
        ck_assert(workload.max_errors == DBIO_UNSET - 1 && workload.nlimits == 0 && workload.seed == 1);
        ck_assert_str_eq(workload.text, WHOLE);
        dbio_workload_release(&workload);
}
END_TEST

START_TEST(versions_and_defaults)
{
        load(WHOLE);
        ck_assert_str_eq(resolved("streams.log.max_outstanding"), "112");
        dbio_workload_release(&workload);
        /* 2008 R2 and before: 32; the stream's own key wins over both. */
        load("defaults: {version: 2008}\n" WHOLE);
        ck_assert_str_eq(resolved("streams.log.max_outstanding"), "32");
        ck_assert_uint_eq(workload.streams[0].keys.version, 2008);
        dbio_workload_release(&workload);
        load("defaults: {version: 2008, max_outstanding: 7, depth: 3}\n" WHOLE);
        ck_assert_str_eq(resolved("streams.log.max_outstanding"), "7");
        ck_assert_str_eq(resolved("streams.reads.depth"), "4");
        ck_assert_str_eq(resolved("streams.log.depth"), "(none)");
        dbio_workload_release(&workload);
}
END_TEST

/* `think` is of closed loops and `arrival` of open ones: as defaults each goes where it applies. */
START_TEST(defaults_of_loops)
{
        load("defaults: {think: 5ms, arrival: uniform}\n" TARGETS
             "streams:\n"
             "  open: {pattern: io.random, target: data, rate: 10/s}\n"
             "  closed: {pattern: io.random, target: data}\n"
             "  rate: {pattern: sqlserver.log_write, target: log, commit_rate: 10/s}\n"
             "  sessions: {pattern: sqlserver.log_write, target: log, sessions: 2}\n"
             "phases:\n  - {name: a, duration: 1s}\n  - {name: b, duration: 1s, set: {streams.closed.rate: 5/s}}\n");
        ck_assert(workload.streams[0].keys.arrival == DBIO_UNIFORM && workload.streams[0].keys.think_ns == 0);
        ck_assert(workload.streams[1].keys.arrival == DBIO_POISSON && workload.streams[1].keys.think_ns == 5000000);
        ck_assert_str_eq(resolved("streams.rate.arrival"), "uniform");
        ck_assert_str_eq(resolved("streams.rate.think"), "0s");
        ck_assert_str_eq(resolved("streams.sessions.arrival"), "poisson");
        ck_assert_str_eq(resolved("streams.sessions.think"), "5ms");
        ck_assert(workload.phases[1].resolved[1].keys.arrival == DBIO_UNIFORM);
        ck_assert(workload.phases[1].resolved[1].keys.think_ns == 0);
        dbio_workload_release(&workload);
}
END_TEST

/* A skew among defaults is for what draws places: a dirty map has one if it is hot, and is as it is if not. */
START_TEST(defaults_of_skew)
{
        load("defaults: {skew: {zipf: 0.9}}\n" TARGETS
             "streams:\n"
             "  reads: {pattern: sqlserver.random_read, target: data}\n"
             "  extents: {pattern: sqlserver.checkpoint, target: data, pages: 8, dirty: {map: extents, density: 0.5}}\n"
             "  hot: {pattern: sqlserver.checkpoint, target: data, pages: 8, dirty: {map: hot}}\n"
             "phases:\n  - {name: a, duration: 1s}\n");
        ck_assert_str_eq(resolved("streams.extents.skew"), "uniform");
        ck_assert(workload.streams[0].keys.skew.kind == workload.streams[2].keys.skew.kind);
        ck_assert(workload.streams[0].keys.skew.kind != DBIO_SKEW_UNIFORM);
        dbio_workload_release(&workload);
}
END_TEST

START_TEST(sets)
{
        static const struct dbio_set all[] = {
                {"phases.*.duration", "5s"},    {"streams.reads.depth", "16"},
                {"phases.main.ops", "1000"},    {"phases.0.record", "yes"},
                {"hba.max_outstanding", "64"},  {"streams.checkpoint.dirty", "{density: 0.5466}"},
                {"streams.log.version", "2008"}};
        static const struct {
                struct dbio_set set;
                const char *file, *message;
        } wrong[] = {
                {{"phases.*.duration", "5"},
                 "--set phases.*.duration=5",
                 "\"5\" has no unit: write 5s or 5ms (ns us ms s m h)"},
                {{"streams.lgo.vlfs", "5"},
                 "--set streams.lgo.vlfs=5",
                 "no entry \"lgo\" in streams: did you mean \"log\"?"},
                {{"streams.log.vlf", "5"}, "--set streams.log.vlf=5", "unknown key \"vlf\": did you mean \"vlfs\"?"},
                {{"phases.9.duration", "5s"}, "--set phases.9.duration=5s", "no entry \"9\" in phases: it has warm-up main"},
                {{"seed..x", "1"},
                 "--set seed..x=1",
                 "\"seed..x\" is no key: write a dotted path such as phases.*.duration"},
                {{"streams.log.vlfs.x", "1"}, "--set streams.log.vlfs.x=1", NULL},
                {{"seed", ""}, "--set seed=", "no value"},
                {{"seed", "[1"}, "--set seed=[1", NULL},
        };

        static const struct dbio_set deep[] = {{"phases.main.set.streams.log.commit_rate", "500/s"},
                                               {"study.axes.streams.reads.depth", "[1, 2]"},
                                               {"observed.log.commit.mean", "2ms"},
                                               {"observed.reads.read.p99", "50ms"}};

        ck_assert_msg(!load_sets(WHOLE, deep, 4), "%s", err.message);
        ck_assert_ptr_nonnull(strstr(workload.resolved, "observed: {log.commit.mean: 2ms, reads.read.p99: 50ms}\n"));
        ck_assert_ptr_nonnull(strstr(workload.resolved, "    set: {streams.log.commit_rate: 500/s}\n"));
        ck_assert_ptr_nonnull(strstr(workload.resolved, "study: {axes: {streams.reads.depth: [1, 2]}}\n"));
        dbio_workload_release(&workload);
        ck_assert_msg(!load_sets(WHOLE, all, 7), "%s", err.message);
        ck_assert(workload.phases[0].duration_ns == 5000000000 && workload.phases[1].duration_ns == 5000000000);
        ck_assert(workload.streams[0].keys.depth == 16 && workload.phases[1].ops == 1000 && workload.phases[0].record);
        ck_assert(workload.hba_given && workload.hba.max_outstanding == 64);
        ck_assert(workload.streams[1].keys.dirty.density == 0.5466);
        ck_assert_str_eq(resolved("streams.log.max_outstanding"), "32");
        ck_assert_str_eq(resolved("phases.main.duration"), "5s");
        ck_assert_str_eq(workload.text, WHOLE);
        dbio_workload_release(&workload);
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
                ck_assert_int_eq(load_sets(WHOLE, &wrong[i].set, 1), -1);
                ck_assert_str_eq(err.file, wrong[i].file);
                if (wrong[i].message)
                        ck_assert_str_eq(err.message, wrong[i].message);
                ck_assert(err.code == DBIO_USAGE && err.line == 0);
        }
}
END_TEST

START_TEST(phase_set)
{
        load(TARGETS STREAMS "phases:\n"
                             "  - {name: a, duration: 10s, set: {streams.log.commit_rate: 500/s,"
                             " streams.checkpoint.dirty.pages_per_write: 8, streams.reads.threads: 2}}\n"
                             "  - {name: b, duration: 10s, set: {streams.log.commit_rate: none,"
                             " streams.log.sessions: 300, streams.log.version: 2008}}\n");
        ck_assert_uint_eq(workload.phases[0].resolved[0].keys.threads, 2);
        ck_assert_uint_eq(workload.phases[1].resolved[0].keys.threads, 19);
        ck_assert(workload.phases[0].resolved[1].keys.dirty.pages_per_write == 8);
        ck_assert(workload.streams[1].keys.dirty.pages_per_write == 16.07);
        ck_assert_uint_eq(workload.phases[1].resolved[2].keys.version, 2008);
        /* A version in a set moves the defaults that hang on it. */
        ck_assert_ptr_nonnull(strstr(workload.resolved,
                                     "set: {streams.log.version: 2008, streams.log.commit_rate: none,"
                                     " streams.log.sessions: 300, streams.log.max_outstanding: 32}"));
        dbio_workload_release(&workload);
}
END_TEST

/* The resolved text loads to itself, with the same hash. */
static void check_stable(void)
{
        struct dbio_workload again;

        ck_assert_msg(
                !dbio_workload_load_text(&again, "a.yaml", workload.resolved, strlen(workload.resolved), NULL, 0, &err),
                "%s\n%s", err.message, workload.resolved);
        ck_assert_str_eq(again.resolved, workload.resolved);
        ck_assert_str_eq(again.hash, workload.hash);
        dbio_workload_release(&again);
}

START_TEST(resolved_text_is_stable)
{
        load(WHOLE);
        check_stable();
        dbio_workload_release(&workload);
        load("name: 'it''s: a name'\ndescription: \"two\\nlines\"\nhba: {ports: 2}\non_error: continue\ntimeout: 90s\n"
             "limits: ['log.commit.mean < 2ms']\nobserved: {reads.read.mean: 18.4ms}\n"
             "targets:\n  data: {size: 1.5GiB, layout: {cluster: 64K, aged: 256K}, precondition: {fill: 2}}\n"
             "  log: {precondition: {until: steady}}\n" STREAMS
             "phases:\n  - {name: a, ops: 10_000, set: {streams.log.commit_rate: none, streams.log.sessions: 3,"
             " streams.checkpoint.dirty: {map: pages, density: 0.25}, streams.reads.skew: {zipf: 0.99}}}\n"
             "study: {axes: {streams.reads.depth: [1, 2], target.data: ['/dev/a b', sim:ssd]}, pause: 5s}\n");
        check_stable();
        dbio_workload_release(&workload);
}
END_TEST

START_TEST(installed_workloads_are_stable)
{
        unsigned n = 0;

        for (const struct dbio_embedded *file = dbio_embedded; file->path; file++) {
                char name[128];

                if (strncmp(file->path, "configs/", 8) || strstr(file->path, "/devices/"))
                        continue;
                snprintf(name, sizeof name, "%.*s", (int)strlen(file->path) - 13, file->path + 8);
                /* Those of patterns that are not there yet are the concern of the tests of configs. */
                if (dbio_workload_load(&workload, name, NULL, 0, &err)) {
                        ck_assert_msg(strstr(err.message, "no pattern") != NULL, "%s: %s", name, err.message);
                        continue;
                }
                check_stable();
                dbio_workload_release(&workload);
                n++;
        }
        ck_assert_uint_gt(n, 0);
}
END_TEST

START_TEST(hash_covers_the_demand_alone)
{
        check_hash(WHOLE,
                   "name: other\ndescription: d\nhba: {max_outstanding: 1}\nworkers: 2\non_error: continue\n"
                   "timeout: 1s\npayload: {dedup: 50%}\nlimits: ['reads.iops > 1/s']\n"
                   "observed: {reads.iops: 5/s}\nstudy: {axes: {streams.reads.depth: [1]}}\n" WHOLE,
                   true);
        check_hash(WHOLE,
                   "targets:\n  data: {size: 50%, page: 8K, files: 2, layout: {cluster: 4K},"
                   " precondition: {fill: 1}}\n  log: {size: 1024MiB}\n" STREAMS PHASES,
                   true);
        /* The same values in other words, defaults written out, keys in another order. */
        check_hash(WHOLE, "seed: 1\n" PHASES STREAMS "targets: {data: {files: 2, size: 50%}, log: {size: 1GiB}}\n",
                   true);
        check_hash(WHOLE, "seed: 2\n" WHOLE, false);
        check_hash(WHOLE, "defaults: {version: 2008}\n" WHOLE, false);
        check_hash(WHOLE, "targets: {data: {size: 49%, files: 2}, log: {size: 1GiB}}\n" STREAMS PHASES, false);
        check_hash(WHOLE,
                   TARGETS STREAMS "phases:\n  - {name: warm-up, duration: 10s, streams: [reads], record: no}\n"
                                   "  - {name: main, duration: 5m, set: {streams.reads.depth: 5}}\n",
                   false);
}
END_TEST

static void write_file(const char *folder, const char *name, const char *text)
{
        char path[256];
        FILE *file;

        snprintf(path, sizeof path, "%s/%s", folder, name);
        file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        fputs(text, file);
        fclose(file);
}

START_TEST(extends)
{
        char folder[] = "/tmp/dbio-workload.XXXXXX", path[128];

        ck_assert_ptr_nonnull(mkdtemp(folder));
        snprintf(path, sizeof path, "%s/sub", folder);
        mkdir(path, 0700);
        write_file(folder, "base.yaml", "seed: 3\n" WHOLE);
        write_file(folder, "sub/child.yaml",
                   "extends: ../base.yaml\nstreams: {reads: {depth: 9}}\n"
                   "phases: [{name: only, duration: 1s, streams: [reads]}]\n");
        write_file(folder, "sub/grandchild.yaml", "extends: child.yaml\nseed: 4\nstreams: {reads: {dept: 9}}\n");
        write_file(folder, "a.yaml", "extends: b.yaml\n");
        write_file(folder, "b.yaml", "extends: ./a.yaml\n");
        write_file(folder, "installed.yaml", "extends: sqlserver/log-only\nseed: 99\n");
        snprintf(path, sizeof path, "%s/sub/child.yaml", folder);
        ck_assert_msg(!dbio_workload_load(&workload, path, NULL, 0, &err), "%s", err.message);
        ck_assert(workload.seed == 3 && workload.nstreams == 3 && workload.nphases == 1);
        ck_assert(workload.streams[0].keys.depth == 9 && workload.streams[0].keys.threads == 19);
        ck_assert_str_eq(workload.name, "child");
        dbio_workload_release(&workload);
        /* A fault is reported in the file that has it. */
        snprintf(path, sizeof path, "%s/sub/grandchild.yaml", folder);
        ck_assert_int_eq(dbio_workload_load(&workload, path, NULL, 0, &err), -1);
        ck_assert_str_eq(err.file, path);
        ck_assert(err.line == 3 && err.column == 19);
        /* `--set extends` is the file's own key. */
        const struct dbio_set given = {"extends", "base.yaml"}, missing = {"extends", "nothing.yaml"};
        write_file(folder, "plain.yaml", "phases: [{name: only, duration: 1s, streams: [reads]}]\n");
        snprintf(path, sizeof path, "%s/plain.yaml", folder);
        ck_assert_msg(!dbio_workload_load(&workload, path, &given, 1, &err), "%s", err.message);
        ck_assert(workload.seed == 3 && workload.nstreams == 3 && workload.nphases == 1);
        dbio_workload_release(&workload);
        ck_assert_int_eq(dbio_workload_load(&workload, path, &missing, 1, &err), -1);
        ck_assert_str_eq(err.file, "--set extends=nothing.yaml");
        snprintf(path, sizeof path, "%s/a.yaml", folder);
        ck_assert_int_eq(dbio_workload_load(&workload, path, NULL, 0, &err), -1);
        ck_assert_str_eq(err.message, "extends goes round in a circle: \"./a.yaml\" again");
        snprintf(path, sizeof path, "%s/installed.yaml", folder);
        ck_assert_msg(!dbio_workload_load(&workload, path, NULL, 0, &err), "%s", err.message);
        ck_assert_uint_eq(workload.seed, 99);
        dbio_workload_release(&workload);
        snprintf(path, sizeof path, "rm -r %s", folder);
        ck_assert_int_eq(system(path), 0);
}
END_TEST

START_TEST(missing_files)
{
        ck_assert_int_eq(dbio_workload_load(&workload, "no-such.yaml", NULL, 0, &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
        ck_assert_str_eq(err.message, "no such file, nor an installed workload of that name (dbio describe workloads)");
        ck_assert_int_eq(dbio_workload_load(&workload, "sqlserver/log-olny", NULL, 0, &err), -1);
        ck_assert_str_eq(err.message, "no such file, nor an installed workload: did you mean \"sqlserver/log-only\"?");
        ck_assert_int_eq(dbio_workload_load(&workload, "sqlserver/oltp.yaml", NULL, 0, &err), -1);
        ck_assert_str_eq(err.message, "no such file, nor an installed workload: did you mean \"sqlserver/oltp\"?");
        ck_assert_int_eq(dbio_workload_load(&workload, "read-plus-checkpoint", NULL, 0, &err), -1);
        ck_assert_str_eq(err.message,
                         "no such file, nor an installed workload: did you mean \"sqlserver/read-plus-checkpoint\"?");
}
END_TEST

/* What only shows on targets of a size is still reported at its place in the file. */
START_TEST(faults_on_small_targets)
{
        static const struct dbio_geometry small[] = {{1 << 20, 1, 512}};
        struct dbio_schedule *schedule;
        struct dbio_phase phase = {0};
        char text[2048];
        int code;

        load("targets: {data: {size: 1MiB}}\nstreams:\n  reads:\n    pattern: io.random\n    target: data\n"
             "    size: 2MiB\nphases: [{name: main, duration: 1s}]\n");
        code = dbio_workload_compile(&workload, small, &schedule, &err);
        if (!code) {
                code = schedule->phase_open(schedule, 0, &phase, &err);
                schedule->phase_close(schedule, &phase);
                schedule->free(schedule);
        }
        ck_assert_int_eq(code, -1);
        dbio_err_format(&err, text, sizeof text);
        ck_assert_msg(!strncmp(text, "a.yaml:4:5: error: reads in phase main: ", 40), "%s", text);
        ck_assert_ptr_nonnull(strstr(text, "\n    at streams.reads"));
        dbio_workload_release(&workload);
}
END_TEST

/* tests/bad/NAME.yaml and, in NAME.txt, the message to the letter. */
START_TEST(bad_workloads)
{
        struct dirent **entries;
        int n = scandir("tests/bad", &entries, NULL, alphasort), tried = 0;

        ck_assert_int_gt(n, 0);
        for (int i = 0; i < n; i++) {
                char path[300], expected[2048] = "", got[2048];
                size_t length = strlen(entries[i]->d_name);
                FILE *file;

                if (length < 5 || strcmp(entries[i]->d_name + length - 5, ".yaml")) {
                        free(entries[i]);
                        continue;
                }
                snprintf(path, sizeof path, "tests/bad/%.*s.txt", (int)length - 5, entries[i]->d_name);
                file = fopen(path, "r");
                ck_assert_msg(file != NULL, "%s", path);
                expected[fread(expected, 1, sizeof expected - 1, file)] = '\0';
                fclose(file);
                snprintf(path, sizeof path, "tests/bad/%s", entries[i]->d_name);
                memset(&err, 0, sizeof err);
                ck_assert_msg(dbio_workload_load(&workload, path, NULL, 0, &err) == -1, "%s loads", path);
                ck_assert_int_eq(err.code, DBIO_USAGE);
                dbio_err_format(&err, got, sizeof got);
                ck_assert_str_eq(got, expected);
                tried++;
                free(entries[i]);
        }
        free(entries);
        ck_assert_int_ge(tried, 50);
}
END_TEST

TEST_MAIN("workload", everything_in_its_place, not_given, versions_and_defaults, defaults_of_loops,
          defaults_of_skew, sets, phase_set,
          resolved_text_is_stable, installed_workloads_are_stable, hash_covers_the_demand_alone, extends, missing_files,
          faults_on_small_targets, bad_workloads)
