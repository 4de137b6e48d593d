/* Inputs that are cut at every byte, or made of chance: an error with its file, or a workload; never a crash. And what the
 * readers of text, tables and XML make of odd ones. */
#include <stdio.h>
#include <string.h>

#include "replay/derive.h"
#include "replay/derivecsv.h"
#include "replay/oldresults.h"
#include "replay/xmltree.h"
#include "tests/unit.h"

static const struct sample {
        const char *format, *text;
        unsigned step; /* bytes from one cut to the next: 1, more where an input is long */
} samples[] = {
        {"errorlog", "2012-05-30 02:01:56.31 spid14s FlushCache: cleaned up 16 bufs with 4 writes in 6 ms (avoided 1 new dirty bufs) for db 6:0\r\n"
                     "2012-05-30 02:01:56.31 spid14s last target outstanding: 1560, avgWriteLatency 15\r\n", 1},
        {"vfs", "database_id,file_id,sample_ms,num_of_reads,num_of_bytes_read,io_stall_read_ms,num_of_writes,num_of_bytes_written,io_stall_write_ms\n"
                "5,1,1000,10,81920,100,0,0,0\n5,1,2000,20,163840,200,9,73728,18\n", 1},
        {"innodb-status", "180305 13:24:56 INNODB MONITOR OUTPUT\n10 OS file reads, 20 OS file writes, 3 OS fsyncs\nLog sequence number 100\n"
                          "5 log i/o's done, 1 log i/o's/second\nPages read 7, created 0, written 8\n"
                          "180305 13:25:56 INNODB MONITOR OUTPUT\n20 OS file reads, 90 OS file writes, 9 OS fsyncs\nLog sequence number 900\n"
                          "9 log i/o's done, 1 log i/o's/second\nPages read 17, created 0, written 18\n", 1},
        {"awr", "Function Name Data\n--------------- -------\nDBWR 0M 0.0 0M 7.9G 186.6 2.25336 0 N/A\nLGWR 1M 0.0 .000277 5.8G 11.9 1.65642 17.4K 1.0\n", 1},
        {"perfmon", "\"(PDH-CSV 4.0)\",\"\\\\H\\PhysicalDisk(0)\\Disk Reads/sec\",\"\\\\H\\PhysicalDisk(0)\\Avg. Disk Bytes/Read\"\n\"1\",\"2\",\"8192\"\n", 1},
        {"iostat", "TS 1.5\n 8 0 sda 1 0 8 1 1 0 8 1 0 0 0\nTS 2.5\n 8 0 sda 9 0 88 9 9 0 88 9 0 0 0\n", 1},
        {"iostat", "Device r/s rkB/s w/s wkB/s\nsda 1 4 1 4\n\nDevice r/s rkB/s w/s wkB/s\nsda 1,5 4 1 4\n", 1},
        {"iostat", "{\"sysstat\": {\"hosts\": [{\"statistics\": [{}, {\"disk\": [{\"disk_device\": \"sda\", \"r/s\": 1, \"rkB/s\": 8}]}]}]}}", 1},
        {"procmon", "\"Time of Day\",\"Operation\",\"Path\",\"Detail\"\n\"1:00:00.5 PM\",\"ReadFile\",\"C:\\a\",\"Offset: 0, Length: 8,192\"\n", 1},
        {"sqlio", "set S=30\nsqlio -kW -s%S% -frandom -o8 -b8 -BH -t2 a.dat\n", 1},
        {"diskspd", "diskspd -b8K -r -t2 -o4 -w30 -Sh -d10 -c1M a.dat\n", 1},
        {"diskspd", "<Profile><TimeSpans><TimeSpan><Targets><Target><BlockSize>4096</BlockSize></Target></Targets></TimeSpan></TimeSpans></Profile>", 1},
        {"fio", "[global]\ndirect=1\n[a]\nrw=randrw\nbssplit=8k/80:64k/20\nfilename=/x\nruntime=9\n", 1},
        {"iometer", "'Access specification name,x\n\tA,NONE\n'size,%\n\t4096,100,50,50,0,1,0,0\n'End access specifications\n", 1},
};

static const struct dbio_derive_format *find(const char *name)
{
        for (const struct dbio_derive_format *const *format = dbio_derive_formats; *format; format++)
                if (!strcmp((*format)->name, name))
                        return *format;
        return NULL;
}

/* 0 or -1; an error must be one of the input, and name it. */
static int derive(const char *format, const char *bytes, size_t size)
{
        struct dbio_derive_file file;
        struct dbio_err err = {0};
        char *yaml = NULL, *lost = NULL;
        int code = dbio_derive_file_parse(&file, "input", bytes, size, &err);

        if (!code)
                code = dbio_derive(find(format), &file, 1, &yaml, &lost, &err);
        if (code)
                expect_msg(err.code == DBIO_USAGE && *err.message && !strcmp(err.file, "input"), "%s: %d '%s' of '%s'", format, err.code,
                           err.message, err.file);
        free(yaml);
        free(lost);
        dbio_derive_file_release(&file);
        return code;
}

START_TEST(test_samples_derive)
{
        for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
                expect_msg(!derive(samples[i].format, samples[i].text, strlen(samples[i].text)), "%s: %s", samples[i].format, samples[i].text);
}
END_TEST

START_TEST(test_cut_at_every_byte)
{
        for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
                for (size_t size = 0; size < strlen(samples[i].text); size += samples[i].step)
                        derive(samples[i].format, samples[i].text, size);
}
END_TEST

/* Bytes by chance, and samples of which one byte is another. */
START_TEST(test_bytes_by_chance)
{
        char bytes[1024];
        unsigned x = 12345;

        for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
                size_t size = strlen(samples[i].text);

                for (unsigned round = 0; round < 150; round++) {
                        memcpy(bytes, samples[i].text, size);
                        x = x * 1103515245 + 12345;
                        bytes[(x >> 8) % size] = (char)(x >> 20);
                        derive(samples[i].format, bytes, size);
                }
                for (unsigned round = 0; round < 20; round++) {
                        for (size_t b = 0; b < 300; b++) {
                                x = x * 1103515245 + 12345;
                                bytes[b] = (char)(x >> 16);
                        }
                        derive(samples[i].format, bytes, 300);
                }
        }
}
END_TEST

START_TEST(test_text)
{
        static const struct {
                const char *bytes;
                size_t size;
                unsigned n;
                const char *first;
        } texts[] = {
                {"a\r\nb", 4, 2, "a"}, {"\xef\xbb\xbf" "a  \t\n", 8, 1, "a"}, {"\xff\xfe" "a\0\n\0b\0", 8, 2, "a"},
                {"\xfe\xff\0a\0\n", 6, 1, "a"}, {"x\x80y\n", 4, 1, "x?y"}, {"\xc3\xa4", 2, 1, "\xc3\xa4"}, {"a\x01" "b", 3, 1, "a b"},
                {"\xe2\x80\xa8", 3, 1, "?"}, {"\xff\xfe" "a", 3, 1, "?"},
        };

        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
                struct dbio_derive_file file;
                struct dbio_err err = {0};

                ck_assert_int_eq(dbio_derive_file_parse(&file, "f", texts[i].bytes, texts[i].size, &err), 0);
                ck_assert_uint_eq(file.nlines, texts[i].n);
                ck_assert_str_eq(file.lines[0], texts[i].first);
                dbio_derive_file_release(&file);
        }
}
END_TEST

START_TEST(test_tables)
{
        char line[] = "a, \"b, \"\"c\"\"\" ,,1.5";
        char *columns[8];
        double value;

        ck_assert_uint_eq(dbio_csv_cut(line, ',', columns, 8), 4);
        ck_assert_str_eq(columns[1], "b, \"c\"");
        ck_assert_str_eq(columns[2], "");
        ck_assert(dbio_csv_number("1,25", true, &value) && value == 1.25);
        ck_assert(!dbio_csv_number("1,25", false, &value));
        ck_assert(!dbio_csv_number("", true, &value) && !dbio_csv_number("x", true, &value) && !dbio_csv_number("1e999999", true, &value));
        ck_assert(dbio_csv_number("2.5E-3", false, &value) && value > 0.00249 && value < 0.00251);
        ck_assert_int_eq(dbio_csv_separator("a;b;c,d"), ';');
}
END_TEST

START_TEST(test_xml)
{
        static const char text[] = "<?xml version=\"1.0\"?>\n<a b=\"1\">\n  <c> x &amp; y </c><c>2</c></a>";
        struct dbio_derive_file file;
        struct dbio_err err = {0};

        ck_assert_int_eq(dbio_derive_file_parse(&file, "f", text, strlen(text), &err), 0);
        struct dbio_xml *xml = dbio_xml_parse(&file, &err);
        ck_assert_ptr_nonnull(xml);
        ck_assert_str_eq(dbio_xml_text(xml, "c", ""), "x & y");
        ck_assert(dbio_xml_number(xml, "b", 0) == 1);
        ck_assert_uint_eq(dbio_xml_find(xml, "c")->line, 3);
        dbio_xml_free(xml);
        dbio_derive_file_release(&file);
}
END_TEST

START_TEST(test_many_deep_elements)
{
        char text[1000] = "";
        struct dbio_derive_file file;
        struct dbio_err err = {0};

        for (int i = 0; i < 100; i++)
                strcat(text, "<a>");
        ck_assert_int_eq(dbio_derive_file_parse(&file, "f", text, strlen(text), &err), 0);
        ck_assert_ptr_null(dbio_xml_parse(&file, &err));
        ck_assert_int_eq(err.code, DBIO_USAGE);
        dbio_derive_file_release(&file);
}
END_TEST

TEST_MAIN("derive", test_samples_derive, test_cut_at_every_byte, test_bytes_by_chance, test_text, test_tables, test_xml,
          test_many_deep_elements)
