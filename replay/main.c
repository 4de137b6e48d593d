#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replay/command.h"
#include "replay/output.h"
#include "replay/session.h"

void dbio_error_print(const struct dbio_err *err)
{
        char text[2048];

        dbio_err_format(err, text, sizeof text);
        fputs(text, stderr);
}

static int run(int argc, char **argv, struct dbio_err *err)
{
        struct dbio_cmdline line = {0};
        const char *word = argc > 1 ? argv[1] : "help";

        if (!strcmp(word, "--version")) {
                puts("dbio " DBIO_VERSION);
                return DBIO_OK;
        }
        if (!strcmp(word, "--help") || !strcmp(word, "-h"))
                word = "help";
        const struct dbio_subcommand *command = dbio_subcommand_find(word);
        if (!command)
                return dbio_subcommand_none(word, err);
        for (int i = 2; i < argc && strcmp(argv[i], "--"); i++) {
                if (strcmp(argv[i], "--help") && strcmp(argv[i], "-h"))
                        continue;
                char *words[] = {argv[0], argv[1], NULL};
                if (dbio_cmdline_parse(&line, dbio_subcommand_find("help"), 2, words, err))
                        return -1;
                return dbio_cmd_help(&line, err);
        }
        int code = argc > 1 ? dbio_cmdline_parse(&line, command, argc - 1, argv + 1, err)
                            : dbio_cmdline_parse(&line, command, argc, argv, err);
        if (!code)
                code = dbio_output_check(&line, err);
        if (!code)
                code = command->run(&line, err);
        dbio_cmdline_release(&line);
        return code;
}

/* Where 0, 1 or 2 came closed, the next file opened would get its number, and what is printed would go into a target. */
static void hold_standard_files(void)
{
        int fd;

        do {
                fd = open("/dev/null", O_RDONLY);
        } while (fd >= 0 && fd <= STDERR_FILENO);
        if (fd > STDERR_FILENO)
                close(fd);
}

int main(int argc, char **argv)
{
        struct dbio_err err = {0};

        hold_standard_files();
        /* A reader that goes away (`dbio show | head`) is an error of writing, which is looked at below. */
        signal(SIGPIPE, SIG_IGN);
        int code = run(argc, argv, &err);
        if (code < 0) {
                dbio_error_print(&err);
                code = dbio_interrupt_signal() ? 128 + dbio_interrupt_signal() : (int)err.code;
        }
        struct stat st;
        bool pipe = !fstat(STDOUT_FILENO, &st) && S_ISFIFO(st.st_mode), lost = fflush(stdout) != 0;
        if ((lost || (ferror(stdout) && !pipe)) && code == DBIO_OK) {
                if (!pipe)
                        fputs("dbio: error: what was printed could not be written whole\n", stderr);
                code = DBIO_IO;
        }
        return code;
}
