#include "replay/xmltree.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

struct state {
        XML_Parser parser;
        struct dbio_xml *open[DBIO_XML_DEPTH];
        unsigned depth;
        struct dbio_xml *root;
        const char *why; /* it was stopped; NULL */
};

static struct dbio_xml *add(struct state *state, const char *name)
{
        struct dbio_xml *xml = calloc(1, sizeof *xml), *parent = state->depth ? state->open[state->depth - 1] : NULL;

        if (!xml || !(xml->name = strdup(name)) || !(xml->text = strdup("")))
                goto fail;
        xml->line = (unsigned)XML_GetCurrentLineNumber(state->parser);
        if (!parent)
                return xml;
        /* Room doubles at each power of two. */
        if (!(parent->n & (parent->n + 1)) || !parent->items) {
                struct dbio_xml **more = realloc(parent->items, 2 * (parent->n + 1) * sizeof *more);
                if (!more)
                        goto fail;
                parent->items = more;
        }
        parent->items[parent->n++] = xml;
        return xml;
fail:
        if (xml) {
                free(xml->text);
                free(xml->name);
        }
        free(xml);
        state->why = "out of memory";
        XML_StopParser(state->parser, XML_FALSE);
        return NULL;
}

static void begin(void *user, const XML_Char *name, const XML_Char **attributes)
{
        struct state *state = user;
        struct dbio_xml *xml;

        if (state->depth == DBIO_XML_DEPTH) {
                state->why = "elements nest too deep";
                XML_StopParser(state->parser, XML_FALSE);
                return;
        }
        xml = add(state, name);
        if (!xml)
                return;
        if (!state->depth)
                state->root = xml;
        state->open[state->depth++] = xml;
        for (; attributes[0]; attributes += 2) {
                struct dbio_xml *item = add(state, attributes[0]);
                if (!item)
                        return;
                free(item->text);
                item->text = strdup(attributes[1]);
        }
}

static void end(void *user, const XML_Char *name)
{
        struct state *state = user;
        struct dbio_xml *xml = state->open[--state->depth];
        size_t n = strlen(xml->text);

        (void)name;
        while (n && strchr(" \t\r\n", xml->text[n - 1]))
                xml->text[--n] = 0;
}

static void text(void *user, const XML_Char *bytes, int size)
{
        struct state *state = user;
        struct dbio_xml *xml = state->depth ? state->open[state->depth - 1] : NULL;
        size_t had = xml ? strlen(xml->text) : 0;

        if (!xml)
                return;
        if (!had)
                while (size && strchr(" \t\r\n", *bytes))
                        bytes++, size--;
        if (!size || had > 65536)
                return;
        char *more = realloc(xml->text, had + (size_t)size + 1);
        if (!more)
                return;
        memcpy(more + had, bytes, (size_t)size);
        more[had + (size_t)size] = 0;
        xml->text = more;
}

struct dbio_xml *dbio_xml_parse(const struct dbio_derive_file *file, struct dbio_err *err)
{
        struct state state = {.parser = XML_ParserCreate("UTF-8")};
        bool right = state.parser != NULL;

        if (!right) {
                dbio_err_set(err, DBIO_IO, "out of memory");
                return NULL;
        }
        XML_SetUserData(state.parser, &state);
        XML_SetElementHandler(state.parser, begin, end);
        XML_SetCharacterDataHandler(state.parser, text);
        for (unsigned i = 0; right && i < file->nlines; i++)
                right = XML_Parse(state.parser, file->lines[i], (int)strlen(file->lines[i]), 0) == XML_STATUS_OK &&
                        XML_Parse(state.parser, "\n", 1, i + 1 == file->nlines) == XML_STATUS_OK;
        if (!right || !state.root || state.depth) {
                const char *why = state.why ? state.why : !right ? XML_ErrorString(XML_GetErrorCode(state.parser)) : "no element";

                dbio_derive_bad(file, (unsigned)XML_GetCurrentLineNumber(state.parser), err, "no whole XML document: %s", why);
                dbio_xml_free(state.root);
                state.root = NULL;
        }
        XML_ParserFree(state.parser);
        return state.root;
}

void dbio_xml_free(struct dbio_xml *xml)
{
        if (!xml)
                return;
        for (unsigned i = 0; i < xml->n; i++)
                dbio_xml_free(xml->items[i]);
        free(xml->items);
        free(xml->name);
        free(xml->text);
        free(xml);
}

const struct dbio_xml *dbio_xml_get(const struct dbio_xml *xml, const char *name)
{
        for (unsigned i = 0; xml && i < xml->n; i++)
                if (!strcmp(xml->items[i]->name, name))
                        return xml->items[i];
        return NULL;
}

const struct dbio_xml *dbio_xml_find(const struct dbio_xml *xml, const char *name)
{
        const struct dbio_xml *found = NULL;

        if (xml && !strcmp(xml->name, name))
                return xml;
        for (unsigned i = 0; xml && i < xml->n && !found; i++)
                found = dbio_xml_find(xml->items[i], name);
        return found;
}

const char *dbio_xml_text(const struct dbio_xml *xml, const char *name, const char *fallback)
{
        const struct dbio_xml *item = dbio_xml_get(xml, name);

        return item && *item->text ? item->text : fallback;
}

double dbio_xml_number(const struct dbio_xml *xml, const char *name, double fallback)
{
        const char *said = dbio_xml_text(xml, name, NULL);
        char *rest;
        double value = said ? strtod(said, &rest) : fallback;

        return said && *rest ? fallback : value;
}
