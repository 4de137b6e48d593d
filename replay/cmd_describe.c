#include "replay/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backend.h"
#include "engine/near.h"
#include "patterns/profile.h"
#include "patterns/reference.h"
#include "replay/derive.h"
#include "replay/oldresults.h"
#include "replay/trace.h"
#include "results/bands.h"

static void describe_engines(FILE *out)
{
        for (const struct dbio_backend *const *backend = dbio_backends; *backend; backend++)
                fprintf(out, "%-10s %s\n", (*backend)->name, (*backend)->summary);
}

static void describe_bands(FILE *out)
{
        fputs("What show and compare call the mean of a read, write or commit:\n", out);
        for (const struct dbio_band *band = dbio_bands; band->name; band++)
                fprintf(out, "  %-10s %s\n", band->name, band->range);
        fprintf(out, "Source: %s\n", dbio_bands_source);
}

static void describe_formats(FILE *out)
{
        dbio_trace_formats_print(out);
        fputc('\n', out);
        fputs("dbio derive FORMAT FILE...: workloads from logs, counters and other tools' job files\n", out);
        dbio_derive_formats_print(out);
        fputs("\ndbio import FORMAT FILE..., without -o: past results of other tools as runs\n", out);
        dbio_old_formats_print(out);
}

/* Pages that need no more than a place to write to. */
static const struct page {
        const char *name;
        void (*print)(FILE *out);
        bool headed; /* its paragraphs begin with a line that heads them */
} pages[] = {
        {"patterns", dbio_reference_patterns, true},
        {"workloads", dbio_reference_workloads, true},
        {"engines", describe_engines, false},
        {"devices", dbio_profile_list, true},
        {"formats", describe_formats, true},
        {"keys", dbio_reference_keys, true},
        {"bands", describe_bands, true},
};

#define PAGES (sizeof pages / sizeof *pages)
#define NAMES_MAX 1024

static unsigned indent_of(const char *line)
{
        return (unsigned)strspn(line, " ");
}

/* Names stand at 0 or 2, what is said of them in a column further on. */
static bool begins_with(const char *line, const char *name)
{
        unsigned indent = indent_of(line);
        size_t size = strlen(name);

        line += indent;
        return indent <= 2 && !strncmp(line, name, size) &&
               (!line[size] || (line[size] == ' ' && (!indent || line[size + 1] == ' ')));
}

/* Calls each with every line of a page and what heads its paragraph: the paragraph's first line, in pages that have such. */
static void each_line(const struct page *page, void (*each)(void *user, char *line, const char *head), void *user)
{
        char *text = NULL, *next, head[256] = "";
        size_t size;
        FILE *out = open_memstream(&text, &size);
        bool first = true;

        if (!out)
                return;
        page->print(out);
        fclose(out);
        for (char *line = text; line && *line; line = next) {
                next = strchr(line, '\n');
                if (next)
                        *next++ = 0;
                if (first && page->headed)
                        snprintf(head, sizeof head, "%s", line);
                each(user, line, head);
                first = !*line;
        }
        free(text);
}

/* One entry: from the line that begins with its name to the next one that is indented no further. */
struct entry {
        const char *name;
        int indent;   /* -1 = between entries */
        unsigned found;
};

static void print_entry(void *user, char *line, const char *head)
{
        struct entry *entry = user;
        bool heads = *head && !strcmp(line, head), begins = begins_with(line, entry->name) && (!heads || !strcmp(line, entry->name));

        if (!*line || (entry->indent >= 0 && (int)indent_of(line) <= entry->indent))
                entry->indent = -1;
        if (begins && entry->indent < 0) {
                if (entry->found++)
                        putchar('\n');
                if (*head && !heads)
                        puts(head);
                entry->indent = (int)indent_of(line);
        }
        if (entry->indent >= 0)
                puts(line);
}

struct names {
        unsigned n;
        char *names[NAMES_MAX];
};

static void take_name(void *user, char *line, const char *head)
{
        struct names *names = user;
        const char *word = line + indent_of(line);

        if (*line && indent_of(line) <= 2 && strcmp(line, head) && names->n < NAMES_MAX)
                names->names[names->n++] = strndup(word, strcspn(word, " "));
}

static int no_such_name(const char *name, struct dbio_err *err)
{
        struct names names = {0};

        for (size_t i = 0; i < PAGES; i++) {
                names.names[names.n++] = strdup(pages[i].name);
                each_line(&pages[i], take_name, &names);
        }
        const char *near = dbio_near_miss(name, (const char *const *)names.names, names.n);
        dbio_err_set(err, DBIO_USAGE, "nothing is called %s%s%s; `dbio help describe` lists the pages", name,
                     near ? "; did you mean " : "", near ? near : "");
        for (unsigned i = 0; i < names.n; i++)
                free(names.names[i]);
        return -1;
}

/* A pattern or device profile; else an engine, format, installed workload or key, as its page has it. */
static int describe_name(const char *name, struct dbio_err *err)
{
        const struct dbio_pattern *pattern = dbio_pattern_find(name);
        struct entry entry = {.name = name, .indent = -1};

        if (pattern)
                return dbio_reference_pattern(stdout, pattern), DBIO_OK;
        if (!strncmp(name, "sim:", 4))
                return dbio_profile_describe(name + 4, stdout, err);
        if (!dbio_profile_describe(name, stdout, NULL))
                return DBIO_OK;
        for (size_t i = 0; i < PAGES; i++) {
                each_line(&pages[i], print_entry, &entry);
                entry.indent = -1;
        }
        return entry.found ? DBIO_OK : no_such_name(name, err);
}

int dbio_cmd_describe(const struct dbio_cmdline *line, struct dbio_err *err)
{
        const char *what = line->narguments ? line->arguments[0] : "patterns";
        bool markdown = dbio_cmdline_has(line, DBIO_OPT_MARKDOWN), schema = dbio_cmdline_has(line, DBIO_OPT_JSON_SCHEMA);

        if ((markdown || schema) && (strcmp(what, "keys") || (markdown && schema)))
                return dbio_err_set(err, DBIO_USAGE, "--markdown and --json-schema are forms of `describe keys`; one of them");
        if (markdown)
                return dbio_reference_markdown(stdout), DBIO_OK;
        if (schema)
                return dbio_reference_schema(stdout) ? dbio_err_set(err, DBIO_IO, "cannot write to stdout") : DBIO_OK;
        for (size_t i = 0; i < PAGES; i++)
                if (!strcmp(pages[i].name, what))
                        return pages[i].print(stdout), DBIO_OK;
        return describe_name(what, err);
}
