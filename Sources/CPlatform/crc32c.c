// CRC-32C, reflected polynomial 0x82F63B78 (RFC 3720, appendix B.4 has the test vectors).
#include "CPlatform.h"
#include <pthread.h>
#include <string.h>

static uint32_t table[8][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++) c = c & 1 ? (c >> 1) ^ 0x82F63B78u : c >> 1;
    table[0][i] = c;
  }
  for (uint32_t i = 0; i < 256; i++)
    for (int t = 1; t < 8; t++)
      table[t][i] = (table[t - 1][i] >> 8) ^ table[0][table[t - 1][i] & 255];
}

static uint32_t by_table(uint32_t c, const uint8_t *p, size_t n) {
  pthread_once(&table_once, make_table);
  for (; n >= 8; n -= 8, p += 8) {
    uint32_t a = c ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
    c = table[7][a & 255] ^ table[6][a >> 8 & 255] ^ table[5][a >> 16 & 255] ^ table[4][a >> 24] ^
        table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
  }
  for (; n; n--) c = (c >> 8) ^ table[0][(c ^ *p++) & 255];
  return c;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

// An instruction takes three cycles and one can begin in each, so long input is taken in three lanes. What
// the register of one becomes over the bytes of the next is linear, and looked up.
enum { LANE = 1024 };
static uint32_t over_lane[4][256];
static pthread_once_t lanes_once = PTHREAD_ONCE_INIT;

__attribute__((target("sse4.2"))) static void make_lanes(void) {
  for (int t = 0; t < 4; t++)
    for (uint32_t i = 0; i < 256; i++) {
      uint64_t c = i << 8 * t;
      for (int k = 0; k < LANE; k += 8) c = _mm_crc32_u64(c, 0);
      over_lane[t][i] = (uint32_t)c;
    }
}

static uint64_t pass_lane(uint64_t c) {
  return over_lane[0][c & 255] ^ over_lane[1][c >> 8 & 255] ^ over_lane[2][c >> 16 & 255] ^ over_lane[3][c >> 24 & 255];
}

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t c, const uint8_t *p, size_t n) {
  uint64_t wide = c, second, third, word, words[3];
  if (n >= 3 * LANE) pthread_once(&lanes_once, make_lanes);
  for (; n >= 3 * LANE; n -= 3 * LANE, p += 3 * LANE) {
    second = third = 0;
    for (int i = 0; i < LANE; i += 8) {
      memcpy(&words[0], p + i, 8);
      memcpy(&words[1], p + LANE + i, 8);
      memcpy(&words[2], p + 2 * LANE + i, 8);
      wide = _mm_crc32_u64(wide, words[0]);
      second = _mm_crc32_u64(second, words[1]);
      third = _mm_crc32_u64(third, words[2]);
    }
    wide = pass_lane(pass_lane(wide) ^ second) ^ third;
  }
  for (; n >= 8; n -= 8, p += 8) {
    memcpy(&word, p, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  c = (uint32_t)wide;
  for (; n; n--) c = _mm_crc32_u8(c, *p++);
  return c;
}
static int has_instruction(void) { return __builtin_cpu_supports("sse4.2"); }
#else
static uint32_t by_instruction(uint32_t c, const uint8_t *p, size_t n) { return by_table(c, p, n); }
static int has_instruction(void) { return 0; }
#endif

uint32_t eb_crc32c(uint32_t seed, const void *bytes, size_t length) {
  uint32_t c = ~seed;
  c = has_instruction() ? by_instruction(c, bytes, length) : by_table(c, bytes, length);
  return ~c;
}
