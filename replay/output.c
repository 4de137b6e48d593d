#include "replay/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/guard.h"
#include "engine/target.h"
#include "replay/sessioninfo.h"

static int cannot_write(const char *path, int error, struct dbio_err *err)
{
        dbio_err_set(err, DBIO_IO, "cannot write: %s", strerror(error));
        return dbio_err_locate(err, path, 0, 0);
}

int dbio_output_open(struct dbio_output *output, const char *path, struct dbio_err *err)
{
        struct stat st;

        if (!realpath(path, output->path))
                snprintf(output->path, sizeof output->path, "%s", path);
        if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
                dbio_err_set(err, DBIO_USAGE, "not a regular file: a schedule cannot take its place");
                return dbio_err_locate(err, path, 0, 0);
        }
        snprintf(output->temporary, sizeof output->temporary, "%s.%ld.tmp", output->path, (long)getpid());
        int fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        output->file = fd < 0 ? NULL : fdopen(fd, "wb");
        if (output->file)
                return 0;
        int error = errno;
        if (fd >= 0) {
                close(fd);
                unlink(output->temporary);
        }
        return cannot_write(path, error, err);
}

int dbio_output_close(struct dbio_output *output, bool whole, struct dbio_err *err)
{
        int error = 0;

        if (whole && (ferror(output->file) || fflush(output->file) || fsync(fileno(output->file))))
                error = errno ? errno : EIO;
        if (fclose(output->file) && !error)
                error = errno;
        output->file = NULL;
        if (whole && !error && rename(output->temporary, output->path))
                error = errno;
        if (whole && !error)
                return 0;
        unlink(output->temporary);
        return whole ? cannot_write(output->path, error, err) : 0;
}

static bool is_same(const struct stat *st, const char *path)
{
        struct stat other;

        return !stat(path, &other) && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

/* Commands whose arguments are files that they read. */
static bool reads_arguments(const struct dbio_cmdline *line)
{
        static const char *const names[] = {"compile", "import", "derive"};

        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (!strcmp(line->command->name, names[i]))
                        return true;
        return false;
}

/* A file that holds what --destroy protects from runs; its reason in why. */
static bool is_protected(const char *path, char *why, size_t size)
{
        int fd, found;

        if (dbio_file_is_own(path)) {
                snprintf(why, size, "a target that dbio made");
                return true;
        }
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return false; /* whoever writes it will hear */
        found = dbio_guard_signature(fd, why, size);
        close(fd);
        return found > 0;
}

static int check_path(const struct dbio_cmdline *line, const char *option, const char *path, struct dbio_err *err)
{
        char why[256] = "";
        struct stat st;

        if (stat(path, &st))
                return 0;
        if (S_ISBLK(st.st_mode))
                return dbio_err_set(err, DBIO_REFUSED, "--%s %s: a block device; only what a run binds as a target is written",
                                    option, path);
        if (S_ISREG(st.st_mode) && is_same(&st, dbio_database_path(line)))
                return dbio_err_set(err, DBIO_USAGE, "--%s %s: that is the results database", option, path);
        for (unsigned i = 0; S_ISREG(st.st_mode) && reads_arguments(line) && i < line->narguments; i++)
                if (is_same(&st, line->arguments[i]))
                        return dbio_err_set(err, DBIO_USAGE, "--%s %s: that is what %s reads", option, path,
                                            line->command->name);
        if (S_ISREG(st.st_mode) && is_protected(path, why, sizeof why))
                return dbio_err_set(err, DBIO_REFUSED, "--%s %s: %s; another name is right", option, path, why);
        return 0;
}

int dbio_output_check(const struct dbio_cmdline *line, struct dbio_err *err)
{
        static const enum dbio_option_id options[] = {DBIO_OPT_OUTPUT, DBIO_OPT_JUNIT, DBIO_OPT_OPS_LOG};

        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
                const char *path = dbio_cmdline_value(line, options[i]);

                if (path && check_path(line, dbio_options[options[i]].name, path, err))
                        return -1;
        }
        return 0;
}
