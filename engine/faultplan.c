#include "engine/backend_faulty.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/units.h"

static const char *const types[DBIO_FAULT_TYPES] = {"error", "short", "delay",       "hang",
                                                    "torn",  "lost",  "misdirected", "flip"};

static int set_kind(struct dbio_fault *fault, const char *value, struct dbio_err *err)
{
        int kind = dbio_kind_find(value);

        if (kind < 0 || kind == DBIO_COMMIT)
                return dbio_err_set(err, DBIO_USAGE, "`%s` is no kind of I/O: read, write, fsync, trim", value);
        fault->kinds |= 1u << kind;
        return 0;
}

static int set_error(struct dbio_fault *fault, const char *value, struct dbio_err *err)
{
        for (int number = 1; number < 134; number++) {
                const char *name = strerrorname_np(number);

                if (name && strcmp(name, value) == 0) {
                        fault->error = number;
                        return 0;
                }
        }
        return dbio_err_set(err, DBIO_USAGE, "`%s` is no errno: EIO, ENOSPC, ETIMEDOUT, …", value);
}

static int set_key(struct dbio_fault *fault, const char *key, const char *value, struct dbio_err *err)
{
        const struct {
                const char *name;
                int (*parse)(const char *text, uint64_t *value, struct dbio_err *err);
                uint64_t *into;
        } numbers[] = {
                {"every", dbio_parse_count, &fault->every},     {"times", dbio_parse_count, &fault->times},
                {"from", dbio_parse_size, &fault->from_bytes},  {"to", dbio_parse_size, &fault->to_bytes},
                {"after", dbio_parse_time, &fault->from_ns},    {"before", dbio_parse_time, &fault->to_ns},
                {"delay", dbio_parse_time, &fault->delay_ns},   {"distance", dbio_parse_size, &fault->distance},
        };
        uint64_t file;

        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
                if (strcmp(key, numbers[i].name) == 0)
                        return numbers[i].parse(value, numbers[i].into, err);
        if (strcmp(key, "kind") == 0)
                return set_kind(fault, value, err);
        if (strcmp(key, "error") == 0)
                return set_error(fault, value, err);
        if (strcmp(key, "file") == 0) {
                if (dbio_parse_count(value, &file, err) != 0)
                        return -1;
                fault->file = (unsigned)file + 1;
                return 0;
        }
        return dbio_err_set(err, DBIO_USAGE, "`%s` is no key of a fault: every times from to after before kind file "
                                             "error delay distance", key);
}

static int parse_one(struct dbio_fault *fault, char *text, struct dbio_err *err)
{
        char *keys = strchr(text, ':'), *pair;

        if (keys)
                *keys++ = 0;
        memset(fault, 0, sizeof *fault);
        while (fault->type < DBIO_FAULT_TYPES && strcmp(types[fault->type], text) != 0)
                fault->type++;
        if (fault->type == DBIO_FAULT_TYPES)
                return dbio_err_set(err, DBIO_USAGE, "`%s` is no fault: error short delay hang torn lost misdirected flip",
                                    text);
        while ((pair = strsep(&keys, ","))) {
                char *value = strchr(pair, '=');

                if (!value)
                        return dbio_err_set(err, DBIO_USAGE, "`%s` of a fault is not KEY=VALUE", pair);
                *value++ = 0;
                if (set_key(fault, pair, value, err) != 0)
                        return -1;
        }
        return 0;
}

int dbio_fault_plan_parse(struct dbio_fault_plan *plan, const char *text, struct dbio_err *err)
{
        char *copy = strdup(text), *rest = copy, *one;
        int code = copy ? 0 : dbio_err_set(err, DBIO_IO, "out of memory");

        plan->nfaults = 0;
        while (code == 0 && (one = strsep(&rest, ";"))) {
                if (plan->nfaults == DBIO_FAULTS_MAX)
                        code = dbio_err_set(err, DBIO_USAGE, "more than %d faults", DBIO_FAULTS_MAX);
                else
                        code = parse_one(&plan->faults[plan->nfaults], one, err);
                plan->nfaults++;
        }
        free(copy);
        return code;
}
