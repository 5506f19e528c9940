//! Parallel loops over chunks of equal work.
