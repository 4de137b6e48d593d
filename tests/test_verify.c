/* --verify: clean runs give no finding, every injected fault of data is found and called by its name. */
#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "engine/backend_faulty.h"
#include "engine/crc32c.h"
#include "engine/verify.h"
#include "tests/enginekit.h"

#define MIB  ((uint64_t)1 << 20)
#define PAGE 8192u

/* RFC 3720, appendix B.4, and the check value of the CRC catalogue. */
START_TEST(crc32c_is_the_one_of_iscsi)
{
        unsigned char bytes[48] = {0};
        uint32_t (*const both[])(uint32_t, const void *, size_t) = {dbio_crc32c, dbio_crc32c_plain};

        for (int i = 0; i < 2; i++) {
                memset(bytes, 0, 32);
                ck_assert_uint_eq(both[i](0, "123456789", 9), 0xe3069283);
                ck_assert_uint_eq(both[i](0, bytes, 32), 0x8a9136aa);
                memset(bytes, 0xff, 32);
                ck_assert_uint_eq(both[i](0, bytes, 32), 0x62a8ab43);
                for (unsigned k = 0; k < 32; k++)
                        bytes[k] = (unsigned char)k;
                ck_assert_uint_eq(both[i](0, bytes, 32), 0x46dd794e);
                ck_assert_uint_eq(both[i](both[i](0, bytes, 13), bytes + 13, 19), 0x46dd794e);
        }
}
END_TEST

/* --- the module alone ---------------------------------------------------------------------------------------------- */

struct board {
        struct dbio_target target;
        struct dbio_targets targets;
        struct dbio_verify *verify;
        struct dbio_verify_report report;
        uint32_t before[64];
        unsigned char a[PAGE], b[PAGE];
};

static struct board *board_new(void)
{
        struct board *board = calloc(1, sizeof *board);

        board->target = (struct dbio_target){.name = "data", .geometry = {.file_size = MIB, .nfiles = 1, .sector = 512}};
        board->targets = (struct dbio_targets){.n = 1, .targets = &board->target};
        ck_assert_int_eq(dbio_verify_new(&board->verify, &board->targets, NULL), 0);
        return board;
}

static void board_free(struct board *board)
{
        dbio_verify_free(board->verify);
        free(board);
}

static void write_page(struct board *board, unsigned char *buffer, uint64_t offset, bool done)
{
        dbio_verify_begin(board->verify, 0, offset, PAGE, buffer);
        dbio_verify_end(board->verify, 0, offset, PAGE, done);
}

/* Reads `content` at offset; returns how many sectors were found wrong by that. */
static uint64_t read_page(struct board *board, const unsigned char *content, uint64_t offset)
{
        uint64_t before = 0, after = 0;

        dbio_verify_report(board->verify, &board->report);
        for (int i = 0; i < DBIO_VERIFY_TYPES; i++)
                before += board->report.wrong[i];
        dbio_verify_read_begin(board->verify, 0, offset, PAGE, board->before);
        dbio_verify_read_end(board->verify, 0, offset, PAGE, content, board->before);
        dbio_verify_report(board->verify, &board->report);
        for (int i = 0; i < DBIO_VERIFY_TYPES; i++)
                after += board->report.wrong[i];
        return after - before;
}

START_TEST(sectors_are_judged_one_by_one)
{
        struct board *board = board_new();
        unsigned char torn[PAGE], other[PAGE] = {0};
        char text[256];

        ck_assert_uint_eq(read_page(board, other, 0), 0); /* never written: anything may be there */
        write_page(board, board->a, 0, true);
        ck_assert_uint_eq(read_page(board, board->a, 0), 0);
        ck_assert_uint_eq(read_page(board, other, 0), 16); /* 8192 bytes are 16 sectors */
        ck_assert_uint_eq(board->report.wrong[DBIO_VERIFY_STALE], 16);
        write_page(board, board->b, 0, true);
        ck_assert_uint_eq(read_page(board, board->b, 0), 0);
        ck_assert_uint_eq(read_page(board, board->a, 0), 16);
        ck_assert_uint_eq(board->report.wrong[DBIO_VERIFY_STALE], 32);

        memcpy(torn, board->b, PAGE);
        memcpy(torn + 5 * 512, board->a + 5 * 512, 512);
        ck_assert_uint_eq(read_page(board, torn, 0), 1);
        ck_assert_uint_eq(board->report.wrong[DBIO_VERIFY_TORN], 1);

        memcpy(torn, board->b, PAGE);
        torn[3 * 512 + 400] ^= 1;
        ck_assert_uint_eq(read_page(board, torn, 0), 1);
        ck_assert_uint_eq(board->report.wrong[DBIO_VERIFY_CORRUPT], 1);

        ck_assert_uint_eq(read_page(board, board->b, 4 * PAGE), 16); /* where nobody wrote */
        ck_assert_uint_eq(board->report.wrong[DBIO_VERIFY_MISDIRECTED], 16);
        ck_assert_uint_eq(board->report.nfirst, DBIO_VERIFY_FINDINGS);
        ck_assert_uint_eq(board->report.writes, 2);
        dbio_verify_format(&board->report.first[0], &board->targets, text, sizeof text);
        ck_assert_str_eq(text, "stale: target data, byte 0: a content that this run did not write instead of write 1");
        board_free(board);
}
END_TEST

START_TEST(of_overlapping_writes_either_is_legal)
{
        struct board *board = board_new();
        unsigned char old[PAGE];

        write_page(board, old, 0, true);
        dbio_verify_begin(board->verify, 0, 0, PAGE, board->a);
        dbio_verify_begin(board->verify, 0, 0, PAGE, board->b);
        ck_assert_uint_eq(read_page(board, old, 0), 0);
        ck_assert_uint_eq(read_page(board, board->b, 0), 0);
        dbio_verify_end(board->verify, 0, 0, PAGE, true);
        dbio_verify_end(board->verify, 0, 0, PAGE, true);
        ck_assert_uint_eq(read_page(board, board->a, 0), 0);
        ck_assert_uint_eq(read_page(board, board->b, 0), 0);
        ck_assert_uint_eq(read_page(board, old, 0), 16);
        write_page(board, old, 0, true);
        ck_assert_uint_eq(read_page(board, board->b, 0), 16);

        /* A write that begins and ends within a read. */
        dbio_verify_read_begin(board->verify, 0, 0, PAGE, board->before);
        memcpy(board->b, old, PAGE);
        write_page(board, board->a, 0, true);
        dbio_verify_read_end(board->verify, 0, 0, PAGE, board->b, board->before);
        ck_assert_uint_eq(read_page(board, board->a, 0), 0);
        dbio_verify_report(board->verify, &board->report);
        ck_assert_uint_eq(board->report.wrong[DBIO_VERIFY_STALE], 32);
        board_free(board);
}
END_TEST

START_TEST(failed_writes_and_trims_are_unknown)
{
        struct board *board = board_new();
        unsigned char old[PAGE], garbage[PAGE];

        memset(garbage, 0x33, sizeof garbage);
        write_page(board, old, 0, true);
        write_page(board, board->a, 0, false);
        ck_assert_uint_eq(read_page(board, old, 0), 0);
        ck_assert_uint_eq(read_page(board, board->a, 0), 0);
        ck_assert_uint_eq(read_page(board, garbage, 0), 0);
        write_page(board, board->b, 0, true);
        ck_assert_uint_eq(read_page(board, garbage, 0), 16);
        dbio_verify_begin(board->verify, 0, 0, PAGE, NULL);
        ck_assert_uint_eq(read_page(board, board->b, 0), 0);
        dbio_verify_end(board->verify, 0, 0, PAGE, false);
        ck_assert_uint_eq(read_page(board, garbage, 0), 0);
        board_free(board);
}
END_TEST

/* --- the engine ---------------------------------------------------------------------------------------------------- */

/* Reads, writes and now and then a trim or fsync at random sectors of the target: many overlap. */
struct mixed {
        struct dbio_source source;
        uint64_t state, left, sectors;
        bool trims;
};

static uint64_t draw(struct mixed *mixed, uint64_t below)
{
        mixed->state ^= mixed->state << 13;
        mixed->state ^= mixed->state >> 7;
        mixed->state ^= mixed->state << 17;
        return mixed->state % below;
}

static unsigned fill(struct dbio_source *source, uint64_t now_ns, struct dbio_op *ops, unsigned max)
{
        struct mixed *mixed = (struct mixed *)source;
        unsigned nr = 0;

        (void)now_ns;
        for (; nr < max && mixed->left > 0; mixed->left--) {
                uint64_t kind = draw(mixed, 100);
                uint32_t sectors = 1 + (uint32_t)draw(mixed, 16);

                ops[nr] = (struct dbio_op){.due_ns = DBIO_NO_DUE, .kind = kind < 45 ? DBIO_READ : DBIO_WRITE};
                if (kind == 99)
                        ops[nr].kind = DBIO_FSYNC;
                else if (kind == 98 && mixed->trims)
                        ops[nr].kind = DBIO_TRIM;
                if (ops[nr].kind != DBIO_FSYNC) {
                        ops[nr].length = sectors * 512;
                        ops[nr].offset = draw(mixed, mixed->sectors - sectors) * 512;
                }
                nr++;
        }
        source->ended = mixed->left == 0;
        return nr;
}

static const struct dbio_source_class mixed_class = {.fill = fill};

/* Two streams of `ops` each over a file of `bytes`, on `engine` with faults (NULL = without). */
static struct kit *run_mixed(const char *engine, const char *faults, uint64_t ops, uint64_t bytes, unsigned depth)
{
        static struct dbio_fault_plan plan;
        static struct mixed mixed[2];
        struct kit *kit = malloc(sizeof *kit);
        FILE *file = tmpfile();
        char path[] = "data";
        struct dbio_file io = {.fd = fileno(file), .size = bytes, .sector = 512};
        struct dbio_target_file named = {.path = path};
        struct dbio_target target = {.name = "data", .kind = DBIO_TARGET_FILE,
                                     .geometry = {.file_size = bytes, .nfiles = 1, .sector = 512}};
        struct dbio_targets targets = {.n = 1, .targets = &target, .nfiles = 1, .io_files = &io, .files = &named};

        ck_assert_int_eq(ftruncate(io.fd, (off_t)bytes), 0);
        kit_init(kit);
        kit->real = true;
        kit->targets = &targets;
        kit->options.null_payload = false;
        kit->options.verify = true;
        kit->options.workers = 2;
        plan = (struct dbio_fault_plan){0};
        if (faults)
                ck_assert_int_eq(dbio_fault_plan_parse(&plan, faults, NULL), 0);
        plan.inner = dbio_backend_find(engine);
        kit->options.backend = faults ? dbio_backend_faulty(&plan) : plan.inner;
        for (int i = 0; i < 2; i++) {
                mixed[i] = (struct mixed){.source.class = &mixed_class, .state = 88172645463325252u + (unsigned)i,
                                          .left = ops, .sectors = bytes / 512, .trims = !faults};
                kit_add_source(kit, i ? "two" : "one", 0, &mixed[i].source)->depth = depth;
        }
        ck_assert_msg(kit_run(kit) == 0, "%s", kit->err.message);
        fclose(file);
        return kit;
}

static uint64_t wrong(const struct kit *kit)
{
        uint64_t sum = 0;

        for (int i = 0; i < DBIO_VERIFY_TYPES; i++)
                sum += kit->verified.wrong[i];
        return sum;
}

/* A container may forbid io_uring. */
static bool is_offered(const char *engine)
{
        const struct dbio_backend *backend = dbio_backend_find(engine);
        struct dbio_clock clock;
        struct dbio_backend_env env = {.clock = &clock, .max_inflight = 1};
        void *state = NULL;

        dbio_clock_init_real(&clock);
        if (backend->open(&state, &env, NULL) != 0)
                return false;
        backend->close(state);
        return true;
}

/* DBIO_VERIFY_OPS raises the number: ten million take a few minutes. */
START_TEST(clean_ops_give_no_finding)
{
        static const char *const engines[] = {"sync", "libaio", "io_uring"};
        uint64_t ops = getenv("DBIO_VERIFY_OPS") ? strtoull(getenv("DBIO_VERIFY_OPS"), NULL, 10) : 10000;

        for (int i = 0; i < 3; i++) {
                struct kit *kit = is_offered(engines[i]) ? run_mixed(engines[i], NULL, ops / 2, MIB, 16) : NULL;

                if (!kit)
                        continue;

                ck_assert_uint_eq(wrong(kit), 0);
                ck_assert_uint_eq(kit->figures[0].errors + kit->figures[1].errors, 0);
                ck_assert_uint_gt(kit->verified.writes, ops / 3);
                ck_assert_uint_gt(kit->verified.read_sectors, ops);
                ck_assert_uint_gt(kit->verified.swept_sectors, MIB / 512 / 2);
                kit_release(kit);
        }
}
END_TEST

/* Ops far apart in a large file seldom overlap, so that a lost write is not excused by its neighbours. */
static void expect_finding(const char *faults, enum dbio_verify_type type)
{
        struct kit *kit = run_mixed("sync", faults, 1000, 16 * MIB, 4);

        ck_assert_msg(kit->verified.wrong[type] > 0, "%s: no sector %s", faults, dbio_verify_type_name(type));
        ck_assert_uint_gt(kit->verified.nfirst, 0);
        kit_release(kit);
}

START_TEST(every_fault_of_data_is_found)
{
        expect_finding("torn:every=20", DBIO_VERIFY_TORN);
        expect_finding("lost:every=20,kind=write", DBIO_VERIFY_LOST);
        expect_finding("misdirected:every=20,kind=write,distance=1MiB", DBIO_VERIFY_MISDIRECTED);
        expect_finding("flip:every=20,kind=write", DBIO_VERIFY_CORRUPT);
}
END_TEST

START_TEST(stale_and_wrong_reads_are_found)
{
        /* Half of the writes are lost, so that reads of a small file soon get what was there before. */
        struct kit *kit = run_mixed("sync", "lost:every=2,kind=write", 2000, MIB, 1);

        ck_assert_uint_gt(kit->verified.wrong[DBIO_VERIFY_STALE], 0);
        kit_release(kit);
        kit = run_mixed("sync", "misdirected:every=2,kind=read,distance=64K;flip:every=3,kind=read", 2000, MIB, 1);
        ck_assert_uint_gt(kit->verified.wrong[DBIO_VERIFY_MISDIRECTED], 0);
        ck_assert_uint_gt(kit->verified.wrong[DBIO_VERIFY_CORRUPT], 0);
        kit_release(kit);
}
END_TEST

START_TEST(told_errors_are_no_findings)
{
        struct kit *kit = run_mixed("sync", "error:every=7;short:every=5", 2000, MIB, 4);

        ck_assert_uint_eq(wrong(kit), 0);
        ck_assert_uint_gt(kit->figures[0].errors, 0);
        kit_release(kit);
}
END_TEST

START_TEST(verifying_needs_data)
{
        struct kit *kit = malloc(sizeof *kit);

        kit_init(kit);
        kit->options.verify = true;
        kit_add(kit, "reads", (struct kit_source){.nr = 1});
        ck_assert_int_eq(kit_run(kit), -1);
        ck_assert_int_eq(kit->err.code, DBIO_USAGE);
        kit_release(kit);
}
END_TEST

START_TEST(its_memory_is_known)
{
        struct dbio_target targets[] = {{.geometry = {.file_size = 512 * MIB, .nfiles = 2}},
                                        {.geometry = {.file_size = 4096 * MIB, .nfiles = 1}}};
        const struct dbio_target_spec specs[] = {{.writes = true}, {.reads = true}};
        uint64_t bytes = dbio_verify_memory(&(struct dbio_targets){.n = 2, .targets = targets}, specs);

        /* 20 bytes a sector of what is written: 1 GiB / 512 * 20 = 40 MiB, and 1 MiB for all else */
        ck_assert_uint_ge(bytes, 40 * MIB);
        ck_assert_uint_le(bytes, 41 * MIB);
}
END_TEST

TEST_MAIN("verify", crc32c_is_the_one_of_iscsi, sectors_are_judged_one_by_one, of_overlapping_writes_either_is_legal,
          failed_writes_and_trims_are_unknown, clean_ops_give_no_finding, every_fault_of_data_is_found,
          stale_and_wrong_reads_are_found, told_errors_are_no_findings, verifying_needs_data, its_memory_is_known)
