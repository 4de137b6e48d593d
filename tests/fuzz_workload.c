/* A workload from any bytes: never a fault, and what loads resolves to a text that loads to itself. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct dbio_workload workload, again;
        struct dbio_err err = {0};
        char message[2048];

        if (dbio_workload_load_text(&workload, "fuzz.yaml", (const char *)data, size, NULL, 0, &err)) {
                if (!err.message[0])
                        abort();
                dbio_err_format(&err, message, sizeof message);
                return 0;
        }
        if (dbio_workload_load_text(&again, "again.yaml", workload.resolved, strlen(workload.resolved), NULL, 0,
                                    &err)) {
                dbio_err_format(&err, message, sizeof message);
                fprintf(stderr, "%s%s", message, workload.resolved);
                abort();
        }
        if (strcmp(workload.resolved, again.resolved) || strcmp(workload.hash, again.hash)) {
                fprintf(stderr, "%s\n---\n%s", workload.resolved, again.resolved);
                abort();
        }
        dbio_workload_release(&again);
        dbio_workload_release(&workload);
        return 0;
}
