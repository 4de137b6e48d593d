/* Positions and rules: YAML 1.1 and the contract's Messages paragraph. */
#include <string.h>
#include <unistd.h>

#include "engine/near.h"
#include "patterns/doc.h"
#include "tests/unit.h"

static struct dbio_doc doc;
static struct dbio_err err;

static int parse(const char *text)
{
        memset(&err, 0, sizeof err);
        return dbio_doc_parse(&doc, "a.yaml", text, strlen(text), &err);
}

static void check_fails(const char *text, unsigned line, unsigned column, const char *message)
{
        ck_assert_msg(parse(text) == -1, "%s", text);
        ck_assert_str_eq(err.message, message);
        ck_assert_msg(err.line == line && err.column == column, "%u:%u %s", err.line, err.column, message);
        ck_assert_int_eq(err.code, DBIO_USAGE);
        ck_assert_str_eq(err.file, "a.yaml");
}

START_TEST(positions_and_paths)
{
        struct dbio_node *node;
        char path[64];

        ck_assert_int_eq(parse("name: x\nphases:\n  - {name: a}\n  - name: b\n    streams: [u, 'v w']\n"), 0);
        node = dbio_node_get(doc.root, "phases");
        ck_assert_ptr_nonnull(node);
        ck_assert_int_eq(node->type, DBIO_NODE_LIST);
        node = dbio_node_get(node->items[1], "streams")->items[1];
        ck_assert_str_eq(node->text, "v w");
        ck_assert(node->quoted && node->line == 5 && node->column == 18);
        dbio_node_path(node, path, sizeof path);
        ck_assert_str_eq(path, "phases[1].streams[1]");
        dbio_node_error(node, &err, "no %s", "such");
        char text[128];
        dbio_err_format(&err, text, sizeof text);
        ck_assert_str_eq(text, "a.yaml:5:18: error: no such\n    at phases[1].streams[1]\n");
        ck_assert_ptr_null(dbio_node_get(doc.root, "none"));
        dbio_doc_release(&doc);
        dbio_doc_release(&doc);
}
END_TEST

START_TEST(anchors_and_merge_keys)
{
        struct dbio_node *b, *c;

        ck_assert_int_eq(parse("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc:\n  <<: [*a, {x: 9, z: 4}]\nd: *a\n"), 0);
        b = dbio_node_get(doc.root, "b");
        ck_assert_uint_eq(b->n, 2);
        ck_assert_str_eq(dbio_node_get(b, "x")->text, "1");
        ck_assert_str_eq(dbio_node_get(b, "y")->text, "3");
        c = dbio_node_get(doc.root, "c");
        ck_assert_str_eq(dbio_node_get(c, "x")->text, "1");
        ck_assert_str_eq(dbio_node_get(c, "z")->text, "4");
        /* A value that an alias brings is wrong where it is written. */
        ck_assert_uint_eq(dbio_node_get(dbio_node_get(doc.root, "d"), "y")->line, 1);
        dbio_doc_release(&doc);
}
END_TEST

START_TEST(what_is_refused)
{
        check_fails("", 1, 1, "nothing in it but blanks and comments");
        check_fails("# only this\n\n", 1, 1, "nothing in it but blanks and comments");
        check_fails("a: 1\nb: 2\na: 3\n", 3, 1, "key \"a\" is given twice, first in line 1: leave one");
        check_fails("{a: {b: 1, b: 2}}", 1, 12, "key \"b\" is given twice, first in line 1: leave one");
        check_fails("a:\n\tb: 1\n", 2, 1, "a tab in the indentation: indent with spaces");
        check_fails("a:\n  b: 1\n  \tc: 1\n", 3, 3, "a tab in the indentation: indent with spaces");
        check_fails("a: b: c\n", 1, 5, "a second \": \" here: quote the text, or begin a new line");
        check_fails("a: *b\n", 1, 4, "no anchor &b before this line");
        check_fails("a: &b [*b]\n", 1, 8, "an alias inside its own anchor");
        check_fails("a: !!int 1\n", 1, 4, "tags (\"!\") have no meaning here: leave it out");
        check_fails("a: 1\n---\nb: 1\n", 2, 1, "a second document begins here: one file holds one");
        check_fails("[a]: 1\n", 1, 1, "a key must be plain text");
        check_fails("a: \"\\0\"\n", 1, 4, "a zero byte in the text");
        check_fails("a: 1\nb: \x01\n", 2, 4, "byte 0x01 is no text in UTF-8: is this a binary file?");
        check_fails("\xff\xfe", 1, 1, "byte 0xff is no text in UTF-8: is this a binary file?");
        check_fails("a: [1, 2\nb: 3\n", 2, 2, "a list in [ ] goes on here without a comma, or is not closed");
        ck_assert_int_eq(dbio_doc_parse(&doc, "a.yaml", "a: \0b", 5, &err), -1);
        ck_assert_str_eq(err.message, "byte 0x00 is no text in UTF-8: is this a binary file?");
}
END_TEST

START_TEST(bounds)
{
        char text[4096] = "", *large;
        size_t n = 0;

        for (int i = 0; i < 65; i++)
                text[n++] = '[';
        text[n] = '\0';
        check_fails(text, 1, 65, "over 64 levels deep");

        /* Ten of ten of ten … of the first: 10^9 values. */
        n = (size_t)sprintf(text, "a0: &a0 [x]\n");
        for (int i = 1; i < 10; i++) {
                n += (size_t)sprintf(text + n, "a%d: &a%d [", i, i);
                for (int j = 0; j < 10; j++)
                        n += (size_t)sprintf(text + n, "*a%d,", i - 1);
                n += (size_t)sprintf(text + n, "]\n");
        }
        ck_assert_int_eq(parse(text), -1);
        ck_assert_str_eq(err.message, "aliases expand to over 100000 values");

        large = malloc((4 << 20) + 2);
        memset(large, ' ', (4 << 20) + 1);
        large[(4 << 20) + 1] = '\0';
        ck_assert_int_eq(parse(large), -1);
        ck_assert_str_eq(err.message, "over 4 MiB: no file of dbio's is that large");
        free(large);
}
END_TEST

START_TEST(files)
{
        char folder[] = "/tmp/dbio-doc.XXXXXX", path[64], *text;
        FILE *file;

        ck_assert_ptr_nonnull(mkdtemp(folder));
        snprintf(path, sizeof path, "%s/a.yaml", folder);
        ck_assert_int_eq(dbio_doc_read(&doc, path, &text, &err), -1);
        ck_assert_int_eq(err.code, DBIO_USAGE);
        ck_assert_str_eq(err.message, "no such file");
        ck_assert_str_eq(err.file, path);
        ck_assert_int_eq(dbio_doc_read(&doc, folder, NULL, &err), -1);
        ck_assert_str_eq(err.message, "a folder, not a file");
        file = fopen(path, "w");
        fputs("a: 1\n", file);
        fclose(file);
        ck_assert_int_eq(dbio_doc_read(&doc, path, &text, &err), 0);
        ck_assert_str_eq(text, "a: 1\n");
        ck_assert_str_eq(dbio_node_get(doc.root, "a")->text, "1");
        free(text);
        dbio_doc_release(&doc);
        ck_assert_int_eq(truncate(path, 100 << 20), 0);
        ck_assert_int_eq(dbio_doc_read(&doc, path, NULL, &err), -1);
        ck_assert_str_eq(err.message, "100 MiB: no YAML file of dbio's is over 4 MiB");
        unlink(path);
        rmdir(folder);
        ck_assert_int_eq(dbio_doc_read(&doc, "/dev/null", NULL, &err), -1);
        ck_assert_str_eq(err.message, "a device, not a file");
}
END_TEST

START_TEST(near_misses)
{
        static const char *const keys[] = {"threads", "depth", "rate", "outstanding_pages", "every"};

        ck_assert_str_eq(dbio_near_miss("thread", keys, 5), "threads");
        ck_assert_str_eq(dbio_near_miss("depht", keys, 5), "depth");
        ck_assert_str_eq(dbio_near_miss("Outstanding-Pages", keys, 5), "outstanding_pages");
        ck_assert_str_eq(dbio_near_miss("rat", keys, 5), "rate");
        ck_assert_ptr_null(dbio_near_miss("colour", keys, 5));
        ck_assert_ptr_null(dbio_near_miss("", keys, 5));
        /* More of it wrong than right: the opposite must not be what is meant. */
        static const char *const small[] = {"yes", "no", "r", "a"};
        ck_assert_ptr_null(dbio_near_miss("on", small, 4));
        ck_assert_ptr_null(dbio_near_miss("2", small, 4));
        ck_assert_ptr_null(dbio_near_miss("*", small, 4));
        ck_assert_str_eq(dbio_near_miss("R", small, 4), "r");
        ck_assert_str_eq(dbio_near_miss("Yes", small, 4), "yes");
        ck_assert_str_eq(dbio_near_miss("yess", small, 4), "yes");
        /* Part of one name alone. */
        static const char *const names[] = {"sqlserver/oltp", "postgres/oltp", "sqlserver/log-only", "raid10-15k-sas"};
        ck_assert_str_eq(dbio_near_miss("log-only", names, 4), "sqlserver/log-only");
        ck_assert_str_eq(dbio_near_miss("raid10", names, 4), "raid10-15k-sas");
        ck_assert_ptr_null(dbio_near_miss("oltp", names, 4));
        ck_assert_ptr_null(dbio_near_miss("raid", names, 4));
}
END_TEST

TEST_MAIN("doc", positions_and_paths, anchors_and_merge_keys, what_is_refused, bounds, files, near_misses)
