#include "patterns/build.h"

#include <stdlib.h>
#include <string.h>

struct canonical {
        const struct dbio_build *build;
        FILE *out;
        bool for_hash;
};

/* Keys that do not change the demand (design, Kept with a run). */
static const char *const not_demand[] = {"name",         "description", "hba",      "payload", "layout",
                                         "precondition", "workers",     "on_error", "timeout", "limits",
                                         "observed",     "study",       NULL};

static bool left_out(const struct canonical *c, const char *key)
{
        for (unsigned i = 0; c->for_hash && not_demand[i]; i++)
                if (!strcmp(key, not_demand[i]))
                        return true;
        return false;
}

/* Keys of the top level that stay, and that are given or have a default; nodes are written by code of their own. */
static void print_top(struct canonical *c)
{
        for (const struct dbio_field *field = dbio_workload_fields; field->key; field++) {
                if (left_out(c, field->key) || !strcmp(field->key, "extends"))
                        continue;
                if (field->type == DBIO_FIELD_NODE && strcmp(field->key, "on_error"))
                        continue;
                if (!strcmp(field->key, "hba") ? !c->build->workload->hba_given
                                               : !dbio_field_is_set(field, &c->build->keys))
                        continue;
                fprintf(c->out, "%s: ", field->key);
                dbio_field_print(c->out, field, &c->build->scope, &c->build->keys);
                fputc('\n', c->out);
        }
}

/* A precondition that asks for nothing is none. */
static bool is_idle(const struct dbio_field *field, const void *config)
{
        const struct dbio_precondition_keys *keys = (const void *)((const char *)config + field->offset);

        return field->sub == dbio_precondition_fields && !keys->fill && !keys->overwrite &&
               keys->until == DBIO_ENUM_UNSET;
}

/* The keys of a table in flow style; one that is not set and has no default is left out. */
static void print_flow(struct canonical *c, const struct dbio_field *fields, const void *config, bool *first)
{
        for (const struct dbio_field *field = fields; field->key; field++) {
                if (left_out(c, field->key) || field->type == DBIO_FIELD_NODE || is_idle(field, config) ||
                    (!dbio_field_is_set(field, config) && !field->fallback))
                        continue;
                fprintf(c->out, "%s%s: ", *first ? "" : ", ", field->key);
                *first = false;
                dbio_field_print(c->out, field, &c->build->scope, config);
        }
}

static void print_layout(struct canonical *c, unsigned i)
{
        bool first = true;

        if (left_out(c, "layout"))
                return;
        fputs(", layout: ", c->out);
        if (c->build->workload->targets[i].layout.contiguous) {
                fputs("contiguous", c->out);
                return;
        }
        fputc('{', c->out);
        print_flow(c, dbio_layout_fields, &c->build->layouts[i], &first);
        fputc('}', c->out);
}

static void print_targets(struct canonical *c)
{
        fputs("targets:\n", c->out);
        for (unsigned i = 0; i < c->build->scope.ntargets; i++) {
                bool first = true;

                fputs("  ", c->out);
                dbio_text_print(c->out, c->build->scope.targets[i]);
                fputs(": {", c->out);
                print_flow(c, dbio_target_fields, &c->build->targets[i], &first);
                print_layout(c, i);
                fputs("}\n", c->out);
        }
}

/* A key of a stream, or nothing where it is not set and leaving it out says so. plain: what it is without the key. */
static char *key_text(const struct canonical *c, const struct dbio_field *field, const void *config, const void *plain)
{
        char *text = NULL;
        size_t size;
        FILE *out;

        if (!dbio_field_is_set(field, config) && !dbio_field_is_set(field, plain))
                return NULL;
        out = open_memstream(&text, &size);
        if (!out)
                return NULL;
        dbio_field_print(out, field, &c->build->scope, config);
        fclose(out);
        return text;
}

static void print_keys(struct canonical *c, const struct dbio_field *fields, const void *config, const void *plain)
{
        for (const struct dbio_field *field = fields; field && field->key; field++) {
                char *text;

                if (left_out(c, field->key))
                        continue;
                text = key_text(c, field, config, plain);
                if (text)
                        fprintf(c->out, "    %s: %s\n", field->key, text);
                free(text);
        }
}

static void print_streams(struct canonical *c)
{
        fputs("streams:\n", c->out);
        for (unsigned i = 0; i < c->build->scope.nstreams; i++) {
                const struct dbio_build_stream *stream = &c->build->streams[i];

                fputs("  ", c->out);
                dbio_text_print(c->out, c->build->scope.streams[i]);
                fputs(":\n", c->out);
                print_keys(c, stream->shared, &stream->entry, &stream->plain_entry);
                print_keys(c, stream->pattern->fields, stream->config, stream->plain_config);
                if (c->for_hash)
                        fprintf(c->out, "    rev: %u\n", stream->pattern->rev);
        }
}

/* Keys that a phase's `set` makes other than the workload's, as text, since that is what loads again. */
static void print_changes(struct canonical *c, unsigned i, const struct dbio_field *fields, const void *config,
                          const void *base, bool *first)
{
        for (const struct dbio_field *field = fields; field && field->key; field++) {
                char *now, *before;

                if (left_out(c, field->key))
                        continue;
                now = key_text(c, field, config, base);
                before = key_text(c, field, base, config);
                if (now && before && strcmp(now, before)) {
                        fprintf(c->out, "%sstreams.%s.%s: %s", *first ? "    set: {" : ", ", c->build->scope.streams[i],
                                field->key, now);
                        *first = false;
                }
                free(now);
                free(before);
        }
}

static void print_phase(struct canonical *c, const struct dbio_build_phase *phase)
{
        bool first = true;

        fputs("  - ", c->out);
        for (const struct dbio_field *field = dbio_phase_fields; field->key; field++) {
                if (field->type == DBIO_FIELD_NODE || !dbio_field_is_set(field, &phase->keys))
                        continue;
                fprintf(c->out, "%s%s: ", first ? "" : "    ", field->key);
                first = false;
                dbio_field_print(c->out, field, &c->build->scope, &phase->keys);
                fputc('\n', c->out);
        }
        fputs("    streams: [", c->out);
        first = true;
        for (unsigned i = 0; i < c->build->scope.nstreams; i++) {
                if (!phase->runs[i])
                        continue;
                fputs(first ? "" : ", ", c->out);
                first = false;
                dbio_text_print(c->out, c->build->scope.streams[i]);
        }
        fputs("]\n", c->out);
        first = true;
        for (unsigned i = 0; i < c->build->scope.nstreams; i++) {
                const struct dbio_build_stream *now = phase->streams[i], *base = &c->build->streams[i];

                if (!now)
                        continue;
                print_changes(c, i, now->shared, &now->entry, &base->entry, &first);
                print_changes(c, i, now->pattern->fields, now->config, base->config, &first);
        }
        if (!first)
                fputs("}\n", c->out);
}

static void print_nodes(struct canonical *c)
{
        static const char *const keys[] = {"limits", "observed", "study", NULL};

        for (unsigned i = 0; keys[i]; i++) {
                const struct dbio_field *field = dbio_field_find(dbio_workload_fields, keys[i]);

                if (left_out(c, field->key) || !dbio_field_is_set(field, &c->build->keys))
                        continue;
                fprintf(c->out, "%s: ", field->key);
                dbio_field_print(c->out, field, &c->build->scope, &c->build->keys);
                fputc('\n', c->out);
        }
}

char *dbio_canonical_text(const struct dbio_build *build, bool for_hash)
{
        struct canonical c = {.build = build, .for_hash = for_hash};
        char *text = NULL;
        size_t size;

        c.out = open_memstream(&text, &size);
        if (!c.out)
                return NULL;
        print_top(&c);
        print_targets(&c);
        print_streams(&c);
        fputs("phases:\n", c.out);
        for (unsigned p = 0; p < build->workload->nphases; p++)
                print_phase(&c, &build->phases[p]);
        print_nodes(&c);
        fclose(c.out);
        return text;
}
