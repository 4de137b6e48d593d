/* CRC-32C (Castagnoli), as in iSCSI, ext4 and SSE 4.2 (RFC 3720, appendix B.4). */
#ifndef DBIO_ENGINE_CRC32C_H
#define DBIO_ENGINE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Goes on from the crc of what lies before; 0 at the beginning. Any thread. */
uint32_t dbio_crc32c(uint32_t crc, const void *bytes, size_t length);

/* The same without the processor's instruction (for tests, and where it has none). */
uint32_t dbio_crc32c_plain(uint32_t crc, const void *bytes, size_t length);

#endif
