#include "replay/command.h"

#include <stdio.h>
#include <string.h>

#include "engine/embedded.h"
#include "patterns/pattern.h"
#include "replay/derive.h"
#include "replay/oldresults.h"
#include "replay/trace.h"
#include "results/text.h"

static void print_option(const struct dbio_option *option)
{
        char left[96], lead[128], text[256];

        snprintf(left, sizeof left, "%s%c%s--%s%s%s", option->letter ? "-" : "", option->letter ? option->letter : ' ',
                 option->letter ? ", " : "", option->name, option->argument ? " " : "",
                 option->argument ? option->argument : "");
        snprintf(lead, sizeof lead, "  %-40s ", left);
        snprintf(text, sizeof text, "%s%s%s%s%s", option->help, option->fallback ? " (default " : "",
                 option->fallback ? option->fallback : "", option->fallback ? ")" : "",
                 option->repeats ? "; may be repeated" : "");
        dbio_text_hang(stdout, lead, 43, text);
}

int dbio_cmd_help(const struct dbio_cmdline *line, struct dbio_err *err)
{
        if (!line->narguments) {
                puts("dbio " DBIO_VERSION ": replays the I/O of a database without the database\n");
                for (const struct dbio_subcommand *command = dbio_subcommands; command->name; command++)
                        printf("  %-11s %s\n", command->name, command->summary);
                puts("\n`dbio help COMMAND` lists a command's options; `man dbio` tells all.");
                return DBIO_OK;
        }
        const struct dbio_subcommand *command = dbio_subcommand_find(line->arguments[0]);
        if (!command)
                return dbio_subcommand_none(line->arguments[0], err);
        printf("dbio %s%s%s\n    %s\n", command->name, *command->usage ? " " : "", command->usage, command->summary);
        for (const signed char *id = command->options; *id >= 0; id++)
                print_option(&dbio_options[*id]);
        return DBIO_OK;
}

/* Names of the embedded YAML files of a folder of configs, without their ending. */
static void print_configs(const char *folder, const char *but)
{
        size_t length = strlen(folder);

        for (const struct dbio_embedded *file = dbio_embedded; file->path; file++)
                if (!strncmp(file->path, folder, length) && (!but || strncmp(file->path, but, strlen(but))) &&
                    !strcmp(file->path + strlen(file->path) - 5, ".yaml"))
                        printf("%.*s ", (int)(strlen(file->path) - length - 5), file->path + length);
}

static bool takes(const struct dbio_subcommand *command, unsigned option)
{
        for (const signed char *id = command->options; *id >= 0; id++)
                if ((unsigned)*id == option)
                        return true;
        return false;
}

/* Two options may share a name (--format), each with its own words: the command tells them apart. */
static void complete_choices(void)
{
        puts("\tcase ${COMP_WORDS[1]}$before in");
        for (unsigned i = 0; i < DBIO_OPTIONS; i++) {
                if (!dbio_options[i].choice)
                        continue;
                const char *separator = "";

                putchar('\t');
                for (const struct dbio_subcommand *command = dbio_subcommands; command->name; command++)
                        if (takes(command, i)) {
                                printf("%s%s--%s", separator, command->name, dbio_options[i].name);
                                separator = "|";
                        }
                printf(") COMPREPLY=($(compgen -W '");
                for (const char *c = dbio_options[i].argument; *c; c++)
                        putchar(*c == '|' ? ' ' : *c);
                puts("' -- \"$word\")); return;;");
        }
        puts("\tesac");
}

/* What may stand where no option does: files, and the names that a command knows. Bash takes words apart at = and :. */
static void complete_names(void)
{
        printf("\tif [ \"$before\" = : ] && [ \"${COMP_WORDS[COMP_CWORD-2]}\" = sim ]; then COMPREPLY=($(compgen -W '");
        print_configs("configs/devices/", NULL);
        puts("' -- \"$word\")); return; fi\n\tcase $word in =|:) word=;; esac\n\tcase $word in -*) ;; *)");
        puts("\t\tlocal names=\n\t\tcase ${COMP_WORDS[1]}$COMP_CWORD in");
        printf("\t\tcheck*|explain2|compile2|run2|study2|diff*) names='");
        print_configs("configs/", "configs/devices/");
        printf("';;\n\t\tdescribe2) names='patterns workloads engines devices formats keys bands ");
        for (const struct dbio_pattern *const *pattern = dbio_patterns; *pattern; pattern++)
                printf("%s ", (*pattern)->name);
        printf("';;\n\t\tderive2) names='");
        for (const struct dbio_derive_format *const *format = dbio_derive_formats; *format; format++)
                printf("%s ", (*format)->name);
        printf("';;\n\t\timport2) names='auto ");
        for (const struct dbio_trace_format *const *format = dbio_trace_formats; *format; format++)
                printf("%s ", (*format)->name);
        for (const struct dbio_old_format *const *format = dbio_old_formats; *format; format++)
                printf("%s ", (*format)->name);
        printf("';;\n\t\tcompletion2) names=bash;;\n\t\thelp2) names='");
        for (const struct dbio_subcommand *command = dbio_subcommands; command->name; command++)
                printf("%s ", command->name);
        puts("';;\n\t\tesac");
        puts("\t\tCOMPREPLY=($(compgen -W \"$names\" -- \"$word\") $(compgen -f -- \"$word\")); return;;\n\tesac");
}

/* Bash asks for words by position: commands first, then the command's options, an option's choices, names and files. */
int dbio_cmd_completion(const struct dbio_cmdline *line, struct dbio_err *err)
{
        if (strcmp(line->arguments[0], "bash"))
                return dbio_err_set(err, DBIO_USAGE, "no completion for %s; bash is known", line->arguments[0]);
        puts("_dbio() {\n\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n\tCOMPREPLY=()");
        printf("\tif [ \"$COMP_CWORD\" = 1 ]; then COMPREPLY=($(compgen -W '");
        for (const struct dbio_subcommand *command = dbio_subcommands; command->name; command++)
                printf("%s ", command->name);
        puts("' -- \"$word\")); return; fi");
        complete_choices();
        complete_names();
        puts("\tcase ${COMP_WORDS[1]} in");
        for (const struct dbio_subcommand *command = dbio_subcommands; command->name; command++) {
                printf("\t%s) COMPREPLY=($(compgen -W '", command->name);
                for (const signed char *id = command->options; *id >= 0; id++)
                        printf("--%s ", dbio_options[*id].name);
                puts("' -- \"$word\"));;");
        }
        puts("\tesac\n}\ncomplete -o filenames -F _dbio dbio");
        return DBIO_OK;
}
