#include "patterns/doc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <yaml.h>

#define DEPTH_MAX   64
#define TEXT_MAX    (4u << 20)
#define ALIASED_MAX 100000u
#define ANCHORS_MAX 1000u

struct anchor {
        struct anchor *next;
        const char *name;
        struct dbio_node *node;
};

struct level {
        struct dbio_node *node;
        struct dbio_node *key;   /* of the pair that is being read */
        struct dbio_node *merge; /* value of `<<` */
};

struct reader {
        struct dbio_arena *arena;
        const char *file;
        yaml_parser_t parser;
        yaml_event_t event;
        struct anchor *anchors;
        unsigned nanchors, aliased;
        struct dbio_node *root;
        struct level levels[DEPTH_MAX];
        unsigned depth;
        struct dbio_err *err;
};

/* What libyaml says, and how to put it to a person who wrote the line. */
static const struct {
        const char *theirs, *ours;
} problems[] = {
        {"mapping values are not allowed", "a second \": \" here: quote the text, or begin a new line"},
        {"did not find expected key", "no key where one belongs: check the indentation of this line and those before"},
        {"did not find expected '-' indicator", "no \"- \" where the list goes on: check the indentation"},
        {"did not find expected ',' or ']'", "a list in [ ] goes on here without a comma, or is not closed"},
        {"did not find expected ',' or '}'", "a map in { } goes on here without a comma, or is not closed"},
        {"could not find expected ':'", "a key without \":\""},
        {"block sequence entries are not allowed", "\"- \" is not allowed here: begin it on a line of its own"},
        {"found unexpected end of stream", "the text ends inside quotes or brackets"},
        {"did not find expected node content", "a value is missing before this"},
        {"found unknown escape character", "an unknown \\ escape: use single quotes for literal text"},
        {"found character that cannot start any token", "this character cannot begin a value: quote the text"},
        {NULL, NULL},
};

static int fail_at(struct reader *r, yaml_mark_t mark, const char *message)
{
        dbio_err_set(r->err, DBIO_USAGE, "%s", message);
        return dbio_err_locate(r->err, r->file, (unsigned)mark.line + 1, (unsigned)mark.column + 1);
}

/* Column from 1 of a tab in a line's indentation, 0 where there is none. */
static unsigned tab_column(const char *text, size_t size, size_t line)
{
        const char *c = text, *end = text + size;

        for (; line && c < end; line--) {
                c = memchr(c, '\n', (size_t)(end - c));
                if (!c)
                        return 0;
                c++;
        }
        for (const char *begin = c; c < end && (*c == ' ' || *c == '\t'); c++)
                if (*c == '\t')
                        return (unsigned)(c - begin) + 1;
        return 0;
}

static int fail_binary(struct reader *r, const char *text, size_t offset)
{
        yaml_mark_t mark = {0};
        char message[80];

        for (size_t i = 0; i < offset; i++) {
                mark.column++;
                if (text[i] == '\n') {
                        mark.line++;
                        mark.column = 0;
                }
        }
        snprintf(message, sizeof message, "byte 0x%02x is no text in UTF-8: is this a binary file?",
                 (unsigned char)text[offset]);
        return fail_at(r, mark, message);
}

static int fail_parse(struct reader *r, const char *text, size_t size)
{
        yaml_parser_t *parser = &r->parser;
        const char *problem = parser->problem ? parser->problem : "this is no YAML";
        yaml_mark_t mark = parser->problem_mark;
        unsigned tab;

        if (parser->error == YAML_READER_ERROR)
                return fail_binary(r, text, parser->problem_offset < size ? parser->problem_offset : size - 1);
        if (parser->error == YAML_MEMORY_ERROR)
                return dbio_err_set(r->err, DBIO_BUG, "out of memory");
        tab = tab_column(text, size, mark.line);
        if (!tab && parser->context) {
                tab = tab_column(text, size, parser->context_mark.line);
                if (tab)
                        mark = parser->context_mark;
        }
        if (tab) {
                mark.column = tab - 1;
                return fail_at(r, mark, "a tab in the indentation: indent with spaces");
        }
        for (size_t i = 0; problems[i].theirs; i++)
                if (strstr(problem, problems[i].theirs))
                        problem = problems[i].ours;
        return fail_at(r, mark, problem);
}

static struct dbio_node *node_at(struct reader *r, enum dbio_node_type type)
{
        struct dbio_node *node = dbio_node_new(r->arena, type, NULL);

        node->file = r->file;
        node->line = (unsigned)r->event.start_mark.line + 1;
        node->column = (unsigned)r->event.start_mark.column + 1;
        return node;
}

/* A value goes to its place: root, list item, key, value, or merge. */
static int place(struct reader *r, struct dbio_node *node)
{
        struct level *level = r->depth ? &r->levels[r->depth - 1] : NULL;

        if (!level) {
                r->root = node;
        } else if (level->node->type == DBIO_NODE_LIST) {
                dbio_node_append(r->arena, level->node, NULL, node);
        } else if (!level->key) {
                if (node->type != DBIO_NODE_SCALAR)
                        return fail_at(r, r->event.start_mark, "a key must be plain text");
                level->key = node;
        } else if (!strcmp(level->key->text, "<<") && !level->key->quoted) {
                if (level->merge)
                        return fail_at(r, r->event.start_mark, "a second \"<<\" in one map: list both, <<: [*a, *b]");
                level->merge = node;
                level->key = NULL;
                node->parent = level->node;
        } else {
                dbio_node_append(r->arena, level->node, level->key, node);
                level->key = NULL;
        }
        return 0;
}

static int compare_keys(const void *a, const void *b)
{
        const struct dbio_node *x = *(struct dbio_node *const *)a, *y = *(struct dbio_node *const *)b;
        int order = strcmp(x->text, y->text);

        if (order)
                return order;
        if (x->line != y->line)
                return x->line < y->line ? -1 : 1;
        return x->column < y->column ? -1 : x->column > y->column;
}

static int check_duplicates(struct reader *r, const struct dbio_node *map)
{
        struct dbio_node **sorted, *again = NULL, *first = NULL;

        if (map->n < 2)
                return 0;
        sorted = malloc(map->n * sizeof *sorted);
        if (!sorted)
                return dbio_err_set(r->err, DBIO_BUG, "out of memory");
        memcpy(sorted, map->keys, map->n * sizeof *sorted);
        qsort(sorted, map->n, sizeof *sorted, compare_keys);
        /* Of several repeated keys the one that comes first in the text. */
        for (unsigned i = 1; i < map->n; i++) {
                if (strcmp(sorted[i - 1]->text, sorted[i]->text))
                        continue;
                if (again && (again->line < sorted[i]->line ||
                              (again->line == sorted[i]->line && again->column < sorted[i]->column)))
                        continue;
                first = sorted[i - 1];
                again = sorted[i];
        }
        free(sorted);
        if (!again)
                return 0;
        return dbio_node_error(again, r->err, "key \"%.60s\" is given twice, first in line %u: leave one", again->text,
                               first->line);
}

static int merge_map(struct reader *r, struct dbio_node *map, const struct dbio_node *from)
{
        unsigned own = map->n;

        if (from->type != DBIO_NODE_MAP)
                return dbio_node_error(from, r->err, "\"<<\" takes a map, or a list of maps");
        for (unsigned i = 0; i < from->n; i++) {
                bool given = false;

                for (unsigned j = 0; j < own && !given; j++)
                        given = !strcmp(map->keys[j]->text, from->keys[i]->text);
                if (given)
                        continue;
                from->keys[i]->parent = from->items[i]->parent = NULL;
                dbio_node_append(r->arena, map, from->keys[i], from->items[i]);
        }
        return 0;
}

static int end_collection(struct reader *r)
{
        struct level *level = &r->levels[r->depth - 1];
        struct dbio_node *node = level->node, *merge = level->merge;

        if (node->type == DBIO_NODE_MAP && check_duplicates(r, node))
                return -1;
        if (merge && merge->type == DBIO_NODE_LIST) {
                for (unsigned i = 0; i < merge->n; i++)
                        if (merge_map(r, node, merge->items[i]))
                                return -1;
        } else if (merge && merge_map(r, node, merge)) {
                return -1;
        }
        r->depth--;
        return 0;
}

static int add_anchor(struct reader *r, const yaml_char_t *name, struct dbio_node *node)
{
        struct anchor *anchor;

        if (!name)
                return 0;
        if (++r->nanchors > ANCHORS_MAX)
                return fail_at(r, r->event.start_mark, "over 1000 anchors");
        anchor = dbio_arena_alloc(r->arena, sizeof *anchor);
        anchor->name = dbio_arena_text(r->arena, (const char *)name, strlen((const char *)name));
        anchor->node = node;
        anchor->next = r->anchors;
        r->anchors = anchor;
        return 0;
}

static int begin_collection(struct reader *r, enum dbio_node_type type, const yaml_char_t *anchor,
                            const yaml_char_t *tag)
{
        struct dbio_node *node;

        if (tag)
                return fail_at(r, r->event.start_mark, "tags (\"!\") have no meaning here: leave it out");
        if (r->depth == DEPTH_MAX)
                return fail_at(r, r->event.start_mark, "over 64 levels deep");
        node = node_at(r, type);
        /* Placed before it is filled, so that errors inside it have a path. */
        if (place(r, node))
                return -1;
        r->levels[r->depth++] = (struct level){.node = node};
        return add_anchor(r, anchor, node);
}

static int scalar(struct reader *r)
{
        const char *text = (const char *)r->event.data.scalar.value;
        size_t size = r->event.data.scalar.length;
        struct dbio_node *node;

        if (r->event.data.scalar.tag)
                return fail_at(r, r->event.start_mark, "tags (\"!\") have no meaning here: leave it out");
        if (memchr(text, '\0', size))
                return fail_at(r, r->event.start_mark, "a zero byte in the text");
        node = node_at(r, DBIO_NODE_SCALAR);
        node->text = dbio_arena_text(r->arena, text, size);
        node->quoted = r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        if (add_anchor(r, r->event.data.scalar.anchor, node))
                return -1;
        return place(r, node);
}

static unsigned count_nodes(const struct dbio_node *node, unsigned limit)
{
        unsigned count = 1;

        for (unsigned i = 0; i < node->n && count < limit; i++)
                count += (node->keys ? 1 : 0) + count_nodes(node->items[i], limit - count);
        return count;
}

static unsigned height(const struct dbio_node *node)
{
        unsigned most = 0;

        for (unsigned i = 0; i < node->n; i++) {
                unsigned below = height(node->items[i]);

                most = below > most ? below : most;
        }
        return node->n ? most + 1 : 0;
}

static int alias(struct reader *r)
{
        const char *name = (const char *)r->event.data.alias.anchor;
        struct anchor *anchor = r->anchors;
        char message[128];

        while (anchor && strcmp(anchor->name, name))
                anchor = anchor->next;
        if (!anchor) {
                snprintf(message, sizeof message, "no anchor &%.60s before this line", name);
                return fail_at(r, r->event.start_mark, message);
        }
        for (unsigned i = 0; i < r->depth; i++)
                if (r->levels[i].node == anchor->node)
                        return fail_at(r, r->event.start_mark, "an alias inside its own anchor");
        r->aliased += count_nodes(anchor->node, ALIASED_MAX + 1);
        if (r->aliased > ALIASED_MAX)
                return fail_at(r, r->event.start_mark, "aliases expand to over 100000 values");
        if (r->depth + height(anchor->node) > DEPTH_MAX)
                return fail_at(r, r->event.start_mark, "over 64 levels deep");
        return place(r, dbio_node_copy(r->arena, anchor->node));
}

static int handle(struct reader *r)
{
        switch (r->event.type) {
        case YAML_SCALAR_EVENT:
                return scalar(r);
        case YAML_ALIAS_EVENT:
                return alias(r);
        case YAML_SEQUENCE_START_EVENT:
                return begin_collection(r, DBIO_NODE_LIST, r->event.data.sequence_start.anchor,
                                        r->event.data.sequence_start.tag);
        case YAML_MAPPING_START_EVENT:
                return begin_collection(r, DBIO_NODE_MAP, r->event.data.mapping_start.anchor,
                                        r->event.data.mapping_start.tag);
        case YAML_SEQUENCE_END_EVENT:
        case YAML_MAPPING_END_EVENT:
                return end_collection(r);
        case YAML_DOCUMENT_START_EVENT:
                if (r->root)
                        return fail_at(r, r->event.start_mark, "a second document begins here: one file holds one");
                return 0;
        default:
                return 0;
        }
}

static bool is_blank(const struct dbio_node *root)
{
        return !root || (root->type == DBIO_NODE_SCALAR && !*root->text && !root->quoted);
}

int dbio_doc_parse_into(struct dbio_arena *arena, const char *name, const char *text, size_t size,
                        struct dbio_node **root, struct dbio_err *err)
{
        struct reader r = {.arena = arena, .err = err};
        const char *zero = size ? memchr(text, '\0', size) : NULL;
        bool ended = false;
        int code = -1;

        r.file = dbio_arena_text(arena, name, strlen(name));
        if (size > TEXT_MAX) {
                dbio_err_set(err, DBIO_USAGE, "over 4 MiB: no file of dbio's is that large");
                return dbio_err_locate(err, name, 0, 0);
        }
        if (zero)
                return fail_binary(&r, text, (size_t)(zero - text));
        if (!yaml_parser_initialize(&r.parser))
                return dbio_err_set(err, DBIO_BUG, "out of memory");
        yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
        /* A given encoding makes libyaml keep the mark that some editors put first. */
        if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
                text += 3;
                size -= 3;
        }
        yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, size);
        while (!ended) {
                if (!yaml_parser_parse(&r.parser, &r.event)) {
                        code = fail_parse(&r, text, size);
                        goto out;
                }
                ended = r.event.type == YAML_STREAM_END_EVENT;
                code = handle(&r);
                yaml_event_delete(&r.event);
                if (code)
                        goto out;
        }
        if (is_blank(r.root)) {
                dbio_err_set(err, DBIO_USAGE, "nothing in it but blanks and comments");
                code = dbio_err_locate(err, name, 1, 1);
                goto out;
        }
        *root = r.root;
        code = 0;
out:
        yaml_parser_delete(&r.parser);
        return code;
}

int dbio_doc_parse(struct dbio_doc *doc, const char *name, const char *text, size_t size, struct dbio_err *err)
{
        memset(doc, 0, sizeof *doc);
        doc->arena = dbio_arena_new();
        if (!dbio_doc_parse_into(doc->arena, name, text, size, &doc->root, err))
                return 0;
        dbio_doc_release(doc);
        return -1;
}

void dbio_doc_release(struct dbio_doc *doc)
{
        dbio_arena_free(doc->arena);
        memset(doc, 0, sizeof *doc);
}

static int fail_errno(const char *path, struct dbio_err *err)
{
        bool missing = errno == ENOENT || errno == ENOTDIR;

        dbio_err_set(err, missing ? DBIO_USAGE : DBIO_IO, "%s", missing ? "no such file" : strerror(errno));
        return dbio_err_locate(err, path, 0, 0);
}

static int read_all(int fd, char *text, size_t room, size_t *size)
{
        for (*size = 0; *size < room;) {
                ssize_t got = read(fd, text + *size, room - *size);

                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return -1;
                if (!got)
                        break;
                *size += (size_t)got;
        }
        return 0;
}

int dbio_file_read(const char *path, char **text, size_t *size, struct dbio_err *err)
{
        struct stat st;
        int fd, code = -1;

        *text = NULL;
        /* Without O_NONBLOCK a FIFO would wait for a writer before it can be refused. */
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
                return fail_errno(path, err);
        if (fstat(fd, &st)) {
                fail_errno(path, err);
                goto out;
        }
        if (!S_ISREG(st.st_mode) || st.st_size > TEXT_MAX) {
                if (S_ISREG(st.st_mode))
                        dbio_err_set(err, DBIO_USAGE, "%lld MiB: no YAML file of dbio's is over 4 MiB",
                                     (long long)st.st_size >> 20);
                else
                        dbio_err_set(err, DBIO_USAGE, "%s, not a file", S_ISDIR(st.st_mode) ? "a folder" : "a device");
                dbio_err_locate(err, path, 0, 0);
                goto out;
        }
        *text = malloc(TEXT_MAX + 2);
        if (!*text || read_all(fd, *text, TEXT_MAX + 1, size)) {
                fail_errno(path, err);
                goto out;
        }
        (*text)[*size] = '\0';
        code = 0;
out:
        if (code) {
                free(*text);
                *text = NULL;
        }
        close(fd);
        return code;
}

int dbio_doc_read(struct dbio_doc *doc, const char *path, char **text, struct dbio_err *err)
{
        char *own = NULL;
        size_t size = 0;
        int code;

        memset(doc, 0, sizeof *doc);
        if (text)
                *text = NULL;
        if (dbio_file_read(path, &own, &size, err))
                return -1;
        code = dbio_doc_parse(doc, path, own, size, err);
        if (text && !code)
                *text = own;
        else
                free(own);
        return code;
}
