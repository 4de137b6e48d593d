/* Lines of blkparse in a layout of the user's own, given as to blkparse -f or -F: `%T.%t %D %a %d %S %n\n` (blkparse(1), "Output
 * description and formatting"; print_field of its blkparse_fmt.c for what each field prints). */
#ifndef DBIO_REPLAY_BLKLAYOUT_H
#define DBIO_REPLAY_BLKLAYOUT_H

#include "replay/trace_blk.h"

struct dbio_blk_layout;

/* DBIO_USAGE where it cannot be read, or lacks what an I/O needs: %T, %t, %S, %d, and %n or %N. */
int dbio_blk_layout_new(struct dbio_blk_layout **layout, const char *text, struct dbio_err *err);
void dbio_blk_layout_free(struct dbio_blk_layout *layout); /* accepts NULL */
/* Whether the lines say which step they are (%a). */
bool dbio_blk_layout_has_action(const struct dbio_blk_layout *layout);
/* Whether a line, terminated and without its end, is one of this layout; then step has what it says. Without %a the action is
 * 0, without %D or %M and %m the device is DBIO_BLK_NO_DEVICE. */
bool dbio_blk_layout_match(const struct dbio_blk_layout *layout, const char *line, struct dbio_blk_step *step);

#endif
