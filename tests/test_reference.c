/* The tables of keys and what is written from them. */
#include <string.h>

#include <jansson.h>

#include "patterns/doc.h"
#include "patterns/keys.h"
#include "patterns/reference.h"
#include "patterns/workload.h"
#include "tests/unit.h"

static char *capture(void (*write)(FILE *))
{
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        write(out);
        fclose(out);
        return text;
}

static void check_fallbacks(const char *where, const struct dbio_field *fields, size_t size)
{
        void *config = calloc(1, size);
        struct dbio_err err = {0};

        for (const struct dbio_field *field = fields; field && field->key; field++) {
                ck_assert_msg(field->help && *field->help, "%s.%s has no help", where, field->key);
                ck_assert_msg(field->help[strlen(field->help) - 1] != '.', "%s.%s: a full stop", where, field->key);
                ck_assert_msg(!field->fallback || (field->source && *field->source), "%s.%s: a default without source",
                              where, field->key);
                ck_assert_msg(!(field->fallback && (field->flags & DBIO_FIELD_REQUIRED)), "%s.%s", where, field->key);
                if (field->fallback)
                        ck_assert_msg(!dbio_field_set_text(field, field->fallback, NULL, config, &err), "%s.%s: %s",
                                      where, field->key, err.message);
                for (const struct dbio_field *other = fields; other < field; other++)
                        ck_assert_msg(strcmp(other->key, field->key) != 0, "%s.%s twice", where, field->key);
                if (field->type == DBIO_FIELD_MAP)
                        check_fallbacks(field->key, field->sub, size);
        }
        free(config);
}

START_TEST(every_default_parses)
{
        check_fallbacks("workload", dbio_workload_fields, sizeof(struct dbio_workload_keys));
        check_fallbacks("target", dbio_target_fields, sizeof(struct dbio_target_keys));
        check_fallbacks("layout", dbio_layout_fields, sizeof(struct dbio_layout_keys));
        check_fallbacks("phase", dbio_phase_fields, sizeof(struct dbio_phase_keys));
        check_fallbacks("study", dbio_study_fields, sizeof(struct dbio_study_keys));
        check_fallbacks("find", dbio_find_fields, sizeof(struct dbio_find_keys));
        for (const struct dbio_pattern *const *pattern = dbio_patterns; *pattern; pattern++) {
                struct dbio_field shared[DBIO_STREAM_FIELDS_MAX];

                dbio_stream_fields(*pattern, shared);
                check_fallbacks((*pattern)->name, shared, sizeof(struct dbio_stream_entry));
                check_fallbacks((*pattern)->name, (*pattern)->fields, (*pattern)->config_size);
        }
}
END_TEST

START_TEST(every_preset_parses)
{
        for (const struct dbio_pattern *const *pattern = dbio_patterns; *pattern; pattern++) {
                void *config = calloc(1, (*pattern)->config_size + 1);
                uint64_t last = 0;

                for (const struct dbio_preset *preset = (*pattern)->presets; preset && preset->key; preset++) {
                        const struct dbio_field *field = dbio_field_find((*pattern)->fields, preset->key);
                        struct dbio_err err = {0};

                        ck_assert_msg((*pattern)->versions != NULL, "%s", (*pattern)->name);
                        ck_assert_msg(field != NULL, "%s: preset of %s", (*pattern)->name, preset->key);
                        ck_assert_msg(!dbio_field_set_text(field, preset->text, NULL, config, &err), "%s: %s",
                                      (*pattern)->name, err.message);
                        /* Later entries of a key win, so they must be of later versions. */
                        if (preset != (*pattern)->presets && !strcmp(preset[-1].key, preset->key))
                                ck_assert_msg(preset->version > last, "%s: %s", (*pattern)->name, preset->key);
                        last = preset->version;
                }
                free(config);
        }
}
END_TEST

/* A workload around an example: every target it names, and a log for every stream it names. */
static char *around(const struct dbio_pattern *pattern, const struct dbio_node *example)
{
        struct dbio_field shared[DBIO_STREAM_FIELDS_MAX];
        char *text, done[512] = ",", name[80];
        size_t size;
        FILE *out = open_memstream(&text, &size);

        dbio_stream_fields(pattern, shared);
        fputs("targets:\n  a-log: {size: 1GiB}\n", out);
        for (int pass = 0; pass < 2; pass++) {
                if (pass)
                        fputs("streams:\n", out);
                for (unsigned i = 0; i < example->n; i++) {
                        const char *key = example->keys[i]->text;
                        const struct dbio_field *own = dbio_field_find(pattern->fields, key);
                        const struct dbio_field *field = own ? own : dbio_field_find(shared, key);
                        const struct dbio_node *value = example->items[i];

                        for (unsigned j = 0; field && j < (value->type == DBIO_NODE_LIST ? value->n : 1); j++) {
                                const char *word = value->type == DBIO_NODE_LIST ? value->items[j]->text : value->text;

                                snprintf(name, sizeof name, ",%d%.60s,", pass, word);
                                if (strstr(done, name))
                                        continue;
                                if (!pass && (field->type == DBIO_FIELD_TARGET || field->type == DBIO_FIELD_TARGETS))
                                        fprintf(out, "  %s: {size: 1GiB}\n", word);
                                else if (pass && field->type == DBIO_FIELD_STREAM)
                                        fprintf(out,
                                                "  %s: {pattern: sqlserver.log_write, target: a-log,"
                                                " commit_rate: 100/s}\n",
                                                word);
                                else
                                        continue;
                                strcat(done, name + 1);
                        }
                }
        }
        fprintf(out, "  under-test:%s%s\nphases: [{name: main, duration: 10s}]\n",
                *pattern->example == '{' ? " " : "\n", pattern->example);
        fclose(out);
        return text;
}

START_TEST(every_example_loads)
{
        for (const struct dbio_pattern *const *pattern = dbio_patterns; *pattern; pattern++) {
                struct dbio_workload workload;
                struct dbio_err err = {0};
                struct dbio_doc doc;
                char *text;

                ck_assert_msg((*pattern)->example != NULL, "%s has no example", (*pattern)->name);
                ck_assert_msg(!dbio_doc_parse(&doc, "example", (*pattern)->example, strlen((*pattern)->example), &err),
                              "%s: %s", (*pattern)->name, err.message);
                text = around(*pattern, doc.root);
                ck_assert_msg(!dbio_workload_load_text(&workload, (*pattern)->name, text, strlen(text), NULL, 0, &err),
                              "%s: %s\n%s", (*pattern)->name, err.message, text);
                dbio_workload_release(&workload);
                dbio_doc_release(&doc);
                free(text);
        }
}
END_TEST

START_TEST(patterns_are_described)
{
        char *list = capture(dbio_reference_patterns), *markdown = capture(dbio_reference_markdown);

        for (const struct dbio_pattern *const *pattern = dbio_patterns; *pattern; pattern++) {
                char *text, heading[128];
                size_t size;
                FILE *out = open_memstream(&text, &size);

                dbio_reference_pattern(out, *pattern);
                fclose(out);
                ck_assert_ptr_nonnull(strstr(list, (*pattern)->name));
                ck_assert_ptr_nonnull(strstr(list, (*pattern)->summary));
                snprintf(heading, sizeof heading, "\n### %s\n", (*pattern)->name);
                ck_assert_ptr_nonnull(strstr(markdown, heading));
                for (const struct dbio_field *field = (*pattern)->fields; field && field->key; field++) {
                        snprintf(heading, sizeof heading, "\n  %s ", field->key);
                        ck_assert_msg(strstr(text, heading) != NULL, "%s.%s", (*pattern)->name, field->key);
                        snprintf(heading, sizeof heading, "\n| `%s` |", field->key);
                        ck_assert_msg(strstr(markdown, heading) != NULL, "%s.%s", (*pattern)->name, field->key);
                }
                for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
                        if (strncmp(line, "  ", 2) == 0 && line[2] == ' ')
                                ck_assert_msg(strcspn(line, "\n") <= 160, "%.100s", line);
                free(text);
        }
        free(list);
        free(markdown);
}
END_TEST

START_TEST(keys_are_described)
{
        char *text = capture(dbio_reference_keys);

        ck_assert_ptr_nonnull(strstr(text, "\n  max_outstanding            count, 1 to 1000000\n"));
        ck_assert_ptr_nonnull(strstr(text, "\n  page                       size, 512 to 64K, a power of two; default 8K\n"));
        ck_assert_ptr_nonnull(strstr(text, "\n  name                       text; required\n"));
        ck_assert_ptr_nonnull(strstr(text, "\n  arrival                    poisson | uniform; default poisson\n"));
        free(text);
}
END_TEST

START_TEST(schema_has_every_key)
{
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        json_t *schema, *definitions;
        json_error_t fault;

        ck_assert_int_eq(dbio_reference_schema(out), 0);
        fclose(out);
        schema = json_loads(text, JSON_REJECT_DUPLICATES, &fault);
        ck_assert_msg(schema != NULL, "%d: %s", fault.line, fault.text);
        ck_assert_str_eq(json_string_value(json_object_get(schema, "$schema")),
                         "http://json-schema.org/draft-07/schema#");
        for (const struct dbio_field *field = dbio_workload_fields; field->key; field++)
                ck_assert_ptr_nonnull(json_object_get(json_object_get(schema, "properties"), field->key));
        definitions = json_object_get(schema, "definitions");
        for (const struct dbio_pattern *const *pattern = dbio_patterns; *pattern; pattern++) {
                json_t *keys = json_object_get(json_object_get(definitions, (*pattern)->name), "properties");
                struct dbio_field shared[DBIO_STREAM_FIELDS_MAX];

                dbio_stream_fields(*pattern, shared);
                for (const struct dbio_field *field = shared; field->key; field++)
                        ck_assert_msg(json_object_get(keys, field->key) != NULL, "%s", field->key);
                for (const struct dbio_field *field = (*pattern)->fields; field && field->key; field++)
                        ck_assert_msg(json_object_get(keys, field->key) != NULL, "%s", field->key);
        }
        json_decref(schema);
        free(text);
}
END_TEST

TEST_MAIN("reference", every_default_parses, every_preset_parses, every_example_loads, patterns_are_described,
          keys_are_described, schema_has_every_key)
