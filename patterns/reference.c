#include "patterns/reference.h"

#include <string.h>

#include "engine/embedded.h"
#include "patterns/doc.h"
#include "patterns/keys.h"
#include "patterns/profile.h"
#include "patterns/value.h"

#define WIDTH 100

/* The tables of a workload file in reading order, by where they stand in it. */
static const struct section {
        const char *name, *text;
        const struct dbio_field *fields;
} sections[] = {
        {"top level", "The file is one map.", dbio_workload_fields},
        {"hba", "What the host's adapter allows; enforced in front of every engine.", dbio_hba_fields},
        {"payload", "Of the workload, or of a stream.", dbio_payload_fields},
        {"targets.NAME", "A place of I/O.", dbio_target_fields},
        {"targets.NAME.layout", "In place of `contiguous`. grow and aged exclude each other.", dbio_layout_fields},
        {"targets.NAME.precondition", "Writes before the first phase.", dbio_precondition_fields},
        {"streams.NAME", "Keys that streams share; those of each pattern follow by its name.", NULL},
        {"streams.NAME.dirty", "Which pages a checkpoint, lazy writer or page cleaner finds dirty.", dbio_dirty_fields},
        {"phases[]", "A phase ends at the first of duration, ops, or nothing more to do.", dbio_phase_fields},
        {"study", "A matrix of runs: axes or cases, and find.", dbio_study_fields},
        {"study.find", "Headroom.", dbio_find_fields},
        {NULL, NULL, NULL},
};

/* Which patterns have a shared key, by its bits. */
static const struct {
        unsigned keys;
        const char *who;
} owners[] = {
        {DBIO_KEYS_READ | DBIO_KEYS_THREADS, "readers, loaders"},
        {DBIO_KEYS_READ | DBIO_KEYS_SKEW, "readers, hot dirty maps"},
        {DBIO_KEYS_READ, "readers"},
        {DBIO_KEYS_WRITE, "writers"},
        {DBIO_KEYS_VERSION, "sqlserver.*, innodb.*"},
        {DBIO_KEYS_DIRTY, "with a dirty map"},
        {0, "all"},
};

static void wrap(FILE *out, unsigned indent, const char *text)
{
        unsigned column = 0;

        while (*text) {
                unsigned length = (unsigned)strcspn(text, " ");

                if (column && column + 1 + length > WIDTH) {
                        fputc('\n', out);
                        column = 0;
                }
                if (column)
                        fputc(' ', out), column++;
                else
                        fprintf(out, "%*s", (int)indent, ""), column = indent;
                fprintf(out, "%.*s", (int)length, text);
                column += length;
                text += length;
                text += *text == ' ';
        }
        fputc('\n', out);
}

/* The words or the kind of value, and its range: "size, 512 to 1M", "poisson | uniform". */
static void value_text(const struct dbio_pattern *pattern, const struct dbio_field *field, char *text, size_t size)
{
        bool members = !pattern || (pattern->keys & DBIO_KEYS_MEMBERS);
        enum dbio_field_type type = field->type == DBIO_FIELD_TARGETS && !members ? DBIO_FIELD_TARGET : field->type;
        const struct dbio_value_class *class = dbio_value_classes[type];
        char least[64], most[64];
        size_t used;

        if (field->names) {
                *text = '\0';
                for (unsigned i = 0; field->names[i]; i++) {
                        used = strlen(text);
                        snprintf(text + used, size - used, "%s%s", i ? " | " : "", field->names[i]);
                }
                return;
        }
        snprintf(text, size, "%s%s%s", class->name, field->flags & DBIO_FIELD_SECTOR ? " or auto" : "",
                 field->flags & DBIO_FIELD_NONE ? " or none" : "");
        used = strlen(text);
        if (class->format && (field->min != 0 || field->max != 0)) {
                class->format(field->min, least, sizeof least);
                class->format(field->max, most, sizeof most);
                if (field->max == 0)
                        snprintf(text + used, size - used, ", at least %s", least);
                else
                        snprintf(text + used, size - used, ", %s to %s", least, most);
        } else if (field->flags & DBIO_FIELD_POSITIVE) {
                snprintf(text + used, size - used, ", more than 0");
        }
        used = strlen(text);
        if (field->flags & DBIO_FIELD_POWER_OF_TWO)
                snprintf(text + used, size - used, ", a power of two");
}

/* The default, and by version where presets change it. */
static void default_text(const struct dbio_pattern *pattern, const struct dbio_field *field, char *text, size_t size)
{
        const char *fallback = field->fallback;
        size_t used;

        if (field->flags & DBIO_FIELD_REQUIRED)
                snprintf(text, size, "required");
        else
                snprintf(text, size, "%s", fallback ? fallback : "-");
        for (const struct dbio_preset *preset = pattern ? pattern->presets : NULL; preset && preset->key; preset++) {
                if (strcmp(preset->key, field->key))
                        continue;
                used = strlen(text);
                if (strchr(pattern->versions[0], '.'))
                        snprintf(text + used, size - used, "; %s from %llu.%llu", preset->text,
                                 (unsigned long long)preset->version / 100, (unsigned long long)preset->version % 100);
                else
                        snprintf(text + used, size - used, "; %s from %llu", preset->text,
                                 (unsigned long long)preset->version);
        }
}

static void print_field(FILE *out, const struct dbio_pattern *pattern, const struct dbio_field *field,
                        const char *prefix)
{
        char name[96], value[512], fallback[512];

        snprintf(name, sizeof name, "%s%s", prefix, field->key);
        value_text(pattern, field, value, sizeof value);
        default_text(pattern, field, fallback, sizeof fallback);
        fprintf(out, "  %-26s %s%s%s\n", name, value,
                *fallback == '-'                     ? ""
                : field->flags & DBIO_FIELD_REQUIRED ? "; "
                                                     : "; default ",
                *fallback == '-' ? "" : fallback);
        if (field->help)
                wrap(out, 8, field->help);
        if (field->source && strcmp(field->source, "judgement")) {
                char source[600];

                snprintf(source, sizeof source, "[%s]", field->source);
                wrap(out, 8, source);
        }
        if (field->type == DBIO_FIELD_MAP) {
                snprintf(name, sizeof name, "%s%s.", prefix, field->key);
                for (const struct dbio_field *sub = field->sub; sub->key; sub++)
                        print_field(out, NULL, sub, name);
        }
}

void dbio_reference_patterns(FILE *out)
{
        const char *family = "";

        for (const struct dbio_pattern *const *pattern = dbio_patterns; *pattern; pattern++) {
                const char *name = (*pattern)->name;
                size_t length = strcspn(name, ".");

                if (strncmp(family, name, length + 1)) {
                        fprintf(out, "%s%.*s\n", *family ? "\n" : "", (int)length, name);
                        family = name;
                }
                fprintf(out, "  %-30s %s\n", name, (*pattern)->summary);
        }
        fputs("\ndbio describe NAME shows the keys of one.\n", out);
}

/* A stream of the pattern, its lines behind the indent. */
static void example(FILE *out, const struct dbio_pattern *pattern, const char *indent)
{
        fprintf(out, "%smy-stream:%s", indent, *pattern->example == '{' ? " " : "\n");
        for (const char *line = pattern->example; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
                int length = (int)strcspn(line, "\n");

                if (length)
                        fprintf(out, "%s%.*s\n", line == pattern->example && *line == '{' ? "" : indent, length, line);
        }
}

void dbio_reference_pattern(FILE *out, const struct dbio_pattern *pattern)
{
        struct dbio_field shared[DBIO_STREAM_FIELDS_MAX];

        fprintf(out, "%s\n", pattern->name);
        wrap(out, 2, pattern->summary);
        if (pattern->role)
                fprintf(out, "  role in the figures: %s\n", pattern->role);
        if (pattern->fields && pattern->fields->key)
                fputs("\nKEYS\n", out);
        for (const struct dbio_field *field = pattern->fields; field && field->key; field++)
                print_field(out, pattern, field, "");
        fputs("\nKEYS THAT STREAMS SHARE\n", out);
        dbio_stream_fields(pattern, shared);
        for (const struct dbio_field *field = shared; field->key; field++)
                print_field(out, pattern, field, "");
        if (pattern->example) {
                fputs("\nEXAMPLE\n", out);
                example(out, pattern, "  ");
        }
}

/* What patterns/figure.c reads. */
static const char figures_name[] =
        "In limits, observed, find and gates a figure is STREAM[.KIND][.PART].STAT: log.commit.p99, user-reads.iops.";
static const struct {
        const char *part, *words;
} figures[] = {
        {"KIND", "read write fsync trim commit; without it all of the stream's"},
        {"PART", "response (from due to done), wait (for its turn), service (by the device); response without it"},
        {"STAT", "iops mib_per_s errors, or of the times mean p50 p95 p99 p999 max"},
        {"bound", "< <= > >= and a value: < 2ms, > 500/s, > 100MiB/s, in gates also a change: > -5%"},
        {NULL, NULL},
};

void dbio_reference_keys(FILE *out)
{
        const struct dbio_field *field;
        unsigned keys;

        for (const struct section *section = sections; section->name; section++) {
                fprintf(out, "%s%s\n", section == sections ? "" : "\n", section->name);
                wrap(out, 2, section->text);
                for (field = section->fields; field && field->key; field++)
                        if (field->type != DBIO_FIELD_MAP)
                                print_field(out, NULL, field, "");
                for (unsigned i = 0; !section->fields && (field = dbio_stream_field_all(i, &keys)); i++)
                        if (field->type != DBIO_FIELD_MAP)
                                print_field(out, NULL, field, "");
        }
        fputs("\nvalues\n", out);
        for (unsigned type = 0; type < DBIO_FIELD_TYPES; type++)
                if (dbio_value_classes[type]->example)
                        fprintf(out, "  %-26s %s\n", dbio_value_classes[type]->name, dbio_value_classes[type]->example);
        fputs("\nfigures\n", out);
        wrap(out, 2, figures_name);
        for (unsigned i = 0; figures[i].part; i++)
                fprintf(out, "  %-26s %s\n", figures[i].part, figures[i].words);
        fputs("\ndbio describe patterns lists the patterns; dbio describe NAME shows the keys of one.\n", out);
}

/* Text in a cell: a bar would end it. */
static void cell(FILE *out, const char *text)
{
        fputs(" ", out);
        for (; text && *text; text++)
                fprintf(out, *text == '|' ? "\\|" : "%c", *text);
        fputs(" |", out);
}

static void row(FILE *out, const struct dbio_pattern *pattern, const struct dbio_field *field, const char *who)
{
        char text[512];

        fprintf(out, "| `%s` |", field->key);
        value_text(pattern, field, text, sizeof text);
        cell(out, text);
        default_text(pattern, field, text, sizeof text);
        cell(out, text);
        if (who)
                cell(out, who);
        cell(out, field->help);
        cell(out, field->source ? field->source : "-");
        fputc('\n', out);
}

static void table(FILE *out, const struct dbio_pattern *pattern, const struct dbio_field *fields)
{
        fputs("\n| key | value | default | meaning | source |\n|---|---|---|---|---|\n", out);
        for (const struct dbio_field *field = fields; field->key; field++)
                row(out, pattern, field, NULL);
}

static void markdown_example(FILE *out, const struct dbio_pattern *pattern)
{
        fputs("\n```yaml\n", out);
        example(out, pattern, "");
        fputs("```\n", out);
}

static void shared_table(FILE *out)
{
        const struct dbio_field *field;
        unsigned keys;

        fputs("\n| key | value | default | patterns | meaning | source |\n|---|---|---|---|---|---|\n", out);
        for (unsigned i = 0; (field = dbio_stream_field_all(i, &keys)); i++) {
                unsigned k = 0;

                while (owners[k].keys && owners[k].keys != keys)
                        k++;
                row(out, NULL, field, owners[k].who);
        }
}

/* Names and descriptions of the workloads that are compiled in. */
static void installed(FILE *out, bool markdown)
{
        for (const struct dbio_embedded *file = dbio_embedded; file->path; file++) {
                const struct dbio_node *description;
                const char *text;
                struct dbio_doc doc;
                int length = (int)strlen(file->path) - 13;

                if (strncmp(file->path, "configs/", 8) || !strncmp(file->path, "configs/devices/", 16) ||
                    strcmp(file->path + strlen(file->path) - 5, ".yaml"))
                        continue;
                if (dbio_doc_parse(&doc, file->path, file->text, file->size, NULL))
                        continue;
                description = dbio_node_get(doc.root, "description");
                text = description ? description->text : "";
                if (markdown) {
                        fprintf(out, "| `%.*s` |", length, file->path + 8);
                        cell(out, text);
                        fputc('\n', out);
                } else {
                        fprintf(out, "  %-44.*s%s\n", length, file->path + 8, text);
                }
                dbio_doc_release(&doc);
        }
}

void dbio_reference_workloads(FILE *out)
{
        fputs("Installed workloads, for `dbio run NAME`; dbio check NAME --print shows one, dbio describe keys its keys.\n",
              out);
        installed(out, false);
}

static void profiles(FILE *out)
{
        for (const struct dbio_profile_section *section = dbio_profile_sections; section->key; section++) {
                fprintf(out, "\n### profile: %s\n\n%s\n", section->key, section->help ? section->help : "");
                table(out, NULL, section->fields);
        }
}

void dbio_reference_markdown(FILE *out)
{
        fputs("# Workloads and their keys\n\n"
              "Written by `dbio describe keys --markdown`: change the tables in patterns/, not this page.\n\n"
              "A workload is named by its path or, where it is one of these, by its name alone:"
              " `dbio run sqlserver/oltp …`.\n"
              "\n| workload | what it shows |\n|---|---|\n",
              out);
        installed(out, true);
        fputs("\n## Keys of a workload\n", out);
        for (const struct section *section = sections; section->name; section++) {
                fprintf(out, "\n### %s\n\n%s\n", section->name, section->text);
                if (section->fields)
                        table(out, NULL, section->fields);
                else
                        shared_table(out);
        }
        fputs("\n### values\n\n| value | written |\n|---|---|\n", out);
        for (unsigned type = 0; type < DBIO_FIELD_TYPES; type++)
                if (dbio_value_classes[type]->example)
                        fprintf(out, "| %s | `%s` |\n", dbio_value_classes[type]->name,
                                dbio_value_classes[type]->example);
        fprintf(out, "\n### figures\n\n%s\n\n| part | one of |\n|---|---|\n", figures_name);
        for (unsigned i = 0; figures[i].part; i++)
                fprintf(out, "| %s | %s |\n", figures[i].part, figures[i].words);
        fputs("\n## Patterns\n", out);
        for (const struct dbio_pattern *const *pattern = dbio_patterns; *pattern; pattern++) {
                fprintf(out, "\n### %s\n\n%s\n", (*pattern)->name, (*pattern)->summary);
                if ((*pattern)->fields && (*pattern)->fields->key)
                        table(out, *pattern, (*pattern)->fields);
                if ((*pattern)->example)
                        markdown_example(out, *pattern);
        }
        fputs("\n## Profiles of simulated devices\n\nEvery number is written"
              " `{value: 3.4ms, status: datasheet | fitted | assumed, source: text}`.\n",
              out);
        profiles(out);
}
