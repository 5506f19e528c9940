/* The same for positions in another array: those of a chunk grow by what the chunks before it have appended there. One that its type
   can't hold becomes the largest. */
static void spc_join_positions_NAME(spc_vector *whole, spc_vector *parts, const spc_vector *children, size_t chunks) {
    size_t before = 0;
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        TYPE *positions = parts[chunk].data;
        for (size_t n = 0; n < parts[chunk].length; n++) {
            const size_t position = before + positions[n];
            positions[n] = position > (TYPE)-1 ? (TYPE)-1 : (TYPE)position;
        }
        before += children[chunk].length;
    }
    spc_join(whole, parts, chunks, sizeof(TYPE));
}
