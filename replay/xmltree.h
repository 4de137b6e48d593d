/* A small XML document as a tree. */
#ifndef DBIO_REPLAY_XMLTREE_H
#define DBIO_REPLAY_XMLTREE_H

#include "engine/err.h"
#include "replay/derive.h"

struct dbio_xml {
        char *name;
        char *text;             /* of the element, blanks at its ends dropped; "" */
        unsigned line;
        unsigned n;
        struct dbio_xml **items; /* attributes, then elements, in order */
};

#define DBIO_XML_DEPTH 64

/* NULL with err (DBIO_USAGE, file and line) where it is no XML, or deeper than DBIO_XML_DEPTH. */
struct dbio_xml *dbio_xml_parse(const struct dbio_derive_file *file, struct dbio_err *err);
void dbio_xml_free(struct dbio_xml *xml); /* accepts NULL */

/* The first item of that name; NULL. */
const struct dbio_xml *dbio_xml_get(const struct dbio_xml *xml, const char *name);
/* The first element of that name anywhere under it, itself included; NULL. */
const struct dbio_xml *dbio_xml_find(const struct dbio_xml *xml, const char *name);
/* Text of an item; fallback where it is missing or empty. */
const char *dbio_xml_text(const struct dbio_xml *xml, const char *name, const char *fallback);
double dbio_xml_number(const struct dbio_xml *xml, const char *name, double fallback);

#endif
