// SPDX-License-Identifier: Apache-2.0

// The reference's Kronecker generator (graph/kronecker.go has it in its simplest form, makeTuple, and the source of
// every number), and its weights (graph/weights.go, makeWeight). Each thread makes every 2^strideBits-th tuple of a part
// of the list, and goes from the stream of one tuple to that of its next by a jump.
#include <cstdint>

typedef uint32_t u32;
typedef uint64_t u64;

constexpr u64 MODULUS = (u64(1) << 31) - 1;
constexpr int TUPLE_BITS = 60;

// Constants is graph.Constants.
struct Constants {
  u64 stream[5];
  u64 jumps[TUPLE_BITS][5];
  u64 key;
  u64 multiplier[2];
};

// fold returns a number congruent to t that is below 2^31 + 2^33, and reduce the remainder of t, which is below 2^61.
__device__ u64 fold(u64 t) { return (t & MODULUS) + (t >> 31); }

__device__ u64 reduce(u64 t) { return (t + ((t + (t >> 31) + 1) >> 31)) & MODULUS; }

__device__ u64 nextOutput(u64 near, u64 far) { return reduce(107374182 * near + 104480 * far); }

// jumpAhead moves the state of a stream on.
__device__ void jumpAhead(u64* z, const u64* jump) {
  u64 window[9];
  for (int k = 0; k < 5; k++) window[k] = z[k];
  for (int k = 5; k < 9; k++) window[k] = nextOutput(window[k - 1], window[k - 5]);
  for (int k = 0; k < 5; k++) {
    u64 sum = 0;
    for (int j = 0; j < 5; j++) sum += fold(jump[j] * window[k + j]);
    z[k] = reduce(sum);
  }
}

__device__ u64 scramble(u64 label, const Constants* c, int scale) {
  label = __brevll((label + c->key) * c->multiplier[0]) >> (64 - scale);
  return __brevll(label * c->multiplier[1]) >> (64 - scale);
}

// next returns the next output of a stream, and accepted the next one that is not rejected.
__device__ u64 next(u64* s) {
  u64 draw = nextOutput(s[4], s[0]);
  for (int k = 0; k < 4; k++) s[k] = s[k + 1];
  return s[4] = draw;
}

__device__ u64 accepted(u64* s) {
  u64 draw;
  do draw = next(s);
  while (draw < MODULUS % 10000);
  return draw;
}

// eachStream calls make with the position of every tuple of this thread, of n from number first on, and its stream.
template <typename Make>
__device__ void eachStream(const Constants* c, u64 first, u64 n, u64 strideBits, Make make) {
  u64 at = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= n) return;
  u64 z[5];
  for (int k = 0; k < 5; k++) z[k] = c->stream[k];
  for (int b = 0; b < TUPLE_BITS; b++) {
    if ((first + at) >> b & 1) jumpAhead(z, c->jumps[b]);
  }
  u64 jump[5];
  for (int k = 0; k < 5; k++) jump[k] = c->jumps[strideBits][k];
  for (; at < n; at += u64(1) << strideBits) {
    u64 s[5];
    for (int k = 0; k < 5; k++) s[k] = z[k];
    make(at, s);
    jumpAhead(z, jump);
  }
}

// generate writes n tuples from number first on, 12 bytes each.
extern "C" __global__ void generate(const Constants* c, u64 scale, u64 first, u64 n, u64 strideBits, u32* out) {
  eachStream(c, first, n, strideBits, [=](u64 at, u64* s) {
    u64 differ = 0, v = 0;
    for (u64 bit = 0; bit < scale; bit++) {
      u32 odds = u32(accepted(s)) % 10000; // B, C, A, D
      differ = differ << 1 | (odds < 3800);
      v = v << 1 | (odds < 1900 || odds >= 9500);
    }
    u64 u = v ^ differ;
    u64 below = differ == 0 ? 0 : u & u64(1) << (63 - __clzll(differ)); // the flipped bit, if u > v
    u = scramble(u ^ below, c, int(scale));
    u64 w = scramble(v ^ below, c, int(scale));
    out[3 * at] = u32(u), out[3 * at + 1] = u32(w), out[3 * at + 2] = u32(u >> 32 & 0xffff) | u32(w >> 32) << 16;
  });
}

// generate_weights writes the weights of n tuples from number first on.
extern "C" __global__ void generate_weights(const Constants* c, u64 scale, u64 first, u64 n, u64 strideBits, float* out) {
  eachStream(c, first, n, strideBits, [=](u64 at, u64* s) {
    for (u64 bit = 0; bit < scale; bit++) accepted(s);
    out[at] = float(u32(next(s))) / float(MODULUS);
  });
}
