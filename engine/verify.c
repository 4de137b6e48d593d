#include "engine/verify.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "engine/crc32c.h"

#define SECTOR      DBIO_VERIFY_SECTOR
#define MAGIC       0x4f494244u /* DBIO */
#define VERSION     1u
#define LOCKS       1024u
#define A_LOCK      64u          /* sectors */
#define SWEEP_BYTES ((size_t)1 << 20)

/* What may be in a sector: write ids (their low halves) from low to high; nothing is known while blurred is not below
 * low. Ids are compared as distances, so that they may wrap. */
struct sector {
        uint32_t low, high;      /* 0 = none was over yet; none has begun */
        uint32_t first;          /* the lowest in flight since there was none */
        uint32_t blurred;        /* the highest begun when a trim began, or a write failed */
        uint32_t inflight;
};

struct stamp {
        uint32_t magic;
        uint16_t version, target;
        uint64_t run, sector, write;
        uint32_t crc;
} __attribute__((packed));
_Static_assert(sizeof(struct stamp) == DBIO_VERIFY_STAMP, "the stamp is 36 bytes");

struct lock {
        _Alignas(64) atomic_flag taken;
};

struct dbio_verify {
        const struct dbio_targets *targets;
        uint64_t run;
        struct sector **sectors; /* by target */
        struct lock order;
        uint64_t next_write;     /* under order */
        _Alignas(64) _Atomic uint64_t read_sectors;
        struct lock locks[LOCKS];
        struct lock findings;
        struct dbio_verify_report report; /* but for what is atomic above */
};

/* What a sector of a read is held against. */
struct judging {
        struct dbio_verify *verify;
        unsigned target;
        uint64_t first;          /* sector in the target */
        uint32_t nr;
        const unsigned char *buffer;
        bool sweep;
};

static uint64_t sectors_of(const struct dbio_targets *targets, unsigned target)
{
        const struct dbio_geometry *geometry = &targets->targets[target].geometry;

        return geometry->file_size / SECTOR * geometry->nfiles;
}

uint64_t dbio_verify_memory(const struct dbio_targets *targets, const struct dbio_target_spec *specs)
{
        uint64_t bytes = sizeof(struct dbio_verify);

        for (unsigned i = 0; i < targets->n; i++)
                if (specs[i].writes)
                        bytes += sectors_of(targets, i) * sizeof(struct sector);
        return bytes;
}

int dbio_verify_new(struct dbio_verify **out, const struct dbio_targets *targets, struct dbio_err *err)
{
        struct dbio_verify *v = aligned_alloc(64, sizeof *v);

        if (!v)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        memset(v, 0, sizeof *v);
        v->targets = targets;
        v->next_write = 1;
        if (getrandom(&v->run, sizeof v->run, 0) != sizeof v->run)
                v->run = (uint64_t)time(NULL) << 20 | (uint64_t)getpid();
        v->sectors = calloc(targets->n + 1, sizeof(struct sector *));
        for (unsigned i = 0; v->sectors && i < targets->n; i++) {
                void *memory = mmap(NULL, sectors_of(targets, i) * sizeof(struct sector), PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

                if (memory == MAP_FAILED) {
                        dbio_verify_free(v);
                        return dbio_err_set(err, DBIO_IO, "--verify: no memory to follow target %s: %s",
                                            targets->targets[i].name, strerror(errno));
                }
                v->sectors[i] = memory;
        }
        if (!v->sectors) {
                dbio_verify_free(v);
                return dbio_err_set(err, DBIO_IO, "out of memory");
        }
        *out = v;
        return 0;
}

void dbio_verify_free(struct dbio_verify *v)
{
        if (!v)
                return;
        for (unsigned i = 0; v->sectors && i < v->targets->n; i++)
                if (v->sectors[i])
                        munmap(v->sectors[i], sectors_of(v->targets, i) * sizeof(struct sector));
        free(v->sectors);
        free(v);
}

static void take(struct lock *lock)
{
        while (atomic_flag_test_and_set_explicit(&lock->taken, memory_order_acquire))
                ;
}

static void give(struct lock *lock)
{
        atomic_flag_clear_explicit(&lock->taken, memory_order_release);
}

/* Calls each sector of a range under its lock. */
static void for_each(struct dbio_verify *v, unsigned target, uint64_t offset, uint32_t length,
                     void (*each)(struct sector *sector, uint32_t index, void *user), void *user)
{
        uint64_t first = offset / SECTOR, at = first, end = first + length / SECTOR;

        while (at < end) {
                struct lock *lock = &v->locks[(at / A_LOCK + target * 97u) % LOCKS];
                uint64_t stop = (at / A_LOCK + 1) * A_LOCK;

                take(lock);
                for (; at < end && at < stop; at++)
                        each(&v->sectors[target][at], (uint32_t)(at - first), user);
                give(lock);
        }
}

/* --- writes -------------------------------------------------------------------------------------------------------- */

static uint32_t checksum(const unsigned char *sector)
{
        uint32_t crc = dbio_crc32c(0, sector, offsetof(struct stamp, crc));

        return dbio_crc32c(crc, sector + DBIO_VERIFY_STAMP, SECTOR - DBIO_VERIFY_STAMP);
}

static void put_stamp(const struct dbio_verify *v, unsigned char *sector, unsigned target, uint64_t number, uint64_t write)
{
        struct stamp stamp = {.magic = htole32(MAGIC), .version = htole16(VERSION), .target = htole16((uint16_t)target),
                              .run = htole64(v->run), .sector = htole64(number), .write = htole64(write)};

        memcpy(sector, &stamp, sizeof stamp);
        stamp.crc = htole32(checksum(sector));
        memcpy(sector, &stamp, sizeof stamp);
}

static bool above(uint32_t a, uint32_t b)
{
        return (int32_t)(a - b) > 0;
}

struct beginning {
        uint32_t write;
        bool trim;
};

static void begin_sector(struct sector *sector, uint32_t index, void *user)
{
        const struct beginning *beginning = user;

        (void)index;
        if (sector->inflight++ == 0)
                sector->first = beginning->write;
        sector->high = beginning->write;
        if (beginning->trim)
                sector->blurred = sector->high;
}

void dbio_verify_begin(struct dbio_verify *v, unsigned target, uint64_t offset, uint32_t length, void *buffer)
{
        struct beginning beginning = {.trim = !buffer};
        uint64_t write;

        /* Drawn and noted in one, so that the ids of every sector rise in the order in which they are noted. */
        take(&v->order);
        write = v->next_write++;
        if ((uint32_t)write == 0) /* stands for none */
                write = v->next_write++;
        beginning.write = (uint32_t)write;
        for_each(v, target, offset, length, begin_sector, &beginning);
        give(&v->order);
        for (uint32_t i = 0; buffer && i < length / SECTOR; i++)
                put_stamp(v, (unsigned char *)buffer + i * SECTOR, target, offset / SECTOR + i, write);
}

static void end_sector(struct sector *sector, uint32_t index, void *user)
{
        (void)index;
        if (!*(bool *)user)
                sector->blurred = sector->high;
        if (--sector->inflight == 0)
                sector->low = sector->first; /* of writes that overlapped, any may be the last to arrive */
}

void dbio_verify_end(struct dbio_verify *v, unsigned target, uint64_t offset, uint32_t length, bool done)
{
        for_each(v, target, offset, length, end_sector, &done);
}

/* --- reads --------------------------------------------------------------------------------------------------------- */

/* Whether what was there at low is known, seen from now. */
static bool is_known(const struct sector *sector, uint32_t low)
{
        return low != 0 && (sector->blurred == 0 || above(low, sector->blurred));
}

static void note_before(struct sector *sector, uint32_t index, void *user)
{
        ((uint32_t *)user)[index] = is_known(sector, sector->low) ? sector->low : 0;
}

void dbio_verify_read_begin(struct dbio_verify *v, unsigned target, uint64_t offset, uint32_t length, uint32_t *before)
{
        for_each(v, target, offset, length, note_before, before);
}

static void add_finding(const struct judging *j, enum dbio_verify_type type, uint32_t index, uint64_t expected,
                        const struct stamp *stamp)
{
        struct dbio_verify *v = j->verify;
        struct dbio_verify_report *report = &v->report;
        struct dbio_verify_finding *finding;

        take(&v->findings);
        report->wrong[type]++;
        if (report->nfirst < DBIO_VERIFY_FINDINGS) {
                finding = &report->first[report->nfirst++];
                *finding = (struct dbio_verify_finding){.type = type, .target = (uint16_t)j->target,
                                                        .offset = (j->first + index) * SECTOR, .expected = expected};
                if (stamp) {
                        finding->found = le64toh(stamp->write);
                        finding->found_target = le16toh(stamp->target);
                        finding->found_offset = le64toh(stamp->sector) * SECTOR;
                }
        }
        give(&v->findings);
}

/* 1: a stamp of this run. 0: none. -1: one that is damaged. */
static int get_stamp(const struct dbio_verify *v, const unsigned char *sector, struct stamp *stamp)
{
        memcpy(stamp, sector, sizeof *stamp);
        if (le32toh(stamp->magic) != MAGIC || le16toh(stamp->version) != VERSION || le64toh(stamp->run) != v->run)
                return 0;
        return le32toh(stamp->crc) == checksum(sector) ? 1 : -1;
}

/* Whether a sector of the read, with its own stamp, is of that write. */
static bool is_there(const struct judging *j, uint32_t write)
{
        for (uint32_t i = 0; i < j->nr; i++) {
                struct stamp stamp;

                if (get_stamp(j->verify, j->buffer + i * SECTOR, &stamp) == 1 && (uint32_t)le64toh(stamp.write) == write &&
                    le16toh(stamp.target) == j->target && le64toh(stamp.sector) == j->first + i)
                        return true;
        }
        return false;
}

/* What a sector may hold. */
struct expected {
        uint32_t low, high;      /* low 0: not known */
        bool overlapped;         /* a write was in flight meanwhile: half of it may have been seen (page cache) */
};

static void judge(const struct judging *j, uint32_t index, const struct expected *e)
{
        const unsigned char *sector = j->buffer + index * SECTOR;
        struct stamp stamp;
        int kind = get_stamp(j->verify, sector, &stamp);

        if (kind == 1 && (le16toh(stamp.target) != j->target || le64toh(stamp.sector) != j->first + index)) {
                add_finding(j, DBIO_VERIFY_MISDIRECTED, index, e->high, &stamp);
                return;
        }
        if (e->low == 0 || (kind == 1 ? (uint32_t)le64toh(stamp.write) - e->low <= e->high - e->low : e->overlapped))
                return;
        if (kind < 0)
                add_finding(j, DBIO_VERIFY_CORRUPT, index, e->high, &stamp);
        else if (is_there(j, e->high))
                add_finding(j, DBIO_VERIFY_TORN, index, e->high, kind ? &stamp : NULL);
        else
                add_finding(j, j->sweep ? DBIO_VERIFY_LOST : DBIO_VERIFY_STALE, index, e->high, kind ? &stamp : NULL);
}

/* Of a piece of a read that has ended. */
struct ending {
        const uint32_t *before;
        struct expected expected[A_LOCK];
};

static void note_after(struct sector *sector, uint32_t index, void *user)
{
        struct ending *ending = user;
        uint32_t low = ending->before[index];

        ending->expected[index] = (struct expected){.low = is_known(sector, low) ? low : 0, .high = sector->high,
                                                    .overlapped = sector->inflight || sector->high != low};
}

void dbio_verify_read_end(struct dbio_verify *v, unsigned target, uint64_t offset, uint32_t length, const void *buffer,
                          const uint32_t *before)
{
        const struct judging j = {.verify = v, .target = target, .first = offset / SECTOR, .nr = length / SECTOR,
                                  .buffer = buffer};

        for (uint32_t done = 0; done < j.nr;) {
                uint32_t part = j.nr - done < A_LOCK ? j.nr - done : A_LOCK;
                struct ending ending = {.before = before + done};

                for_each(v, target, offset + done * SECTOR, part * SECTOR, note_after, &ending);
                for (uint32_t i = 0; i < part; i++)
                        judge(&j, done + i, &ending.expected[i]);
                done += part;
        }
        atomic_fetch_add_explicit(&v->read_sectors, j.nr, memory_order_relaxed);
}

int dbio_verify_reads_init(struct dbio_verify_reads *reads, unsigned n, uint64_t max_length)
{
        memset(reads, 0, sizeof *reads);
        reads->stride = (unsigned)(max_length / SECTOR + 1);
        reads->memory = mmap(NULL, (size_t)n * reads->stride * sizeof *reads->memory, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        reads->free = calloc(n, sizeof *reads->free);
        reads->n = n;
        if (reads->memory == MAP_FAILED)
                reads->memory = NULL;
        if (!reads->memory || !reads->free) {
                dbio_verify_reads_release(reads);
                return -1;
        }
        for (unsigned i = n; i > 0; i--)
                reads->free[reads->nfree++] = i;
        return 0;
}

void dbio_verify_reads_release(struct dbio_verify_reads *reads)
{
        if (reads->memory)
                munmap(reads->memory, (size_t)reads->n * reads->stride * sizeof *reads->memory);
        free(reads->free);
        memset(reads, 0, sizeof *reads);
}

/* --- the sweep ----------------------------------------------------------------------------------------------------- */

static int read_all(int fd, unsigned char *buffer, size_t bytes, uint64_t at)
{
        while (bytes > 0) {
                ssize_t n = pread(fd, buffer, bytes, (off_t)at);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? -errno : -EIO;
                buffer += n;
                bytes -= (size_t)n;
                at += (uint64_t)n;
        }
        return 0;
}

static bool touched(const struct sector *sectors, uint32_t nr)
{
        for (uint32_t i = 0; i < nr; i++)
                if (sectors[i].high)
                        return true;
        return false;
}

/* One piece of a file. Sectors that were never written are judged too: a write may have strayed there. */
static int sweep_piece(struct dbio_verify *v, const struct dbio_file *io, uint64_t in_file, uint64_t in_target,
                       unsigned char *buffer, uint32_t bytes)
{
        const struct sector *sectors = v->sectors[io->target] + in_target / SECTOR;
        struct judging j = {.verify = v, .target = io->target, .first = in_target / SECTOR, .nr = bytes / SECTOR,
                            .buffer = buffer, .sweep = true};
        int code = read_all(io->fd, buffer, bytes, io->base + in_file);

        for (uint32_t i = 0; code == 0 && i < j.nr; i++) {
                bool known = !sectors[i].inflight && is_known(&sectors[i], sectors[i].low);
                struct expected expected = {.low = known ? sectors[i].low : 0, .high = sectors[i].high};

                judge(&j, i, &expected);
                v->report.swept_sectors += known;
                v->report.unknown_sectors += sectors[i].high && !known;
        }
        return code;
}

/* Untouched memory costs nothing to skip: pieces without a written sector are not read. */
static int sweep_file(struct dbio_verify *v, unsigned file, unsigned char *buffer, atomic_int *stop,
                      void (*progress)(void *user, const char *what, uint64_t done_bytes, uint64_t all_bytes), void *user)
{
        const struct dbio_file *io = &v->targets->io_files[file];
        const struct dbio_target *target = &v->targets->targets[io->target];
        uint64_t before = (file - target->first_file) * target->geometry.file_size;

        if (progress)
                progress(user, "verifying", 0, target->geometry.file_size);
        for (uint64_t at = 0; at < target->geometry.file_size; at += SWEEP_BYTES) {
                uint64_t left = target->geometry.file_size - at;
                uint32_t bytes = (uint32_t)(left < SWEEP_BYTES ? left : SWEEP_BYTES);
                int code = 0;

                if (stop && *stop)
                        return -ECANCELED;
                if (touched(v->sectors[io->target] + (before + at) / SECTOR, bytes / SECTOR))
                        code = sweep_piece(v, io, at, before + at, buffer, bytes);
                if (code != 0)
                        return code;
                if (progress)
                        progress(user, "verifying", at + bytes, target->geometry.file_size);
        }
        return 0;
}

int dbio_verify_sweep(struct dbio_verify *v, atomic_int *stop,
                      void (*progress)(void *user, const char *what, uint64_t done_bytes, uint64_t all_bytes),
                      void *user, struct dbio_err *err)
{
        unsigned char *buffer = aligned_alloc(4096, SWEEP_BYTES);
        int code = 0;

        if (!buffer)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        for (unsigned i = 0; i < v->targets->nfiles && code == 0; i++)
                if (v->targets->io_files[i].fd >= 0) {
                        code = sweep_file(v, i, buffer, stop, progress, user);
                        if (code != 0)
                                dbio_err_set(err, DBIO_IO, "verifying %s: %s", v->targets->files[i].path,
                                             strerror(-code));
                }
        free(buffer);
        return code ? -1 : 0;
}

/* --- the report ---------------------------------------------------------------------------------------------------- */

void dbio_verify_report(const struct dbio_verify *v, struct dbio_verify_report *report)
{
        *report = v->report;
        report->writes = v->next_write - 1;
        report->read_sectors = atomic_load(&v->read_sectors);
}

const char *dbio_verify_type_name(enum dbio_verify_type type)
{
        static const char *const names[DBIO_VERIFY_TYPES] = {"torn", "lost", "stale", "misdirected", "corrupt"};

        return names[type];
}

void dbio_verify_format(const struct dbio_verify_finding *f, const struct dbio_targets *targets, char *text, size_t size)
{
        int n = snprintf(text, size, "%s: target %s, byte %" PRIu64 ": ", dbio_verify_type_name(f->type),
                         targets->targets[f->target].name, f->offset);
        char found[64] = "a content that this run did not write";

        if (n < 0 || (size_t)n >= size)
                return;
        if (f->found)
                snprintf(found, sizeof found, "write %" PRIu64, f->found);
        if (f->type == DBIO_VERIFY_CORRUPT)
                snprintf(text + n, size - (size_t)n, "a wrong checksum instead of write %" PRIu64, f->expected);
        else if (f->type == DBIO_VERIFY_MISDIRECTED)
                snprintf(text + n, size - (size_t)n, "%s, which belongs to target %s, byte %" PRIu64, found,
                         f->found_target < targets->n ? targets->targets[f->found_target].name : "?", f->found_offset);
        else
                snprintf(text + n, size - (size_t)n, "%s instead of write %" PRIu64, found, f->expected);
}
