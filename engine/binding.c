#include "engine/target.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/units.h"

static bool name_is_good(const char *name)
{
        for (const char *c = name; *c; c++)
                if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
                        return false;
        return name[0] != 0;
}

static int parse_simulated(struct dbio_binding *binding, const char *text, struct dbio_err *err)
{
        const char *hash = strrchr(text, '#');
        size_t length = hash ? (size_t)(hash - text) : strlen(text);

        binding->simulated = true;
        if (length == 0)
                return dbio_err_set(err, DBIO_USAGE, "%s=sim:%s: a device profile is missing: sim:PROFILE",
                                    binding->target, text);
        if (hash && !name_is_good(hash + 1))
                return dbio_err_set(err, DBIO_USAGE, "%s=sim:%s: after # a name of letters, digits, _ and - is needed",
                                    binding->target, text);
        binding->profile = strndup(text, length);
        binding->share = hash ? strdup(hash + 1) : NULL;
        return binding->profile && (!hash || binding->share) ? 0 : dbio_err_set(err, DBIO_IO, "out of memory");
}

/* One PATH or PATH@OFFSET; part is changed. What follows the last @ is an offset where it begins with a digit. */
static int parse_path(struct dbio_binding *binding, char *part, struct dbio_err *err)
{
        char *at = strrchr(part, '@');
        struct dbio_err why = {0};
        unsigned n = binding->npaths;

        binding->offsets[n] = 0;
        if (at && isdigit((unsigned char)at[1])) {
                if (dbio_parse_size(at + 1, &binding->offsets[n], &why) != 0)
                        return dbio_err_set(err, DBIO_USAGE, "%s=%s: offset: %s", binding->target, part, why.message);
                *at = 0;
        }
        if (part[0] == 0)
                return dbio_err_set(err, DBIO_USAGE, "%s=%s: a path is empty", binding->target, binding->text);
        binding->paths[n] = strdup(part);
        if (!binding->paths[n])
                return dbio_err_set(err, DBIO_IO, "out of memory");
        binding->npaths++;
        return 0;
}

static int parse_paths(struct dbio_binding *binding, const char *text, struct dbio_err *err)
{
        char *copy = strdup(text), *next = copy;
        unsigned count = 1;
        int code = 0;

        for (const char *c = text; *c; c++)
                count += *c == ',';
        binding->paths = calloc(count, sizeof *binding->paths);
        binding->offsets = calloc(count, sizeof *binding->offsets);
        if (!copy || !binding->paths || !binding->offsets)
                code = dbio_err_set(err, DBIO_IO, "out of memory");
        while (code == 0 && next)
                code = parse_path(binding, strsep(&next, ","), err);
        free(copy);
        return code;
}

int dbio_binding_parse(struct dbio_binding *binding, const char *text, struct dbio_err *err)
{
        const char *equals = strchr(text, '=');
        int code;

        memset(binding, 0, sizeof *binding);
        if (!equals)
                return dbio_err_set(err, DBIO_USAGE, "`%s` is no binding: NAME=PATH[,PATH…], NAME=PATH@OFFSET or "
                                                     "NAME=sim:PROFILE[#NAME]", text);
        binding->target = strndup(text, (size_t)(equals - text));
        binding->text = strdup(equals + 1);
        if (!binding->target || !binding->text)
                code = dbio_err_set(err, DBIO_IO, "out of memory");
        else if (!name_is_good(binding->target))
                code = dbio_err_set(err, DBIO_USAGE, "`%s`: the target's name before = is made of letters, digits, _ "
                                                     "and -", text);
        else if (strncmp(binding->text, "sim:", 4) == 0)
                code = parse_simulated(binding, binding->text + 4, err);
        else
                code = parse_paths(binding, binding->text, err);
        if (code != 0)
                dbio_binding_release(binding);
        return code;
}

void dbio_binding_release(struct dbio_binding *binding)
{
        free(binding->target);
        free(binding->text);
        for (unsigned i = 0; i < binding->npaths; i++)
                free(binding->paths[i]);
        free(binding->paths);
        free(binding->offsets);
        free(binding->profile);
        free(binding->share);
        free(binding->file);
        memset(binding, 0, sizeof *binding);
}
