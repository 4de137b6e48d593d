#include "replay/blklayout.h"

#include <stdlib.h>
#include <string.h>

#include "replay/tracelines.h"

#define PIECES 64
#define WORDS_MAX 256u /* of a command's name or a payload, which may hold blanks */

/* Fields, as blkparse has them, or text between them: blanks stand for any number of blanks, as fields are padded. */
enum piece_kind { END, BLANKS, LETTER, NUMBER, DEVICE, ACTION, FLAGS, WORD, WORDS };
struct piece {
        enum piece_kind kind;
        char letter; /* of LETTER; of a field its name */
};

struct dbio_blk_layout {
        struct piece pieces[PIECES + 1];
        bool has_action, has_device;
};

static const struct {
        char name;
        enum piece_kind kind;
} fields[] = {
        {'a', ACTION}, {'c', NUMBER}, {'C', WORDS}, {'d', FLAGS},  {'D', DEVICE}, {'e', WORD},   {'g', WORD},  {'m', NUMBER}, {'M', NUMBER},
        {'n', NUMBER}, {'N', NUMBER}, {'p', NUMBER}, {'P', WORDS}, {'s', NUMBER}, {'S', NUMBER}, {'t', NUMBER}, {'T', NUMBER}, {'u', NUMBER},
        {'U', NUMBER}, {'z', WORD},
};

/* --- the layout ---------------------------------------------------------------------------------------------------- */

static int bad(struct dbio_err *err, const char *layout, const char *what)
{
        return dbio_err_set(err, DBIO_USAGE, "blkparse:%.200s: %s; a layout is given as to blkparse -f, as in "
                                             "blkparse:'%%T.%%t %%D %%a %%d %%S %%n'", layout, what);
}

static enum piece_kind field_kind(char name)
{
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
                if (fields[i].name == name)
                        return fields[i].kind;
        return END;
}

/* What stands at *at. */
static int parse_piece(const char **at, struct piece *piece, const char *layout, struct dbio_err *err)
{
        const char *text = *at;

        if (*text == '%' && text[1] != '%') {
                text++;
                text += *text == '-';
                text += strspn(text, "0123456789");
                *piece = (struct piece){.kind = field_kind(*text), .letter = *text};
                if (piece->kind == END)
                        return bad(err, layout, "blkparse has no such field");
        } else if (*text == '\\' && strchr("bnrt", text[1]) && text[1]) {
                text++;
                *piece = (struct piece){.kind = *text == 'n' ? LETTER : BLANKS, .letter = '\n'};
        } else {
                text += *text == '%';
                *piece = (struct piece){.kind = *text == ' ' || *text == '\t' ? BLANKS : LETTER, .letter = *text};
        }
        *at = text + 1;
        return 0;
}

static int parse(struct dbio_blk_layout *layout, const char *text, struct dbio_err *err)
{
        unsigned n = 0;

        for (const char *at = text; *at; n++) {
                struct piece *piece = &layout->pieces[n], *before = n ? piece - 1 : NULL;
                if (n == PIECES)
                        return bad(err, text, "it is too long");
                if (parse_piece(&at, piece, text, err))
                        return -1;
                if (piece->kind == LETTER && piece->letter == '\n') {
                        if (*at)
                                return bad(err, text, "an event is one line");
                        piece->kind = END;
                        break;
                }
                if (piece->kind > LETTER && before && before->kind > LETTER)
                        return bad(err, text, "nothing stands between two fields");
        }
        return 0;
}

static bool has(const struct dbio_blk_layout *layout, char field)
{
        for (const struct piece *piece = layout->pieces; piece->kind != END; piece++)
                if (piece->kind > LETTER && piece->letter == field)
                        return true;
        return false;
}

int dbio_blk_layout_new(struct dbio_blk_layout **out, const char *text, struct dbio_err *err)
{
        struct dbio_blk_layout *layout = *out = calloc(1, sizeof *layout);

        if (!layout)
                return dbio_err_set(err, DBIO_IO, "out of memory");
        if (parse(layout, text, err))
                goto fail;
        layout->has_action = has(layout, 'a');
        layout->has_device = has(layout, 'D') || (has(layout, 'M') && has(layout, 'm'));
        if (has(layout, 'T') && has(layout, 't') && has(layout, 'S') && has(layout, 'd') && (has(layout, 'n') || has(layout, 'N')))
                return 0;
        bad(err, text, "%T, %t, %d, %S, and %n or %N are needed");
fail:
        dbio_blk_layout_free(layout);
        *out = NULL;
        return -1;
}

void dbio_blk_layout_free(struct dbio_blk_layout *layout)
{
        free(layout);
}

bool dbio_blk_layout_has_action(const struct dbio_blk_layout *layout)
{
        return layout->has_action;
}

/* --- lines --------------------------------------------------------------------------------------------------------- */

static const char *blanks(const char *at)
{
        while (*at == ' ' || *at == '\t')
                at++;
        return at;
}

static bool put_number(char field, uint64_t value, struct dbio_blk_step *step)
{
        switch (field) {
        case 'M':
        case 'm':
                *(field == 'M' ? &step->major : &step->minor) = (uint32_t)value;
                return value <= UINT32_MAX;
        case 'n':
                if (!step->bytes && __builtin_mul_overflow(value, 512u, &step->bytes))
                        return false;
                return true;
        case 'N':
                step->bytes = value;
                return true;
        case 'S':
                step->sector = value;
                return true;
        case 't':
                return value < 1000000000 && !__builtin_add_overflow(step->t_ns, value, &step->t_ns);
        case 'T':
                return !__builtin_mul_overflow(value, 1000000000u, &value) && !__builtin_add_overflow(step->t_ns, value, &step->t_ns);
        }
        return true;
}

/* A field of one word at *at, which it moves behind it. */
static bool take_field(const struct piece *piece, const char **at, struct dbio_blk_step *step)
{
        static const char flag_letters[] = "FDWRNASM", capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        char end = piece[1].kind == LETTER ? piece[1].letter : ' ';
        uint64_t value, minor;
        size_t size;

        switch (piece->kind) {
        case NUMBER:
                return dbio_trace_number(at, &value) && put_number(piece->letter, value, step);
        case DEVICE:
                if (!dbio_trace_number(at, &value) || *(*at)++ != ',' || !dbio_trace_number(at, &minor))
                        return false;
                return put_number('M', value, step) && put_number('m', minor, step);
        case ACTION:
                size = strspn(*at, capitals);
                step->action = size == 1 ? **at : '?';
                break;
        case FLAGS:
                size = strspn(*at, flag_letters);
                dbio_blk_flags(*at, size, step);
                break;
        default:
                for (size = 0; (*at)[size] && (*at)[size] != end && (*at)[size] != ' ' && (*at)[size] != '\t'; size++)
                        ;
        }
        *at += size;
        return size > 0 || piece->kind == WORDS;
}

static bool match(const struct piece *piece, const char *at, struct dbio_blk_step *step, bool words);

/* A name or payload that may hold blanks: the shortest that lets the rest match. */
static bool match_words(const struct piece *rest, const char *at, struct dbio_blk_step *step)
{
        for (unsigned n = 0; n <= WORDS_MAX; n++) {
                struct dbio_blk_step so_far = *step;
                if (match(rest, at + n, &so_far, true)) {
                        *step = so_far;
                        return true;
                }
                if (!at[n])
                        return false;
        }
        return false;
}

/* words: one that may hold blanks stood before; a second has none, so that no line takes long. */
static bool match(const struct piece *piece, const char *at, struct dbio_blk_step *step, bool words)
{
        for (; piece->kind != END; piece++) {
                at = blanks(at);
                if (piece->kind == WORDS && !words)
                        return match_words(piece + 1, at, step);
                if (piece->kind == LETTER && *at++ != piece->letter)
                        return false;
                if (piece->kind > LETTER && !take_field(piece, &at, step))
                        return false;
        }
        return !*blanks(at);
}

bool dbio_blk_layout_match(const struct dbio_blk_layout *layout, const char *line, struct dbio_blk_step *step)
{
        memset(step, 0, sizeof *step);
        if (!layout->has_device)
                step->major = step->minor = DBIO_BLK_NO_DEVICE;
        return match(layout->pieces, line, step, false);
}
