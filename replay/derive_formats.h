/* The formats of the table in derive.c. */
#ifndef DBIO_REPLAY_DERIVE_FORMATS_H
#define DBIO_REPLAY_DERIVE_FORMATS_H

#include "replay/derive.h"

extern const struct dbio_derive_format dbio_derive_errorlog, dbio_derive_sqlio, dbio_derive_diskspd, dbio_derive_fio,
        dbio_derive_vfs, dbio_derive_iostat, dbio_derive_innodb, dbio_derive_awr,
        dbio_derive_perfmon, dbio_derive_procmon, dbio_derive_iometer;

#endif
