#include "patterns/pattern.h"

#include <string.h>

const struct dbio_pattern *const dbio_patterns[] = {
        NULL,
};

const struct dbio_pattern *dbio_pattern_find(const char *name)
{
        for (const struct dbio_pattern *const *pattern = dbio_patterns; *pattern; pattern++)
                if (!strcmp((*pattern)->name, name))
                        return *pattern;
        return NULL;
}
