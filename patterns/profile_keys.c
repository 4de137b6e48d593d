/* The keys of device profiles. */
#include "patterns/profile.h"

#define AT(section, member) offsetof(struct dbio_sim_##section, member)
/* Bounds that keep sums of times inside 63 bits. */
#define LONGEST 60e9       /* ns */
#define SLOWEST 1e5        /* bytes a second */
#define FASTEST 1e13
#define LARGEST 0x1p54     /* bytes */
#define NEEDED DBIO_FIELD_REQUIRED
#define POSITIVE (DBIO_FIELD_REQUIRED | DBIO_FIELD_POSITIVE)

static const char *const schedulers[] = {"sptf", "fifo", NULL};
static const char *const policies[] = {"eager", "watermark", "linear", NULL};
static const char *const levels[] = {"0", "1", "5", "10", NULL};

static const struct dbio_field link_fields[] = {
        {"ports", DBIO_FIELD_COUNT, AT(link, ports), NULL, 1, 64, "ports that share the commands", NULL, NEEDED, NULL, NULL},
        {"rate", DBIO_FIELD_BYTE_RATE, AT(link, rate), NULL, SLOWEST, FASTEST, "of one port", NULL, POSITIVE, NULL, NULL},
        {"latency", DBIO_FIELD_TIME, AT(link, latency), NULL, 0, LONGEST, "there and back", NULL, NEEDED, NULL, NULL},
        {0},
};

static const struct dbio_field cache_fields[] = {
        {"size", DBIO_FIELD_SIZE, AT(cache, size), NULL, 1 << 16, LARGEST, "bytes for writes", NULL, POSITIVE, NULL, NULL},
        {"line", DBIO_FIELD_SIZE, AT(cache, line), NULL, 512, 1 << 20, "bytes that are dirty or clean together", NULL,
         NEEDED, NULL, NULL},
        {"hit", DBIO_FIELD_TIME, AT(cache, hit), NULL, 0, LONGEST, "to acknowledge a write, or to serve a read of dirty lines",
         NULL, NEEDED, NULL, NULL},
        {"bus", DBIO_FIELD_BYTE_RATE, AT(cache, bus), NULL, SLOWEST, FASTEST, "into and out of the cache", NULL, POSITIVE, NULL, NULL},
        {"policy", DBIO_FIELD_ENUM, AT(cache, policy), NULL, 0, 0,
         "when dirty lines are written: at once, between two marks, the more the fuller", NULL, NEEDED, policies, NULL},
        {"destage", DBIO_FIELD_COUNT, AT(cache, destage), NULL, 1, 4096,
         "destage writes in flight per mirror pair or disk (level 5: in all)", NULL, NEEDED, NULL, NULL},
        {"coalesce", DBIO_FIELD_SIZE, AT(cache, coalesce), NULL, 512, 1 << 30, "longest destage write", NULL, POSITIVE, NULL, NULL},
        {"high", DBIO_FIELD_SHARE, AT(cache, high), "80%", 0, 1, "watermark: begin when so full", NULL, 0, NULL, NULL},
        {"low", DBIO_FIELD_SHARE, AT(cache, low), "16%", 0, 1, "watermark: stop when so full", NULL, 0, NULL, NULL},
        {"learn_from", DBIO_FIELD_TIME, AT(cache, learn_from), "0ns", 0, 1e15,
         "write-through while the battery learns, from the run's start", NULL, 0, NULL, NULL},
        {"learn_to", DBIO_FIELD_TIME, AT(cache, learn_to), "0ns", 0, 1e15, "end of that", NULL, 0, NULL, NULL},
        {0},
};

static const struct dbio_field array_fields[] = {
        {"level", DBIO_FIELD_ENUM, AT(array, level), NULL, 0, 0, "RAID level", NULL, NEEDED, levels, NULL},
        {"members", DBIO_FIELD_COUNT, AT(array, members), NULL, 2, 256, "disks", NULL, NEEDED, NULL, NULL},
        {"strip", DBIO_FIELD_SIZE, AT(array, strip), NULL, 4096, 1 << 30, "bytes on one disk before the next", NULL, NEEDED, NULL,
         NULL},
        {"side_strips", DBIO_FIELD_COUNT, AT(array, side_strips), "1", 1, 1 << 20,
         "mirrors: strips of a long read from one side before the other goes on", NULL, 0, NULL, NULL},
        {"overhead", DBIO_FIELD_TIME, AT(array, overhead), "0ns", 0, LONGEST, "the controller's own time a command", NULL, 0, NULL,
         NULL},
        {0},
};

static const struct dbio_field disk_fields[] = {
        {"capacity", DBIO_FIELD_SIZE, AT(disk, capacity), NULL, 1 << 20, LARGEST, "bytes", NULL, POSITIVE, NULL, NULL},
        {"rpm", DBIO_FIELD_COUNT, AT(disk, rpm), NULL, 1000, 100000, "turns a minute", NULL, NEEDED, NULL, NULL},
        {"heads", DBIO_FIELD_COUNT, AT(disk, heads), NULL, 1, 64, "surfaces", NULL, NEEDED, NULL, NULL},
        {"zones", DBIO_FIELD_COUNT, AT(disk, zones), NULL, 1, 64, "bands of equal sectors a track", NULL, NEEDED, NULL, NULL},
        {"outer", DBIO_FIELD_BYTE_RATE, AT(disk, outer), NULL, SLOWEST, FASTEST, "media rate outside", NULL, POSITIVE, NULL, NULL},
        {"inner", DBIO_FIELD_BYTE_RATE, AT(disk, inner), NULL, SLOWEST, FASTEST, "media rate inside", NULL, POSITIVE, NULL, NULL},
        {"seek_track", DBIO_FIELD_TIME, AT(disk, seek_track), NULL, 0, LONGEST, "seek to the next cylinder", NULL, NEEDED, NULL, NULL},
        {"seek_average", DBIO_FIELD_TIME, AT(disk, seek_average), NULL, 0, LONGEST, "mean seek of reads", NULL, NEEDED, NULL, NULL},
        {"seek_full", DBIO_FIELD_TIME, AT(disk, seek_full), NULL, 0, LONGEST, "seek over all cylinders", NULL, NEEDED, NULL, NULL},
        {"head_switch", DBIO_FIELD_TIME, AT(disk, head_switch), NULL, 0, LONGEST, "to another surface", NULL, NEEDED, NULL, NULL},
        {"write_settle", DBIO_FIELD_TIME, AT(disk, write_settle), NULL, 0, LONGEST, "added to a seek for a write", NULL, NEEDED, NULL,
         NULL},
        {"overhead", DBIO_FIELD_TIME, AT(disk, overhead), NULL, 0, LONGEST, "of a command", NULL, NEEDED, NULL, NULL},
        {"read_ahead", DBIO_FIELD_SIZE, AT(disk, read_ahead), NULL, 0, 1 << 30, "that the drive reads on by itself", NULL, NEEDED,
         NULL, NULL},
        {"bus", DBIO_FIELD_BYTE_RATE, AT(disk, bus), NULL, SLOWEST, FASTEST, "rate of its interface", NULL, POSITIVE, NULL, NULL},
        {"tags", DBIO_FIELD_COUNT, AT(disk, tags), NULL, 1, 1024, "commands that it sorts", NULL, NEEDED, NULL, NULL},
        {"scheduler", DBIO_FIELD_ENUM, AT(disk, scheduler), NULL, 0, 0, "shortest positioning time first, or in turn", NULL,
         NEEDED, schedulers, NULL},
        {"ageing", DBIO_FIELD_FACTOR, AT(disk, ageing), NULL, 0, 1,
         "share of its age by which a waiting command's positioning time counts for less", NULL, NEEDED, NULL, NULL},
        {0},
};

static const struct dbio_field ssd_fields[] = {
        {"capacity", DBIO_FIELD_SIZE, AT(ssd, capacity), NULL, 1 << 20, LARGEST, "bytes", NULL, POSITIVE, NULL, NULL},
        {"units", DBIO_FIELD_COUNT, AT(ssd, units), NULL, 1, 4096, "that read and program at the same time", NULL, NEEDED, NULL,
         NULL},
        {"page", DBIO_FIELD_SIZE, AT(ssd, page), NULL, 512, 1 << 20, "bytes of a flash page", NULL, NEEDED, NULL, NULL},
        {"read", DBIO_FIELD_TIME, AT(ssd, read), NULL, 0, LONGEST, "of a page in a unit", NULL, POSITIVE, NULL, NULL},
        {"program", DBIO_FIELD_TIME, AT(ssd, program), NULL, 0, LONGEST, "of a page in a unit", NULL, POSITIVE, NULL, NULL},
        {"command", DBIO_FIELD_TIME, AT(ssd, command), NULL, 0, LONGEST, "of a command, one after the other", NULL, NEEDED, NULL, NULL},
        {"host", DBIO_FIELD_TIME, AT(ssd, host), NULL, 0, LONGEST, "of a command, side by side", NULL, NEEDED, NULL, NULL},
        {"channel", DBIO_FIELD_BYTE_RATE, AT(ssd, channel), NULL, SLOWEST, FASTEST, "to and from one unit", NULL, POSITIVE, NULL, NULL},
        {"link", DBIO_FIELD_BYTE_RATE, AT(ssd, link), NULL, SLOWEST, FASTEST, "to and from the host", NULL, POSITIVE, NULL, NULL},
        {"buffer_pages", DBIO_FIELD_COUNT, AT(ssd, buffer_pages), NULL, 1, 1 << 20, "acknowledged before programmed", NULL,
         NEEDED, NULL, NULL},
        {"tags", DBIO_FIELD_COUNT, AT(ssd, tags), "0", 0, 65536, "commands taken at a time; 0 = any number", NULL, 0, NULL, NULL},
        {"reads_first", DBIO_FIELD_COUNT, AT(ssd, reads_first), NULL, 0, 1000000,
         "reads that may go before a program that waits for the same unit; 0 = in turn", NULL, NEEDED, NULL, NULL},
        {0},
};

static const struct dbio_field ftl_fields[] = {
        {"over_provision", DBIO_FIELD_FACTOR, AT(ftl, over_provision), NULL, 0.02, 10, "spare pages a user page", NULL, NEEDED,
         NULL, NULL},
        {"map_pages", DBIO_FIELD_COUNT, AT(ftl, map_pages), NULL, 4096, 1 << 22,
         "pages that are mapped; those of the device are folded onto them", NULL, NEEDED, NULL, NULL},
        {"block_pages", DBIO_FIELD_COUNT, AT(ftl, block_pages), NULL, 16, 4096, "pages erased together", NULL, NEEDED, NULL,
         NULL},
        {"erase", DBIO_FIELD_TIME, AT(ftl, erase), NULL, 0, LONGEST, "of a block", NULL, NEEDED, NULL, NULL},
        {"steady", DBIO_FIELD_BOOL, AT(ftl, steady), NULL, 0, 0, "begin as after long random overwriting", NULL, NEEDED, NULL,
         NULL},
        {0},
};

static const struct dbio_field cloud_fields[] = {
        {"capacity", DBIO_FIELD_SIZE, AT(cloud, capacity), NULL, 1 << 20, LARGEST, "bytes", NULL, POSITIVE, NULL, NULL},
        {"ops_rate", DBIO_FIELD_RATE, AT(cloud, ops_rate), "0/s", 0, 1e9, "ceiling of ops; 0/s = none", NULL, 0, NULL, NULL},
        {"base_rate", DBIO_FIELD_RATE, AT(cloud, base_rate), "0/s", 0, 1e9, "credits regained; 0/s = no credits", NULL, 0, NULL,
         NULL},
        {"credits", DBIO_FIELD_COUNT, AT(cloud, credits), "0", 0, 1000000000, "ops of a full bucket", NULL, 0, NULL, NULL},
        {"byte_rate", DBIO_FIELD_BYTE_RATE, AT(cloud, byte_rate), NULL, SLOWEST, FASTEST, "ceiling of bytes", NULL, POSITIVE, NULL, NULL},
        {"op_bytes", DBIO_FIELD_SIZE, AT(cloud, op_bytes), NULL, 512, 1 << 30, "a larger op counts once for so many bytes", NULL,
         NEEDED, NULL, NULL},
        {"latency", DBIO_FIELD_TIME, AT(cloud, latency), NULL, 0, LONGEST, "median", NULL, NEEDED, NULL, NULL},
        {"sigma", DBIO_FIELD_FACTOR, AT(cloud, sigma), "0", 0, 3, "of the latency's logarithm", NULL, 0, NULL, NULL},
        {"parallel", DBIO_FIELD_COUNT, AT(cloud, parallel), "0", 0, 65536, "ops served at a time; 0 = any number", NULL, 0, NULL,
         NULL},
        {0},
};

static const struct dbio_field fixed_fields[] = {
        {"capacity", DBIO_FIELD_SIZE, AT(fixed, capacity), NULL, 1 << 20, LARGEST, "bytes", NULL, POSITIVE, NULL, NULL},
        {"read", DBIO_FIELD_TIME, AT(fixed, read), NULL, 0, LONGEST, "of a command, without its bytes", NULL, NEEDED, NULL, NULL},
        {"write", DBIO_FIELD_TIME, AT(fixed, write), NULL, 0, LONGEST, "of a command, without its bytes", NULL, NEEDED, NULL, NULL},
        {"rate", DBIO_FIELD_BYTE_RATE, AT(fixed, rate), "0MB/s", 0, FASTEST, "bytes of one server; 0MB/s = size does not matter", NULL, 0,
         NULL, NULL},
        {"sigma", DBIO_FIELD_FACTOR, AT(fixed, sigma), "0", 0, 3, "of the time's logarithm, its median as given", NULL, 0, NULL,
         NULL},
        {"servers", DBIO_FIELD_COUNT, AT(fixed, servers), NULL, 0, 65536, "commands served at a time; 0 = any number", NULL,
         NEEDED, NULL, NULL},
        {0},
};

#define PROFILE(member) offsetof(struct dbio_sim_profile, member)
const struct dbio_profile_section dbio_profile_sections[] = {
        {"link", "a link in front (Fibre Channel)", link_fields, PROFILE(link), PROFILE(has_link), -1},
        {"cache", "a battery-backed write-back cache", cache_fields, PROFILE(cache), PROFILE(has_cache), -1},
        {"array", "a RAID over equal members", array_fields, PROFILE(array), PROFILE(has_array), -1},
        {"disk", "a rotating disk", disk_fields, PROFILE(disk), 0, DBIO_SIM_DISK},
        {"ssd", "a solid-state disk", ssd_fields, PROFILE(ssd), 0, DBIO_SIM_SSD},
        {"cloud", "a cloud volume", cloud_fields, PROFILE(cloud), 0, DBIO_SIM_CLOUD},
        {"fixed", "a fixed time a command", fixed_fields, PROFILE(fixed), 0, DBIO_SIM_FIXED},
        {"ftl", "flash translation of the ssd", ftl_fields, PROFILE(ftl), PROFILE(has_ftl), -1},
        {NULL, NULL, NULL, 0, 0, 0},
};
