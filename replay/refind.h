/* Devices of an earlier run, by serial and WWN: the kernel may call them otherwise today. */
#ifndef DBIO_REPLAY_REFIND_H
#define DBIO_REPLAY_REFIND_H

#include "engine/target.h"

/* Gives the paths of a binding that were block devices in the run of this targets_json the names that these devices have
 * now, which is said on stderr where it is another. Paths of files, and devices that have neither serial nor WWN, stay
 * as they are. DBIO_USAGE where another device is found under the path, or none, and the run's is not here, or more
 * than one is. */
int dbio_binding_refind(struct dbio_binding *binding, const char *targets_json, struct dbio_err *err);

#endif
