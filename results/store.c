#include "results/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/op.h"
#include "results/db.h"
#include "results/host.h"

#define BUSY_TIMEOUT_MS 20000

/* "machine/boot/pid namespace/pid/start time": enough to say later whether the process is still there. */
struct process_identity {
        char machine[40], boot[40];
        unsigned long namespace;
        long pid;
        unsigned long long start;
};

static void read_line(const char *path, char *text, size_t size)
{
        FILE *file = fopen(path, "re");

        text[0] = 0;
        if (!file)
                return;
        if (fgets(text, (int)size, file))
                text[strcspn(text, "\n")] = 0;
        fclose(file);
}

/* Field 22 of /proc/PID/stat (proc(5)), counted from behind the name's last parenthesis; 0 where there is none. */
static unsigned long long start_time(long pid)
{
        char path[64], line[1024];
        unsigned long long start = 0;

        snprintf(path, sizeof path, "/proc/%ld/stat", pid);
        read_line(path, line, sizeof line);
        char *rest = strrchr(line, ')');
        if (!rest || sscanf(rest + 1, " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
                            &start) != 1)
                return 0;
        return start;
}

static void identify_self(struct process_identity *self)
{
        struct stat st;

        memset(self, 0, sizeof *self);
        read_line("/etc/machine-id", self->machine, sizeof self->machine);
        if (!self->machine[0])
                gethostname(self->machine, sizeof self->machine - 1);
        read_line("/proc/sys/kernel/random/boot_id", self->boot, sizeof self->boot);
        self->namespace = stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
        self->pid = getpid();
        self->start = start_time(self->pid);
}

/* True only where it is certain: a run of another machine, or of another container, may well be alive. */
static bool is_gone(const char *text, const struct process_identity *self)
{
        struct process_identity p = {0};

        if (sscanf(text, "%39[^/]/%39[^/]/%lu/%ld/%llu", p.machine, p.boot, &p.namespace, &p.pid, &p.start) != 5 ||
            strcmp(p.machine, self->machine))
                return false;
        if (strcmp(p.boot, self->boot))
                return true;
        return p.namespace == self->namespace && start_time(p.pid) != p.start;
}

static int mark_interrupted(struct dbio_store *store, struct dbio_err *err)
{
        struct process_identity self;
        int64_t gone[64];
        unsigned n = 0;
        int more;

        identify_self(&self);
        sqlite3_stmt *stmt = dbio_db_query(
                store, err, "SELECT run_id, process FROM run WHERE status = 'running' AND process IS NOT NULL", "");
        if (!stmt)
                return -1;
        while ((more = dbio_db_step(store, stmt, err)) > 0) {
                if (n < 64 && is_gone(dbio_db_text(stmt, 1), &self))
                        gone[n++] = sqlite3_column_int64(stmt, 0);
        }
        while (more == 0 && n > 0)
                if (dbio_db_run(store, err,
                                "UPDATE run SET status = 'interrupted', process = NULL "
                                "WHERE run_id = ? AND status = 'running'",
                                "i", gone[--n]))
                        return -1;
        return more;
}

static int pragma_int(struct dbio_store *store, const char *sql, int *value, struct dbio_err *err)
{
        sqlite3_stmt *stmt = dbio_db_query(store, err, sql, "");
        int code = stmt ? dbio_db_step(store, stmt, err) : -1;

        if (code < 0)
                return -1;
        *value = code ? sqlite3_column_int(stmt, 0) : 0;
        sqlite3_reset(stmt);
        return 0;
}

static int fill_names(struct dbio_store *store, struct dbio_err *err)
{
        const char *name;

        for (unsigned i = 0; (name = dbio_kind_name(i)); i++)
                if (dbio_db_run(store, err, "INSERT OR REPLACE INTO kind_name VALUES (?, ?)", "is", (int64_t)i, name))
                        return -1;
        for (unsigned i = 0; (name = dbio_role_name(i)); i++)
                if (dbio_db_run(store, err, "INSERT OR REPLACE INTO role_name VALUES (?, ?)", "is", (int64_t)i, name))
                        return -1;
        return 0;
}

/* Inside a transaction, so that two processes that come first do it once. */
static int migrate(struct dbio_store *store, struct dbio_err *err)
{
        char pragma[96];
        int version;

        if (dbio_db_begin(store, err))
                return -1;
        if (pragma_int(store, "PRAGMA user_version", &version, err))
                goto fail;
        for (; version < dbio_schema_version; version++)
                if (dbio_db_exec(store, dbio_schema_scripts[version], err))
                        goto fail;
        snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d; PRAGMA application_id = %d;", dbio_schema_version,
                 DBIO_APPLICATION_ID);
        if (dbio_db_exec(store, dbio_schema_views, err) || dbio_db_exec(store, pragma, err) ||
            fill_names(store, err) || dbio_db_commit(store, err))
                goto fail;
        return 0;
fail:
        dbio_db_rollback(store);
        return -1;
}

/* Asked before anything is changed: WAL would change the file of another program's database. */
static int check_owner(struct dbio_store *store, struct dbio_err *err)
{
        int version, application, objects;

        /* In this order: another process may make the tables, and with them both numbers, in between. */
        if (pragma_int(store, "SELECT count(*) FROM sqlite_master", &objects, err) ||
            pragma_int(store, "PRAGMA user_version", &version, err) ||
            pragma_int(store, "PRAGMA application_id", &application, err))
                return -1;
        if (version ? application == DBIO_APPLICATION_ID : objects == 0)
                return 0;
        return dbio_err_set(err, DBIO_USAGE, "%s is a database, but not one of dbio's results", store->path);
}

/* Changing to WAL does not wait for others by itself. auto_vacuum is of no effect once the file has its first page; rm
 * gives space back by it. */
static int use_wal(struct dbio_store *store, struct dbio_err *err)
{
        for (int tries = 0; tries < 100; tries++) {
                int code = sqlite3_exec(store->db, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; "
                                        "PRAGMA synchronous = NORMAL;", NULL, NULL, NULL);
                if (code == SQLITE_OK)
                        return 0;
                if (code != SQLITE_BUSY && code != SQLITE_LOCKED)
                        break;
                nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        }
        return dbio_db_fail(store, err);
}

static int check_version(struct dbio_store *store, bool writable, struct dbio_err *err)
{
        int version, names;

        if (pragma_int(store, "PRAGMA user_version", &version, err))
                return -1;
        if (version > dbio_schema_version)
                return dbio_err_set(err, DBIO_USAGE, "%s was written by a newer dbio (version %d of the tables, this one "
                                    "knows %d)", store->path, version, dbio_schema_version);
        if (version < dbio_schema_version)
                return writable ? migrate(store, err)
                                : dbio_err_set(err, DBIO_IO, "%s must be brought up to date, but cannot be written",
                                               store->path);
        if (!writable)
                return 0;
        if (pragma_int(store, "SELECT count(*) FROM kind_name, role_name", &names, err))
                return -1;
        return names == DBIO_KINDS * DBIO_ROLES ? 0 : fill_names(store, err);
}

/* SQLite tries again for reading only, and tells why that failed. */
static int check_folder(const char *path, struct dbio_err *err)
{
        char folder[PATH_MAX];
        char *slash;

        snprintf(folder, sizeof folder, "%s", path);
        slash = strrchr(folder, '/');
        strcpy(slash ? slash + 1 : folder, ".");
        if (access(folder, W_OK | X_OK) == 0)
                return 0;
        return dbio_err_set(err, DBIO_IO, "results database %s cannot be made: its folder: %s", path, strerror(errno));
}

/* Says what SQLite does not: why the file cannot be had. */
static int check_file(const char *path, enum dbio_store_mode mode, struct dbio_err *err)
{
        struct stat st;

        if (stat(path, &st)) {
                if (errno == ENOENT && mode == DBIO_STORE_CREATE)
                        return check_folder(path, err);
                if (errno == ENOENT)
                        return dbio_err_set(err, DBIO_USAGE, "no results database %s; `dbio run` makes one", path);
                return dbio_err_set(err, DBIO_IO, "results database %s: %s", path, strerror(errno));
        }
        if (!S_ISREG(st.st_mode))
                return dbio_err_set(err, DBIO_USAGE, "results database %s is not a file", path);
        if (st.st_size == 0 && mode != DBIO_STORE_CREATE)
                return dbio_err_set(err, DBIO_USAGE, "%s is empty, not a results database", path);
        if (access(path, R_OK | (mode == DBIO_STORE_READ ? 0 : W_OK)))
                return dbio_err_set(err, DBIO_IO, "results database %s: %s", path, strerror(errno));
        return 0;
}

static int open_handle(struct dbio_store *store, enum dbio_store_mode mode, bool *writable, struct dbio_err *err)
{
        int flags = mode == DBIO_STORE_CREATE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE;
        int version;

        if (sqlite3_open_v2(store->path, &store->db, flags, NULL) != SQLITE_OK)
                return store->db ? dbio_db_fail(store, err) : dbio_err_set(err, DBIO_IO, "out of memory");
        sqlite3_busy_timeout(store->db, BUSY_TIMEOUT_MS);
        *writable = sqlite3_db_readonly(store->db, "main") == 0;
        if (mode != DBIO_STORE_READ || sqlite3_exec(store->db, "SELECT 1 FROM sqlite_master", NULL, NULL, NULL) == SQLITE_OK)
                return 0;
        if (sqlite3_errcode(store->db) != SQLITE_CANTOPEN && sqlite3_errcode(store->db) != SQLITE_READONLY)
                return dbio_db_fail(store, err);
        /* A folder in which no -shm file can be made: nobody writes there, so the file may be taken as it stands. */
        char *uri = sqlite3_mprintf("file:%q?immutable=1", store->path);
        sqlite3_close(store->db);
        store->db = NULL;
        *writable = false;
        int code = uri ? sqlite3_open_v2(uri, &store->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) : SQLITE_NOMEM;
        sqlite3_free(uri);
        if (code != SQLITE_OK)
                return store->db ? dbio_db_fail(store, err) : dbio_err_set(err, DBIO_IO, "out of memory");
        return pragma_int(store, "PRAGMA user_version", &version, err);
}

int dbio_store_open(struct dbio_store **out, const char *path, enum dbio_store_mode mode, struct dbio_err *err)
{
        struct dbio_store *store;
        bool writable = false;

        if (check_file(path, mode, err))
                return -1;
        store = calloc(1, sizeof *store);
        if (!store || !(store->path = strdup(path))) {
                dbio_err_set(err, DBIO_IO, "out of memory");
                goto fail;
        }
        if (open_handle(store, mode, &writable, err) || dbio_db_exec(store, "PRAGMA foreign_keys = ON", err))
                goto fail;
        if (check_owner(store, err) || (writable && mode == DBIO_STORE_CREATE && use_wal(store, err)))
                goto fail;
        if (check_version(store, writable, err) || (writable && mark_interrupted(store, err)))
                goto fail;
        *out = store;
        return 0;
fail:
        dbio_store_close(store);
        return -1;
}

void dbio_store_close(struct dbio_store *store)
{
        if (!store)
                return;
        dbio_store_forget(store);
        sqlite3_close(store->db);
        free(store->path);
        free(store);
}

static void make_uuid(char text[37])
{
        unsigned char b[16];

        if (getrandom(b, sizeof b, 0) != sizeof b)
                sqlite3_randomness(sizeof b, b);
        b[6] = (unsigned char)((b[6] & 0x0f) | 0x40); /* RFC 9562: version 4 */
        b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
        snprintf(text, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2],
                 b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

static int add_figures(struct dbio_store *store, int64_t run_id, const struct dbio_run_info *info, struct dbio_err *err)
{
        for (unsigned i = 0; i < info->nlimits + info->nobserved; i++) {
                bool observed = i >= info->nlimits;
                const struct dbio_limit *f = observed ? &info->observed[i - info->nlimits] : &info->limits[i];

                if (dbio_db_run(store, err, "INSERT INTO figure VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "iiissiiiid",
                                run_id, (int64_t)i, (int64_t)observed, f->text, f->stream, (int64_t)f->kind,
                                (int64_t)f->part, (int64_t)f->stat, (int64_t)f->comparison, f->value))
                        return -1;
        }
        return 0;
}

static int64_t monotonic_ns(void)
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int dbio_store_run_begin(struct dbio_store *store, const struct dbio_run_info *info, int64_t *run_id, int64_t *set_id,
                         struct dbio_err *err)
{
        struct process_identity self;
        char uuid[37], process[160], started[32];
        time_t now = time(NULL);
        struct tm tm;

        make_uuid(uuid);
        identify_self(&self);
        snprintf(process, sizeof process, "%s/%s/%lu/%ld/%llu", self.machine, self.boot, self.namespace, self.pid,
                 self.start);
        strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
        if (dbio_db_begin(store, err))
                return -1;
        if (dbio_db_run(store, err,
                        "INSERT INTO run (run_uuid, set_id, repetition, label, workload, schedule_hash, seed, engine, "
                        "simulated, status, started_at, tool_version, host_json, targets_json, workload_text, "
                        "resolved_text, options_json, profile_text, profile_hash, trust, how, process) "
                        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "siisssusissssssssssss", uuid, info->set_id, (int64_t)(info->repetition ? info->repetition : 1),
                        info->label, info->workload, info->schedule_hash, info->seed, info->engine,
                        (int64_t)info->simulated, started, info->tool_version, info->host_json, info->targets_json,
                        info->workload_text, info->resolved_text, info->options_json, info->profile_text,
                        info->profile_hash, info->trust, info->how, process))
                goto fail;
        int64_t id = sqlite3_last_insert_rowid(store->db);
        if (!info->set_id && dbio_db_run(store, err, "UPDATE run SET set_id = run_id WHERE run_id = ?", "i", id))
                goto fail;
        if (add_figures(store, id, info, err) || dbio_db_commit(store, err))
                goto fail;
        store->begun_ns = monotonic_ns();
        store->steal_ns = dbio_host_steal_ns();
        if (run_id)
                *run_id = id;
        if (set_id)
                *set_id = info->set_id ? info->set_id : id;
        return 0;
fail:
        dbio_db_rollback(store);
        return -1;
}

static int keep_notes(struct dbio_store *store, int64_t run_id, const struct dbio_run_outcome *outcome,
                      struct dbio_err *err)
{
        for (unsigned i = 0; outcome->target_notes && i < outcome->ntargets; i++) {
                char path[32];

                if (!outcome->target_notes[i] || !*outcome->target_notes[i])
                        continue;
                snprintf(path, sizeof path, "$[%u].note", i);
                if (dbio_db_run(store, err, "UPDATE run SET targets_json = json_set(targets_json, ?, ?) WHERE run_id = ?",
                                "ssi", path, outcome->target_notes[i], run_id))
                        return -1;
        }
        return 0;
}

int dbio_store_run_end(struct dbio_store *store, int64_t run_id, const struct dbio_run_outcome *outcome,
                       struct dbio_err *err)
{
        if (keep_notes(store, run_id, outcome, err))
                return -1;
        return dbio_db_run(store, err,
                           "UPDATE run SET status = ?, valid = nullif(?, -1), invalid_why = ?, wall_ns = ?, cpu_user_ns = ?, "
                           "cpu_sys_ns = ?, process = NULL, host_json = json_set(host_json, '$.steal_ns', ?) "
                           "WHERE run_id = ?",
                           "sisuuuui", outcome->status, outcome->nothing ? -1 : (int64_t)outcome->valid,
                           outcome->valid ? NULL : outcome->invalid_why, outcome->wall_ns, outcome->cpu_user_ns,
                           outcome->cpu_sys_ns, dbio_host_steal_ns() - store->steal_ns, run_id);
}
