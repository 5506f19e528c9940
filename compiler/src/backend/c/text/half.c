/* Numbers of two bytes. */
static inline float spc_f32_of_f16(uint16_t half) {
    union { uint32_t bits; float value; } wide;
    const uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13;
    wide.bits = magnitude;
    wide.value *= 5192296858534827628530496329220096.0f;
    if (magnitude >= 0x0f800000u) wide.bits = magnitude | 0x7f800000u;
    wide.bits |= (uint32_t)(half & 0x8000) << 16;
    return wide.value;
}

static inline uint16_t spc_f16_of_f32(float value) {
    union { uint32_t bits; float value; } wide = {.value = value};
    const uint32_t sign = wide.bits >> 16 & 0x8000u, magnitude = wide.bits & 0x7fffffffu;
    const uint32_t payload = magnitude >> 13 & 0x3ffu;
    if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7c00u | (payload == 0 ? 1u : payload));
    if (magnitude >= 0x47800000u) return (uint16_t)(sign | 0x7c00u);
    if (magnitude >= 0x38800000u) {
        return (uint16_t)(sign | (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13);
    }
    wide.bits = magnitude;
    wide.value += 0.5f;
    return (uint16_t)(sign | (wide.bits - 0x3f000000u));
}

static inline float spc_f32_of_bf16(uint16_t half) {
    union { uint32_t bits; float value; } wide = {.bits = (uint32_t)half << 16};
    return wide.value;
}

static inline uint16_t spc_bf16_of_f32(float value) {
    union { uint32_t bits; float value; } wide = {.value = value};
    const uint32_t upper = wide.bits >> 16;
    if ((wide.bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((upper & 0x7fu) == 0 ? upper | 1u : upper);
    return (uint16_t)((wide.bits + 0x7fffu + (upper & 1u)) >> 16);
}
