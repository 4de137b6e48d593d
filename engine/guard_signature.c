/* What lies on a device or in a file: signatures, and whether it is blank. */
#include "engine/guard.h"

#include <blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER_BYTES 16384u
#define SAMPLES      256u
#define SAMPLE_BYTES 4096u

static uint16_t le16(const unsigned char *b)
{
        return (uint16_t)(b[0] | b[1] << 8);
}

static uint32_t le32(const unsigned char *b)
{
        return le16(b) | (uint32_t)le16(b + 2) << 16;
}

static uint32_t be32(const unsigned char *b)
{
        return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool power_of_two(uint32_t value)
{
        return value && !(value & (value - 1));
}

/* The SQLite Database File Format, 1.3. */
static bool is_sqlite(const unsigned char *b)
{
        return memcmp(b, "SQLite format 3", 16) == 0;
}

/* Page 0 of every .mdf, .ndf and .ldf is a file header page: header version 1, type 15; page number 0 at byte 32, file
 * number from 1 at byte 36 (P. Randal, Inside the Storage Engine: Anatomy of a page). */
static bool is_sql_server(const unsigned char *b)
{
        return b[0] == 1 && b[1] == 15 && le32(b + 32) == 0 && le16(b + 36) >= 1;
}

/* MySQL, fil0types.h and fsp0fsp.h: page 0 has number 0 at byte 4, type 8 (FSP_HDR) at byte 24, and the space's number
 * both in the page's header (34) and the space's (38). */
static bool is_innodb(const unsigned char *b)
{
        return be32(b + 4) == 0 && b[24] == 0 && b[25] == 8 && be32(b + 34) == be32(b + 38);
}

/* MySQL, log0constants.h: the format's number, and at byte 16 who made it. */
static bool is_innodb_log(const unsigned char *b)
{
        static const char *const makers[] = {"MySQL ", "MariaDB ", "Percona ", "MEB "};

        for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
                if (memcmp(b + 16, makers[i], strlen(makers[i])) == 0)
                        return true;
        return false;
}

/* PostgreSQL, bufpage.h: page size and layout version 4 at byte 18, and lower <= upper <= special <= size. */
static bool is_postgres(const unsigned char *b)
{
        unsigned size = le16(b + 18) & 0xff00u, lower = le16(b + 12), upper = le16(b + 14), special = le16(b + 16);

        return (b[18] == 4 || b[18] == 3) && size >= 1024 && power_of_two(size) && lower >= 24 && lower <= upper &&
               upper <= special && special <= size;
}

/* PostgreSQL, xlog_internal.h: magic 0xD0xx or 0xD1xx, the long header's flag 2, segment size at 32, block size at 36. */
static bool is_postgres_wal(const unsigned char *b)
{
        return (b[1] == 0xd0 || b[1] == 0xd1) && b[2] & 2 && le32(b + 32) >= 1u << 20 && power_of_two(le32(b + 32)) &&
               le32(b + 36) >= 1024 && le32(b + 36) <= 65536 && power_of_two(le32(b + 36));
}

/* Block 0 of data files and redo logs: the magic `}|{z` at byte 28, in the machine's byte order. */
static bool is_oracle(const unsigned char *b)
{
        return memcmp(b + 28, "}|{z", 4) == 0 || memcmp(b + 28, "z{|}", 4) == 0;
}

/* Automatic Storage Management: the driver's name at byte 32 of the disk header. */
static bool is_asm(const unsigned char *b)
{
        return memcmp(b + 32, "ORCLDISK", 8) == 0 || memcmp(b + 32, "ORCLCLRD", 8) == 0;
}

static const struct {
        bool (*is)(const unsigned char *block);
        const char *name;
} headers[] = {
        {is_sqlite, "an SQLite database"},         {is_sql_server, "a SQL Server database file"},
        {is_asm, "an Oracle ASM disk"},            {is_oracle, "an Oracle data or log file"},
        {is_innodb, "an InnoDB tablespace"},       {is_innodb_log, "an InnoDB redo log"},
        {is_postgres, "a PostgreSQL relation"},    {is_postgres_wal, "a PostgreSQL WAL segment"},
};

static ssize_t read_block(int fd, void *buffer, size_t bytes, uint64_t at)
{
        ssize_t n;

        do {
                n = pread(fd, buffer, bytes, (off_t)at);
        } while (n < 0 && errno == EINTR);
        return n;
}

static int known_header(int fd, char *why, size_t size)
{
        unsigned char *block = calloc(1, HEADER_BYTES);
        int answer = 0;

        if (!block)
                return -1;
        if (read_block(fd, block, HEADER_BYTES, 0) < 0)
                answer = -1;
        for (size_t i = 0; answer == 0 && i < sizeof headers / sizeof *headers; i++)
                if (headers[i].is(block)) {
                        snprintf(why, size, "it holds %s", headers[i].name);
                        answer = 1;
                }
        free(block);
        return answer;
}

static int probe_signature(blkid_probe probe, char *why, size_t size)
{
        const char *type = NULL, *label = NULL;
        int code;

        blkid_probe_enable_superblocks(probe, 1);
        blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_LABEL | BLKID_SUBLKS_BADCSUM);
        blkid_probe_enable_partitions(probe, 1);
        blkid_probe_set_partitions_flags(probe, BLKID_PARTS_FORCE_GPT);
        code = blkid_do_safeprobe(probe);
        if (code == 1)
                return 0;
        if (code == -2) {
                snprintf(why, size, "it holds more than one signature (see wipefs)");
                return 1;
        }
        if (code < 0)
                return -1;
        if (blkid_probe_lookup_value(probe, "TYPE", &type, NULL) == 0) {
                blkid_probe_lookup_value(probe, "LABEL", &label, NULL);
                snprintf(why, size, "it holds a signature of %s%s%s%s", type, label ? ", label `" : "",
                         label ? label : "", label ? "`" : "");
                return 1;
        }
        if (blkid_probe_lookup_value(probe, "PTTYPE", &type, NULL) == 0) {
                snprintf(why, size, "it holds a partition table (%s)", type);
                return 1;
        }
        return 0;
}

int dbio_guard_signature(int fd, char *why, size_t size)
{
        blkid_probe probe = blkid_new_probe();
        int answer = -1;

        if (probe && blkid_probe_set_device(probe, fd, 0, 0) == 0)
                answer = probe_signature(probe, why, size);
        if (probe)
                blkid_free_probe(probe);
        return answer != 0 ? answer : known_header(fd, why, size);
}

int dbio_guard_not_blank(int fd, uint64_t bytes, char *why, size_t size)
{
        unsigned char *block = malloc(SAMPLE_BYTES);
        uint64_t blocks = bytes / SAMPLE_BYTES;
        unsigned samples = blocks < SAMPLES ? (unsigned)blocks : SAMPLES;
        int answer = 0;

        if (!block)
                return -1;
        posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM); /* no read-ahead around the samples */
        for (unsigned i = 0; i < samples && answer == 0; i++) {
                uint64_t at = samples == 1 ? 0 : (uint64_t)((unsigned __int128)(blocks - 1) * i / (samples - 1));
                ssize_t n = read_block(fd, block, SAMPLE_BYTES, at * SAMPLE_BYTES);

                if (n < 0)
                        answer = -1;
                for (ssize_t k = 0; k < n && answer == 0; k++)
                        if (block[k]) {
                                snprintf(why, size, "it is not blank (byte %" PRIu64 ")", at * SAMPLE_BYTES + (uint64_t)k);
                                answer = 1;
                        }
        }
        free(block);
        return answer;
}
