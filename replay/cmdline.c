#include "replay/command.h"

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/near.h"

int dbio_label_check(const char *label, struct dbio_err *err)
{
        json_t *text = json_string(label);

        if (!text)
                return dbio_err_set(err, DBIO_USAGE, "a label is text in UTF-8");
        json_decref(text);
        if (!strcmp(label, "latest") || !strcmp(label, "previous"))
                return dbio_err_set(err, DBIO_USAGE, "%s is no label: it names other runs", label);
        return 0;
}

/* Whether value is one of `a|b|c`; a capitalised alternative (N) stands for any number. */
static bool allowed(const char *choices, const char *value)
{
        size_t size = strlen(value);

        for (const char *choice = choices; choice; choice = strchr(choice, '|')) {
                choice += *choice == '|';
                if (!strncmp(choice, value, size) && (choice[size] == '|' || !choice[size]))
                        return true;
        }
        return false;
}

static int unknown(const struct dbio_subcommand *command, const char *word, struct dbio_err *err)
{
        const char *names[DBIO_OPTIONS];
        unsigned n = 0;
        size_t size = strcspn(word, "=");
        char name[64];

        snprintf(name, sizeof name, "%.*s", (int)size, word);
        for (const signed char *id = command->options; *id >= 0; id++)
                names[n++] = dbio_options[*id].name;
        const char *near = dbio_near_miss(name + strspn(name, "-"), names, n);
        if (near)
                return dbio_err_set(err, DBIO_USAGE, "%s has no option %s; did you mean --%s?", command->name, name, near);
        return dbio_err_set(err, DBIO_USAGE, "%s has no option %s; `dbio help %s` lists them", command->name, name,
                            command->name);
}

static int take(struct dbio_cmdline *line, enum dbio_option_id id, const char *value, struct dbio_err *err)
{
        const struct dbio_option *option = &dbio_options[id];
        struct dbio_option_value *slot = &line->options[id];

        bool filter = !strcmp(line->command->name, "list"); /* by a part of labels */

        if (id == DBIO_OPT_LABEL && !filter && dbio_label_check(value, err))
                return -1;
        if (id == DBIO_OPT_DB && !*value)
                return dbio_err_set(err, DBIO_USAGE, "--db needs the path of a file");
        if (option->choice && !allowed(option->argument, value))
                return dbio_err_set(err, DBIO_USAGE, "--%s %s: one of %s is right", option->name, value, option->argument);
        const char **grown = realloc(slot->values, (slot->n + 1) * sizeof *grown);
        if (!grown)
                return dbio_err_set(err, DBIO_BUG, "out of memory");
        slot->values = grown;
        slot->values[slot->n++] = value;
        return 0;
}

int dbio_cmdline_parse(struct dbio_cmdline *line, const struct dbio_subcommand *command, int argc, char **argv,
                       struct dbio_err *err)
{
        struct option longs[DBIO_OPTIONS + 1] = {0};
        char letters[2 * DBIO_OPTIONS + 2] = ":";
        unsigned n = 0;

        memset(line, 0, sizeof *line);
        line->command = command;
        for (const signed char *id = command->options; *id >= 0; id++) {
                const struct dbio_option *option = &dbio_options[*id];
                longs[n++] = (struct option){option->name, option->argument ? required_argument : no_argument, NULL,
                                             256 + *id};
                if (option->letter)
                        snprintf(letters + strlen(letters), 3, "%c%s", option->letter, option->argument ? ":" : "");
        }
        opterr = 0;
        optind = 1;
        for (int c; (c = getopt_long(argc, argv, letters, longs, NULL)) != -1;) {
                const char *word = argv[optind - 1];
                if (c == '?' && optopt >= 256)
                        return dbio_err_set(err, DBIO_USAGE, "--%s takes no value", dbio_options[optopt - 256].name);
                if (c == '?')
                        return unknown(command, word, err);
                if (c == ':')
                        return dbio_err_set(err, DBIO_USAGE, "%s needs a value", word);
                int id = c - 256;
                for (const signed char *at = command->options; c < 256 && *at >= 0; at++)
                        if (dbio_options[*at].letter == c)
                                id = *at;
                if (take(line, (enum dbio_option_id)id, optarg ? optarg : "", err))
                        return -1;
        }
        line->narguments = (unsigned)(argc - optind);
        line->arguments = argv + optind;
        if (line->narguments < command->min_arguments || line->narguments > command->max_arguments)
                return dbio_err_set(err, DBIO_USAGE, "usage: dbio %s %s", command->name, command->usage);
        return 0;
}

void dbio_cmdline_release(struct dbio_cmdline *line)
{
        for (unsigned i = 0; i < DBIO_OPTIONS; i++)
                free(line->options[i].values);
        memset(line, 0, sizeof *line);
}

const char *dbio_cmdline_value(const struct dbio_cmdline *line, enum dbio_option_id option)
{
        const struct dbio_option_value *slot = &line->options[option];

        return slot->n ? slot->values[slot->n - 1] : dbio_options[option].fallback;
}

bool dbio_cmdline_has(const struct dbio_cmdline *line, enum dbio_option_id option)
{
        return line->options[option].n > 0;
}
