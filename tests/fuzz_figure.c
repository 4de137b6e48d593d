/* Figure expressions from any text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct dbio_figure figure, again;
        struct dbio_err err;
        char text[512];

        if (size >= sizeof text)
                return 0;
        memcpy(text, data, size);
        text[size] = '\0';
        if (!dbio_figure_parse(&figure, text, &err) &&
            (dbio_figure_parse(&again, figure.text, &err) || again.stat != figure.stat || again.value != figure.value))
                abort();
        dbio_figure_observed(&figure, text, "18.4ms", &err);
        dbio_figure_observed(&figure, "reads.read.mean", text, &err);
        return 0;
}
