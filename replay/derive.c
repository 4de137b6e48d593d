#include "replay/derive.h"

#include <string.h>

#include "replay/derive_formats.h"

const struct dbio_derive_format *const dbio_derive_formats[] = {
        &dbio_derive_errorlog,
        &dbio_derive_vfs,
        &dbio_derive_innodb,
        &dbio_derive_awr,
        &dbio_derive_perfmon,
        &dbio_derive_procmon,
        &dbio_derive_iostat,
        &dbio_derive_sqlio,
        &dbio_derive_diskspd,
        &dbio_derive_fio,
        &dbio_derive_iometer,
        NULL,
};

void dbio_derive_formats_print(FILE *out)
{
        for (const struct dbio_derive_format *const *format = dbio_derive_formats; *format; format++)
                fprintf(out, "%-14s %s\n", (*format)->name, (*format)->summary);
}
