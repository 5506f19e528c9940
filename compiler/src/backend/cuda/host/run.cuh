/* What the host does between launches. After the first error nothing is done any more. */
#ifndef SPC_LAUNCH
#define SPC_LAUNCH(function, grid, stream, ...) \
    function<<<dim3((grid).blocks[0], (grid).blocks[1]), dim3((grid).threads[0], (grid).threads[1]), (grid).shared, stream>>>(__VA_ARGS__)
#endif

#ifdef __NVCC__
#pragma nv_diag_suppress 177 /* No file needs all of it. */
#endif

namespace {

/* Elements in the device's memory: the caller's, or memory of this call. */
struct spc_array {
    size_t width;
    unsigned char *data = nullptr;
    uint64_t length = 0;
    bool is_own = false;
    /* All elements, where the host has read them. */
    std::vector<uint64_t> known;

    explicit spc_array(size_t width) : width(width) {}
    spc_array(size_t width, const void *data, uint64_t length)
        : width(width), data((unsigned char *)data), length(length) {}
    template <class T> operator T *() const { return (T *)data; }
};

struct spc_grid {
    unsigned blocks[2], threads[2];
    size_t shared;
};

class spc_steps {
public:
    const cudaStream_t stream;
    cudaError_t error = cudaSuccess;

    explicit spc_steps(cudaStream_t stream) : stream(stream) {}

    /* Whether all went well, this included. */
    bool did(cudaError_t status) {
        if (error == cudaSuccess) error = status;
        return error == cudaSuccess;
    }

    /* Whether threads can move several elements as one. */
    void lies_well(const void *values, size_t length) {
        if (length > 0 && (uintptr_t)values % 16 != 0) did(cudaErrorMisalignedAddress);
    }

    /* Numbers: what is too large is an error, what would be below zero is zero. */
    uint64_t add(uint64_t a, uint64_t b) { return a + b < a ? too_large() : a + b; }
    uint64_t subtract(uint64_t a, uint64_t b) { return a < b ? 0 : a - b; }
    uint64_t multiply(uint64_t a, uint64_t b) { return b != 0 && a > UINT64_MAX / b ? too_large() : a * b; }
    uint64_t divide(uint64_t a, uint64_t b) { return b == 0 ? too_large() : a / b; }
    uint64_t remainder(uint64_t a, uint64_t b) { return b == 0 ? too_large() : a % b; }
    uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
    uint64_t most(uint64_t a, uint64_t b) { return a < b ? b : a; }
    /* Ones where a number has its bits when those of all are interleaved. */
    uint64_t mask(size_t part, const std::vector<uint64_t> &extents) {
        std::vector<unsigned> widths;
        for (uint64_t extent : extents) {
            widths.push_back(0);
            while (widths.back() < 64 && extent > (uint64_t)1 << widths.back()) widths.back()++;
        }
        uint64_t mask = 0;
        for (unsigned bit = 0; bit < widths[part]; bit++) {
            unsigned place = 0;
            for (size_t number = 0; number < widths.size(); number++) {
                const bool is_before = widths[number] < widths[part] || (widths[number] == widths[part] && number < part);
                place += widths[number] <= bit ? widths[number] : bit + is_before;
            }
            mask |= (uint64_t)1 << place;
        }
        return mask;
    }
    /* What moves by 1, 2, 4, ... places, one step behind the other, where the bits at the ones of a mask are brought side by side. */
    uint64_t moved(uint64_t mask, unsigned step) {
        uint64_t zeros = ~mask << 1, moves = 0;
        for (unsigned now = 0; now <= step; now++) {
            uint64_t parity = zeros;
            for (unsigned shift = 1; shift < 64; shift *= 2) parity ^= parity << shift;
            moves = parity & mask;
            mask = (mask ^ moves) | (moves >> (1 << now));
            zeros &= ~parity;
        }
        return moves;
    }
    uint64_t shares(uint64_t a, uint64_t size) { return size == 0 ? a : a / size + (a % size != 0); }

    /* Memory. */
    void make(spc_array &array, uint64_t length) {
        release(array);
        array.data = allocate(length, array.width);
        array.length = length;
        array.is_own = true;
    }

    void release(spc_array &array) {
        if (array.is_own && array.data != nullptr) did(cudaFreeAsync(array.data, stream));
        array.data = nullptr;
        array.length = 0;
        array.known.clear();
    }

    /* An array is longer, and keeps what it has. */
    void lengthen(spc_array &array, uint64_t length) {
        spc_array longer(array.width);
        make(longer, length);
        const uint64_t kept = least(array.length, length) * array.width;
        if (error == cudaSuccess && kept > 0) {
            did(cudaMemcpyAsync(longer.data, array.data, kept, cudaMemcpyDeviceToDevice, stream));
        }
        release(array);
        array = longer;
    }

    void zero(spc_array &array) {
        if (error == cudaSuccess && array.length > 0) {
            did(cudaMemsetAsync(array.data, 0, array.length * array.width, stream));
        }
    }

    /* Every element is this one. Few come from the host: the others are copies of these. */
    void fill(spc_array &array, const unsigned char *element) {
        if (error != cudaSuccess || array.length == 0) return;
        const size_t total = array.length * array.width;
        size_t filled = total < 4096 * array.width ? total : 4096 * array.width;
        std::vector<unsigned char> first(filled);
        for (size_t byte = 0; byte < filled; byte++) first[byte] = element[byte % array.width];
        did(cudaMemcpyAsync(array.data, first.data(), filled, cudaMemcpyHostToDevice, stream));
        did(cudaStreamSynchronize(stream));
        while (error == cudaSuccess && filled < total) {
            const size_t next = filled < total - filled ? filled : total - filled;
            did(cudaMemcpyAsync(array.data + filled, array.data, next, cudaMemcpyDeviceToDevice, stream));
            filled += next;
        }
    }

    /* All elements of a short array come to the host. */
    void read(spc_array &array) {
        array.known.assign(array.length, 0);
        std::vector<unsigned char> bytes(array.length * array.width);
        take(bytes.data(), array.data, bytes.size());
        for (uint64_t n = 0; n < array.length; n++) memcpy(&array.known[n], &bytes[n * array.width], array.width);
    }

    uint64_t load(const spc_array &array, uint64_t index) {
        uint64_t element = 0;
        if (index < array.known.size()) return array.known[index];
        if (index >= array.length) return too_large();
        take(&element, array.data + index * array.width, array.width);
        return element;
    }

    /* The first place in begin..end, a stride after the other, whose element is not less than a value, else end. */
    uint64_t search(const spc_array &array, uint64_t begin, uint64_t end, uint64_t value, uint64_t stride) {
        uint64_t low = 0, high = subtract(end, begin) / stride;
        while (error == cudaSuccess && low < high) {
            const uint64_t middle = low + (high - low) / 2;
            if (load(array, begin + middle * stride) < value) low = middle + 1;
            else high = middle;
        }
        return begin + low * stride;
    }

    /* Launches. Blocks run over the first axis of a grid, and over the second for rows longer than a block. */
    spc_grid along(uint64_t places, uint64_t block) { return grid(shares(places, block), 1, block, 1); }

    /* Groups of lanes, as wide as there are iterations to share out. */
    spc_grid groups(uint64_t places, uint64_t iterations, uint64_t block) {
        uint64_t wide = 1;
        while (wide * 2 <= least(iterations, 32)) wide *= 2;
        return grid(shares(places, block / wide), 1, wide, block / wide);
    }

    /* Threads for the elements of rows: parts of a warp for short rows, else as many warps as it takes. */
    spc_grid rows(uint64_t places, uint64_t lanes, uint64_t block) {
        uint64_t wide = 32;
        lanes = most(lanes, 1);
        if (lanes <= 32) {
            for (wide = 1; wide < lanes;) wide *= 2;
        } else if (lanes <= block) {
            wide = shares(lanes, 32) * 32;
        }
        return grid(shares(places, block / wide), shares(lanes, wide), wide, block / wide);
    }

    spc_grid grid(uint64_t blocks, uint64_t high, uint64_t threads, uint64_t deep) {
        if (blocks > 0x7fffffff || high > 0xffff) too_large();
        return {{(unsigned)blocks, (unsigned)high}, {(unsigned)threads, (unsigned)deep}, 0};
    }

    bool begins(const spc_grid &grid) { return error == cudaSuccess && grid.blocks[0] > 0 && grid.blocks[1] > 0; }

    void began() { did(cudaGetLastError()); }

    /* Replaces counts by sums of those before: of blocks first, then of their totals. */
    template <class Scan, class Shift> void scan(Scan scan_block, Shift shift, spc_array &counts, uint64_t first) {
        spc_array totals(sizeof(uint64_t));
        make(totals, shares(counts.length, SPC_SCANNED));
        const spc_grid blocks = grid(totals.length, 1, SPC_SCAN_BLOCK, 1);
        if (begins(blocks)) {
            SPC_LAUNCH(scan_block, blocks, stream, counts.length, counts, totals);
            began();
        }
        if (totals.length == 1) zero(totals);
        else if (totals.length > 1) scan(scan_block, shift, totals, 0);
        const spc_grid all = along(counts.length, SPC_SCAN_BLOCK);
        if (begins(all)) {
            SPC_LAUNCH(shift, all, stream, counts.length, first, counts, totals);
            began();
        }
        release(totals);
    }

    /* Sorts keys below a bound by eight bits after the other, the lowest first, and the places that they had. */
    template <class Digits, class Sort, class Scan, class Shift>
    void sort(Digits digits, Sort sort_block, Scan scan_block, Shift shift, spc_array &keys, spc_array &places, uint64_t bound) {
        if (keys.length == 0) return;
        int bits = 1;
        while (bits < 64 && bound > 1 && (bound - 1) >> bits != 0) bits++;
        const spc_grid blocks = grid(shares(keys.length, SPC_SORTED), 1, SPC_SCAN_BLOCK, 1);
        spc_array counts(sizeof(uint64_t)), other_keys(keys.width), other_places(places.width);
        make(counts, SPC_SCAN_BLOCK * (uint64_t)blocks.blocks[0]);
        make(other_keys, keys.length);
        make(other_places, keys.length);
        for (uint64_t low = 0; low < (uint64_t)bits; low += 8) {
            if (begins(blocks)) {
                SPC_LAUNCH(digits, blocks, stream, keys.length, low, keys, counts);
                began();
            }
            scan(scan_block, shift, counts, 0);
            if (begins(blocks)) {
                const uint64_t is_first = low == 0;
                SPC_LAUNCH(sort_block, blocks, stream, keys.length, low, is_first, counts, keys, places, other_keys, other_places);
                began();
            }
            std::swap(keys, other_keys);
            std::swap(places, other_places);
        }
        release(counts);
        release(other_keys);
        release(other_places);
    }

    /* What was appended is the caller's. */
    void give(spc_array &array, spc_vector *vector) {
        if (error != cudaSuccess) return release(array);
        *vector = spc_vector{array.data, (size_t)array.length, (size_t)array.length};
        array.is_own = false;
    }

private:
    uint64_t too_large() {
        did(cudaErrorInvalidValue);
        return 0;
    }

    unsigned char *allocate(uint64_t length, size_t width) {
        void *memory = nullptr;
        const uint64_t bytes = multiply(length, width);
        /* Atomic operations on narrow elements change whole words. */
        if (error == cudaSuccess && bytes > 0) did(cudaMallocAsync(&memory, bytes + (4 - bytes % 4) % 4, stream));
        return (unsigned char *)memory;
    }

    void take(void *to, const void *from, size_t bytes) {
        if (error != cudaSuccess || bytes == 0) return;
        did(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream));
        did(cudaStreamSynchronize(stream));
    }
};

} // namespace
