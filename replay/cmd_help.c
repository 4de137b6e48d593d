#include "replay/command.h"

#include <stdio.h>
#include <string.h>

static void print_option(const struct dbio_option *option)
{
        char left[96];

        snprintf(left, sizeof left, "%s%c%s--%s%s%s", option->letter ? "-" : "", option->letter ? option->letter : ' ',
                 option->letter ? ", " : "", option->name, option->argument ? " " : "",
                 option->argument ? option->argument : "");
        printf("  %-40s %s%s%s%s%s\n", left, option->help, option->fallback ? " (default " : "",
               option->fallback ? option->fallback : "", option->fallback ? ")" : "",
               option->repeats ? "; may be repeated" : "");
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
                return dbio_err_set(err, DBIO_USAGE, "no command %s; `dbio help` lists them", line->arguments[0]);
        printf("dbio %s %s\n    %s\n", command->name, command->usage, command->summary);
        for (const signed char *id = command->options; *id >= 0; id++)
                print_option(&dbio_options[*id]);
        return DBIO_OK;
}

/* Bash asks for words by position: commands first, then the command's options, an option's choices, files. */
int dbio_cmd_completion(const struct dbio_cmdline *line, struct dbio_err *err)
{
        if (strcmp(line->arguments[0], "bash"))
                return dbio_err_set(err, DBIO_USAGE, "no completion for %s; bash is known", line->arguments[0]);
        puts("_dbio() {\n\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n\tCOMPREPLY=()");
        printf("\tif [ \"$COMP_CWORD\" = 1 ]; then COMPREPLY=($(compgen -W '");
        for (const struct dbio_subcommand *command = dbio_subcommands; command->name; command++)
                printf("%s ", command->name);
        puts("' -- \"$word\")); return; fi\n\tcase $before in");
        for (unsigned i = 0; i < DBIO_OPTIONS; i++) {
                if (!dbio_options[i].choice)
                        continue;
                printf("\t--%s) COMPREPLY=($(compgen -W '", dbio_options[i].name);
                for (const char *c = dbio_options[i].argument; *c; c++)
                        putchar(*c == '|' ? ' ' : *c);
                puts("' -- \"$word\")); return;;");
        }
        puts("\tesac\n\tcase $word in -*) ;; *) COMPREPLY=($(compgen -f -- \"$word\")); return;; esac\n\tcase ${COMP_WORDS[1]} in");
        for (const struct dbio_subcommand *command = dbio_subcommands; command->name; command++) {
                printf("\t%s) COMPREPLY=($(compgen -W '", command->name);
                for (const signed char *id = command->options; *id >= 0; id++)
                        printf("--%s ", dbio_options[*id].name);
                puts("' -- \"$word\"));;");
        }
        puts("\tesac\n}\ncomplete -o filenames -F _dbio dbio");
        return DBIO_OK;
}
