#include "engine/op.h"

#include <stddef.h>
#include <string.h>

static const char *const kinds[DBIO_KINDS] = {"read", "write", "fsync", "trim", "commit"};

static const char *const roles[DBIO_ROLES] = {
        [DBIO_ROLE_IO] = "io",
        [DBIO_ROLE_DATA_READ] = "data_read",
        [DBIO_ROLE_READ_AHEAD] = "read_ahead",
        [DBIO_ROLE_CHECKPOINT] = "checkpoint",
        [DBIO_ROLE_LAZY_WRITE] = "lazy_write",
        [DBIO_ROLE_EAGER_WRITE] = "eager_write",
        [DBIO_ROLE_PAGE_FLUSH] = "page_flush",
        [DBIO_ROLE_DOUBLEWRITE] = "doublewrite",
        [DBIO_ROLE_LOG] = "log",
        [DBIO_ROLE_BINLOG] = "binlog",
        [DBIO_ROLE_LOG_READ] = "log_read",
        [DBIO_ROLE_ARCHIVE] = "archive",
        [DBIO_ROLE_SORT] = "sort",
        [DBIO_ROLE_BACKUP] = "backup",
        [DBIO_ROLE_RESTORE] = "restore",
        [DBIO_ROLE_RECOVERY] = "recovery",
        [DBIO_ROLE_SNAPSHOT] = "snapshot",
        [DBIO_ROLE_FILE_INIT] = "file_init",
        [DBIO_ROLE_SOURCE] = "source",
        [DBIO_ROLE_INSERT] = "insert",
        [DBIO_ROLE_PURGE] = "purge",
        [DBIO_ROLE_MERGE] = "change_buffer_merge",
        [DBIO_ROLE_WRITEBACK] = "writeback",
};

static const struct {
        uint8_t flag;
        const char *name;
} flag_names[] = {
        {DBIO_OP_BARRIER, "barrier"},
        {DBIO_OP_DSYNC, "dsync"},
        {DBIO_OP_FUA, "fua"},
        {DBIO_OP_DATASYNC, "datasync"},
};

static int find(const char *const *names, int n, const char *name)
{
        for (int i = 0; i < n; i++)
                if (!strcmp(names[i], name))
                        return i;
        return -1;
}

const char *dbio_kind_name(unsigned kind)
{
        return kind < DBIO_KINDS ? kinds[kind] : NULL;
}

const char *dbio_role_name(unsigned role)
{
        return role < DBIO_ROLES ? roles[role] : NULL;
}

int dbio_kind_find(const char *name)
{
        return find(kinds, DBIO_KINDS, name);
}

int dbio_role_find(const char *name)
{
        return find(roles, DBIO_ROLES, name);
}

void dbio_op_flags_format(uint8_t flags, char *text)
{
        text[0] = 0;
        for (size_t i = 0; i < sizeof flag_names / sizeof *flag_names; i++) {
                if (!(flags & flag_names[i].flag))
                        continue;
                if (text[0])
                        strcat(text, "+");
                strcat(text, flag_names[i].name);
        }
}
