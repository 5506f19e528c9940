use super::*;

/// Four threads, whatever the machine has: the chunks are those of four.
fn on_four_threads(body: impl FnOnce() + Send) {
    with_threads(4, body).unwrap();
}

fn ranges(chunks: &Chunks) -> Vec<(usize, usize)> {
    (0..chunks.count()).map(|chunk| chunks.range(chunk)).collect()
}

fn assert_covers(chunks: &Chunks, begin: usize, end: usize) {
    let mut place = begin;
    for (low, high) in ranges(chunks) {
        assert_eq!(low, place);
        assert!(low < high, "empty chunk at {low}");
        place = high;
    }
    assert_eq!(place, end);
}

#[test]
fn an_empty_range_has_no_chunks() {
    on_four_threads(|| {
        for chunks in
            [Chunks::even(7, 7), Chunks::even(9, 7), Chunks::weighted(7, 7, &|_| 0), Chunks::even_per_thread(0, 0)]
        {
            assert_eq!(chunks.clone().aligned(&|_| true).count(), 0);
            chunks.run(&|_| panic!("there is nothing to run"));
            let mut joined = vec![1u32];
            chunks.joined(&mut joined).join(&mut joined);
            assert_eq!(joined, [1]);
            let mut array = [1.0];
            drop(chunks.owned(&mut array, &|place| place));
            chunks.private(&mut array, 0.0).combine(&|_, _| panic!("there are no copies"));
            assert_eq!(chunks.partial(0).into_values().count(), 0);
        }
    });
}

#[test]
fn little_work_is_one_chunk() {
    on_four_threads(|| {
        assert_eq!(ranges(&Chunks::even(3, 1000)), [(3, 1000)]);
        assert_eq!(ranges(&Chunks::weighted(3, 10, &|place| 100 * place)), [(3, 10)]);
    });
}

#[test]
fn much_work_is_eight_chunks_a_thread_or_one() {
    on_four_threads(|| {
        let chunks = Chunks::even(5, 1_000_005);
        assert_covers(&chunks, 5, 1_000_005);
        assert_eq!(chunks.count(), 32);
        assert!(ranges(&chunks).iter().all(|(low, high)| high - low == 31_250));
        assert_eq!(Chunks::even_per_thread(0, 1_000_000).count(), 4);
        assert_eq!(Chunks::weighted_per_thread(0, 100, &|place| 100_000 * place).count(), 4);
    });
    with_threads(1, || assert_eq!(Chunks::even(0, 1_000_000).count(), 1)).unwrap();
}

#[test]
fn some_work_is_as_many_chunks_for_each_thread() {
    on_four_threads(|| {
        let counts = [10_000, 20_000, 100_000, 140_000, 400_000].map(|work| Chunks::even(0, work).count());
        assert_eq!(counts, [2, 4, 4, 8, 24]);
    });
}

#[test]
fn chunks_that_append_are_more() {
    on_four_threads(|| {
        assert_eq!(Chunks::even_appending(0, 1_000_000).count(), 128);
        // Unless that leaves each of them little of what it may append at most.
        assert_eq!(Chunks::even_appending_bounded(0, 1_000_000).count(), 32);
        assert_eq!(Chunks::weighted_appending_bounded(0, 50, &|place| 100_000 * place).count(), 50);
        assert_eq!(Chunks::by_work_appending_bounded(0, 1 << 24, &|place| place).count(), 128);
    });
    with_threads(1, || assert_eq!(Chunks::even_appending_bounded(0, 1_000_000).count(), 15)).unwrap();
}

#[test]
fn skewed_work_is_cut_in_equal_shares() {
    on_four_threads(|| {
        let before = |place: usize| place * place / 10;
        let chunks = Chunks::weighted(0, 10_000, &before);
        assert_covers(&chunks, 0, 10_000);
        assert_eq!(chunks.count(), 32);
        let share = (before(10_000) + 10_000) / 32;
        for (low, high) in ranges(&chunks) {
            let work = before(high) - before(low) + high - low;
            assert!(work.abs_diff(share) < 4_900, "{low}..{high} has {work}, not {share}");
        }
    });
}

#[test]
fn a_huge_place_is_a_chunk_by_itself() {
    on_four_threads(|| {
        let chunks = Chunks::weighted(0, 1001, &|place| if place > 500 { 10_000_000 + place } else { place });
        assert_covers(&chunks, 0, 1001);
        assert_eq!(ranges(&chunks), [(0, 501), (501, 1001)]);
    });
}

#[test]
fn empty_places_are_work_too() {
    on_four_threads(|| assert_eq!(Chunks::weighted(0, 1_000_000, &|_| 0).count(), 32));
}

#[test]
fn empty_places_that_nothing_comes_by_are_no_work() {
    on_four_threads(|| {
        // A million entries, all in the last thousand of a million places.
        let chunks = Chunks::by_work(0, 1_000_000, &|place| 1000 * place.saturating_sub(999_000));
        assert_covers(&chunks, 0, 1_000_000);
        assert!(chunks.count() > 16 && chunks.range(0).1 > 999_000);
    });
}

#[test]
fn work_near_the_largest_integer_does_not_overflow() {
    on_four_threads(|| assert_covers(&Chunks::weighted(0, 3, &|place| place * (usize::MAX / 3)), 0, 3));
}

#[test]
fn a_run_of_equal_elements_lies_in_one_chunk() {
    on_four_threads(|| {
        let rows: Vec<u32> = (0..2_000_000u32).map(|place| place / 9999).collect();
        let same = |place: usize| rows[place] == rows[place - 1];
        let chunks = Chunks::even(0, rows.len()).aligned(&same);
        assert_covers(&chunks, 0, rows.len());
        assert!(chunks.count() > 20);
        assert!(ranges(&chunks)[1..].iter().all(|&(low, _)| !same(low)));
        assert_eq!(Chunks::even(0, 200_000).aligned(&|_| true).count(), 1);
        let two = Chunks::even(0, 200_000).aligned(&|place| place != 150_001);
        assert_eq!(ranges(&two), [(0, 150_001), (150_001, 200_000)]);
    });
}

#[test]
fn a_part_is_indexed_as_the_whole() {
    on_four_threads(|| {
        let mut array = vec![0usize; 2 * 100_000 + 7];
        let chunks = Chunks::even(1, 100_001);
        let owned = chunks.owned(&mut array, &|place| 2 * place);
        chunks.run(&|chunk| {
            let (low, high) = chunks.range(chunk);
            let mut part = owned.take(chunk);
            for place in low..high {
                part[2 * place] = place;
                part[2 * place + 1..2 * place + 2].fill(2 * place);
            }
        });
        drop(owned);
        assert_eq!(array[..2], [0, 0]);
        assert!((1..100_001).all(|place| array[2 * place] == place && array[2 * place + 1] == 2 * place));
    });
}

#[test]
#[should_panic(expected = "index out of bounds")]
fn an_index_before_the_part_is_refused() {
    with_threads(4, || {
        let mut array = vec![0; 100_000];
        let chunks = Chunks::even(0, 100_000);
        chunks.owned(&mut array, &|place| place).take(1)[0] = 1;
    })
    .unwrap();
}

#[test]
#[should_panic(expected = "chunk 1 owns")]
fn owned_parts_ascend() {
    with_threads(4, || {
        let mut array = vec![0; 100_000];
        drop(Chunks::even(0, 100_000).owned(&mut array, &|place| 100_000 - place));
    })
    .unwrap();
}

/// Sums of runs of places in segments of two elements, by four threads; to what is there, or anew.
fn sums_in_segments(segment_of: &(dyn Fn(usize) -> usize + Sync), places: usize, anew: bool) -> Vec<u64> {
    let mut sums = vec![1; 2 * (segment_of(places - 1) + 2)];
    with_threads(4, || {
        let chunks = Chunks::even(0, places);
        assert!(chunks.count() > 20);
        let start = |place| 2 * segment_of(place);
        let segments = match anew {
            true => chunks.segmented_anew(&mut sums, &start, 2, 0),
            false => chunks.segmented(&mut sums, &start, 2, 0),
        };
        chunks.run(&|chunk| {
            let (low, high) = chunks.range(chunk);
            let mut sums = segments.take(chunk);
            for place in low..high {
                sums[2 * segment_of(place)] += 1;
                sums[2 * segment_of(place) + 1..2 * segment_of(place) + 2][0] += place as u64;
            }
        });
        segments.combine(&|into, from| into.iter_mut().zip(from).for_each(|(to, from)| *to += from));
    })
    .unwrap();
    sums
}

#[test]
fn segments_that_chunks_share_are_combined() {
    let places = 500_000;
    for length in [1, 7, 3_000, 4_001, 60_000, 200_000] {
        let segment_of = |place: usize| place / length;
        let mut expected = vec![1; 2 * (segment_of(places - 1) + 2)];
        for place in 0..places {
            expected[2 * segment_of(place)] += 1;
            expected[2 * segment_of(place) + 1] += place as u64;
        }
        assert_eq!(sums_in_segments(&segment_of, places, false), expected, "segments of {length} places");
        expected.iter_mut().for_each(|sum| *sum -= 1);
        assert_eq!(sums_in_segments(&segment_of, places, true), expected, "segments of {length} places, anew");
    }
    // Segments without places lie between those that have some.
    let sums = sums_in_segments(&|place| place / 5_000 * 100, places, false);
    assert!(
        (0..sums.len() / 2).all(|segment| (sums[2 * segment] == 5_001) == (segment % 100 == 0 && segment < 10_000))
    );
}

#[test]
fn segments_that_begin_anew_are_filled_where_no_chunk_is() {
    let mut array = [7; 5];
    drop(Chunks::even(3, 3).segmented_anew(&mut array, &|place| place, 1, 2));
    assert_eq!(array, [2; 5]);
}

#[test]
#[should_panic(expected = "index out of bounds")]
fn an_index_behind_the_next_segment_is_refused() {
    with_threads(4, || {
        let mut array = vec![0; 100_000];
        let chunks = Chunks::even(0, 100_000);
        let end = chunks.range(0).1;
        chunks.segmented(&mut array, &|place| place, 3, 0).take(0)[end + 3] = 1;
    })
    .unwrap();
}

#[test]
fn a_place_with_more_than_its_share_makes_chunks_uneven() {
    on_four_threads(|| {
        assert!(Chunks::weighted(0, 100_000, &|place| 20 * place).are_even());
        assert!(Chunks::weighted_per_thread(0, 100_000, &|place| 20 * place).are_even());
        let with_row = |share: usize| move |place: usize| 20 * place + if place > 50 { 20_000 * share } else { 0 };
        assert!(Chunks::weighted(0, 100_000, &with_row(3)).are_even());
        assert!(!Chunks::weighted(0, 100_000, &with_row(30)).are_even());
        assert!(!Chunks::weighted_per_thread(0, 100_000, &with_row(100)).are_even());
        assert!(!Chunks::weighted(0, 5, &|place| 100_000 * place).are_even(), "there are too few places");
        assert!(Chunks::weighted(0, 5, &|place| 100 * place).are_even(), "there is too little work");
    });
    with_threads(1, || assert!(Chunks::weighted(0, 5, &|place| 100_000 * place).are_even())).unwrap();
}

#[test]
fn private_copies_are_added_in_order() {
    on_four_threads(|| {
        let chunks = Chunks::even_per_thread(0, 100_000);
        let mut array = vec![5; 10_000];
        let copies = chunks.private(&mut array, 0u64);
        chunks.run(&|chunk| {
            let (low, high) = chunks.range(chunk);
            copies.with(chunk, |copy| (low..high).for_each(|place| copy[place % 10_000] += 1));
        });
        copies.combine(&|into, from| into.iter_mut().zip(from).for_each(|(to, from)| *to += from));
        assert!(array.iter().all(|&sum| sum == 15));
    });
}

#[test]
fn copies_hold_the_identity_whatever_was_in_their_memory() {
    on_four_threads(|| {
        let chunks = Chunks::even_per_thread(0, 100_000);
        for identity in [0.0, f64::INFINITY, -1.0] {
            let mut array = vec![7.0; 5_000];
            let copies = chunks.private(&mut array, identity);
            chunks.run(&|chunk| {
                copies.with(chunk, |copy| {
                    let begins_as = if chunk == 0 { 7.0 } else { identity };
                    assert!(copy.len() == 5_000 && copy.iter().all(|&element| element == begins_as));
                    assert_eq!(copy.as_ptr().addr() % 64, if chunk == 0 { copy.as_ptr().addr() % 64 } else { 0 });
                    copy.fill(f64::from(chunk as u32));
                });
            });
            copies.combine(&|into, from| into.iter_mut().zip(from).for_each(|(to, from)| *to += from));
            assert!(array.iter().all(|&sum| sum == 6.0));
        }
        // Bytes in memory that numbers were in.
        let mut flags = vec![false; 40_000];
        let copies = chunks.private(&mut flags, false);
        chunks.run(&|chunk| {
            copies.with(chunk, |copy| copy.iter_mut().for_each(|flag| assert!(!std::mem::replace(flag, true))))
        });
        copies.combine(&|into, from| into.iter_mut().zip(from).for_each(|(to, from)| *to &= from));
        assert!(flags.iter().all(|&flag| flag));
    });
}

#[test]
fn joined_arrays_are_in_order_and_positions_grow() {
    on_four_threads(|| {
        // Row r has r % 3 children, whose coordinates are r, r + 1, …
        let rows = 100_000;
        let chunks = Chunks::even_appending(0, rows);
        let mut crd = Vec::new();
        let (positions, coordinates) = (chunks.joined_positions::<u32>(), chunks.joined::<u64>(&mut crd));
        chunks.run(&|chunk| {
            let (low, high) = chunks.range(chunk);
            let mut positions = positions.take(chunk);
            let mut coordinates = coordinates.take(chunk);
            for row in low..high {
                (0..row % 3).for_each(|child| coordinates.push((row + child) as u64));
                positions.push(coordinates.len() as u32);
            }
        });
        let mut pos = vec![0];
        positions.join(&mut pos, &coordinates.lengths());
        coordinates.join(&mut crd);
        assert_eq!(pos.len(), rows + 1);
        for row in 0..rows {
            let children = &crd[pos[row] as usize..pos[row + 1] as usize];
            assert!(children.iter().copied().eq((row..row + row % 3).map(|child| child as u64)));
        }
    });
}

#[test]
fn a_chunk_may_append_more_than_it_has_work() {
    let chunks = Chunks::even(0, 3);
    let mut whole = vec![7];
    let parts = chunks.joined(&mut whole);
    chunks.run(&|chunk| {
        let (low, high) = chunks.range(chunk);
        let mut part = parts.take(chunk);
        for place in 0..100 * (high - low) {
            part.push(100 * low + place);
        }
    });
    parts.join(&mut whole);
    assert_eq!(whole, [7].into_iter().chain(0..300).collect::<Vec<_>>());
}

#[test]
fn joining_uses_the_memory_that_is_there() {
    on_four_threads(|| {
        let chunks = Chunks::even_appending(0, 100_000);
        let mut whole = Vec::with_capacity(100_001);
        whole.push(7);
        let address = whole.as_ptr();
        let joined = chunks.joined::<usize>(&mut whole);
        chunks.run(&|chunk| {
            let (low, high) = chunks.range(chunk);
            joined.take(chunk).extend(low..high);
        });
        joined.join(&mut whole);
        assert_eq!(whole.as_ptr(), address);
        assert!(whole[0] == 7 && whole[1..].iter().copied().eq(0..100_000));
    });
}

/// Parts of lengths that differ, by threads of the standard library: so Miri can follow what they do with the memory they share.
#[test]
fn threads_alone_join_what_they_append_in_order() {
    for threads in [1, 3] {
        let work = [3, 1, 4, 0, 1, 5, 9, 2, 6];
        let appended = |chunk: usize| (0..2 * work[chunk]).map(move |place| (chunk, place));
        let mut whole = vec![(usize::MAX, 0)];
        let joined = Joined::new(&mut whole, &work);
        let next = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let chunk = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        if chunk >= work.len() {
                            break;
                        }
                        joined.take(chunk).extend(appended(chunk));
                    }
                });
            }
        });
        assert_eq!(joined.lengths(), work.map(|work| 2 * work));
        joined.join(&mut whole);
        let expected = std::iter::once((usize::MAX, 0)).chain((0..work.len()).flat_map(appended));
        assert_eq!(whole, expected.collect::<Vec<_>>());
    }
}

#[test]
fn joined_arrays_wait_for_chunks_that_take_long() {
    on_four_threads(|| {
        // What a chunk appends has nothing to do with its work, so that the memory has to grow.
        let chunks = Chunks::even_appending(0, 600_000);
        let length = |chunk: usize| if chunk < 3 { 1 } else { 500 * (chunk * chunk % 17) };
        let mut whole = Vec::new();
        let joined = chunks.joined::<(usize, usize)>(&mut whole);
        chunks.run(&|chunk| {
            let mut part = joined.take(chunk);
            part.extend((0..length(chunk)).map(|place| (chunk, place)));
            if chunk % 5 == 1 {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        });
        let lengths: Vec<usize> = (0..chunks.count()).map(length).collect();
        assert_eq!(joined.lengths(), lengths);
        joined.join(&mut whole);
        let expected = (0..chunks.count()).flat_map(|chunk| (0..length(chunk)).map(move |place| (chunk, place)));
        assert!(chunks.count() > 100 && whole.iter().copied().eq(expected));
        assert_eq!(whole.capacity(), whole.len());
    });
}

#[test]
fn a_position_too_large_for_its_type_is_its_largest() {
    assert_eq!(200u8.grow(55), 255);
    assert_eq!(200u8.grow(56), 255);
    assert_eq!(1u16.grow(u16::at_most(1 << 20)), u16::MAX);
    assert_eq!(7u32.grow(1 << 20), (1 << 20) + 7);
}

#[test]
fn partial_values_come_back_in_order() {
    on_four_threads(|| {
        let chunks = Chunks::even(0, 100_000);
        let partial = chunks.partial(0);
        chunks.run(&|chunk| partial.set(chunk, chunks.range(chunk).0));
        let lows: Vec<usize> = partial.into_values().collect();
        assert_eq!(lows, ranges(&chunks).iter().map(|range| range.0).collect::<Vec<_>>());
    });
}

/// What a kernel does with a table: terms that come in any order are summed by key.
fn sums_by_table(table: &mut Table, terms: &[(u32, u64)]) -> Vec<(u32, u64)> {
    let (mut keys, mut places, mut sums) = (Vec::new(), Vec::new(), Vec::new());
    for &(key, term) in terms {
        let place = table.insert(&mut keys, key);
        match sums.get_mut(place) {
            Some(sum) => *sum += term,
            None => sums.push(term),
        }
    }
    table.sort(&mut keys, &mut places);
    let mut met: Vec<(u32, u64)> = Vec::new();
    for (&key, &place) in keys.iter().zip(&places) {
        match met.last_mut() {
            Some((last, sum)) if *last == key => *sum += sums[place as usize],
            _ => met.push((key, sums[place as usize])),
        }
    }
    table.reset(&mut keys);
    assert!(keys.is_empty());
    met
}

#[test]
fn coordinates_of_a_far_shorter_run_are_sought() {
    let long: Vec<u32> = (0..40_000).filter(|key| key % 3 != 1).collect();
    let short: Vec<u32> = (0..60).map(|key| key * 661).collect();
    let place = |key: &u32| long.binary_search(key).ok();
    let expected: Vec<(usize, usize)> = (0..).zip(&short).filter_map(|(at, key)| Some((at, place(key)?))).collect();
    assert!(expected.len() > 30 && expected.len() < 60);
    assert_eq!(intersection(&short, 0..short.len(), &long, 0..long.len()).collect::<Vec<_>>(), expected);
    let turned = intersection(&long, 0..long.len(), &short, 0..short.len()).map(|(one, other)| (other, one));
    assert_eq!(turned.collect::<Vec<_>>(), expected);
}

proptest::proptest! {
    #[test]
    fn bitmaps_give_what_was_marked_in_order_and_once(
        extent in 1usize..20_000,
        rows in proptest::collection::vec(proptest::collection::vec(proptest::num::usize::ANY, 0..300), 1..4),
    ) {
        let mut bitmap = Bitmap::new(extent);
        for row in rows {
            let keys: std::collections::BTreeSet<usize> = row.iter().map(|key| key % extent).collect();
            row.iter().for_each(|key| bitmap.mark(key % extent));
            proptest::prop_assert_eq!(bitmap.drain().collect::<Vec<_>>(), keys.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn bitmaps_give_a_few_keys_in_order_and_once(
        extent in 1usize..200,
        rows in proptest::collection::vec(proptest::collection::vec(proptest::num::usize::ANY, 0..70), 1..9),
    ) {
        let mut bitmap = Bitmap::new(extent);
        for row in rows {
            let keys: std::collections::BTreeSet<usize> = row.iter().map(|key| key % extent).collect();
            row.iter().for_each(|key| bitmap.mark(key % extent));
            proptest::prop_assert_eq!(bitmap.drain().collect::<Vec<_>>(), keys.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn intersections_are_those_of_sets(
        extent in 1_u64..2000,
        kept in (0_u32..12, 0_u32..12),
        seed in 0_u64..u64::MAX,
        cut in (0_usize..20, 0_usize..20),
    ) {
        let set = |kept: u64, salt: u64| -> Vec<u32> {
            let is_in = |key: &u64| (key + 1).wrapping_mul(seed ^ salt).rotate_left(29) % extent < kept;
            (0..extent).filter(is_in).map(|key| key as u32).collect()
        };
        // From one coordinate to all of them.
        let kept = (1 << kept.0, 1 << kept.1);
        let (one, other) = (set(kept.0, 0x9e37_79b9_7f4a_7c15), set(kept.1, 0xd1b5_4a32_d192_ed03));
        let ranges = (cut.0.min(one.len())..one.len(), cut.1..other.len());
        let place_of = |key: &u32| (cut.1..other.len()).find(|&place| other[place] == *key);
        let pairs = ranges.0.clone().filter_map(|place| Some((place, place_of(&one[place])?)));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        let found: Vec<_> = intersection(&one, ranges.0.clone(), &other, ranges.1.clone()).collect();
        proptest::prop_assert_eq!(&found, &pairs);
        // The same as children of the second of three parents, in a directory and where it has no slots.
        let bounds = [cut.1.min(other.len()), other.len(), other.len()].map(|bound| bound as u32);
        for sought in [0, usize::MAX] {
            let directory = Directory::new(&[0, bounds[0], bounds[1], bounds[2]], &other, extent as usize, sought);
            let range = bounds[0] as usize..other.len();
            let found: Vec<_> = intersection_in((&directory, 1), &one, ranges.0.clone(), &other, range).collect();
            proptest::prop_assert_eq!(&found, &pairs);
        }
        let wide = |keys: &[u32]| -> Vec<u64> { keys.iter().map(|&key| u64::from(key) << 30 | 7).collect() };
        let found: Vec<_> = intersection(&wide(&one), ranges.0.clone(), &wide(&other), ranges.1.clone()).collect();
        proptest::prop_assert_eq!(&found, &pairs);
        let other: Vec<u64> = other.iter().map(|&key| u64::from(key)).collect();
        let found: Vec<_> = intersection(&one, ranges.0, &other, ranges.1).collect();
        proptest::prop_assert_eq!(&found, &pairs);
    }

    #[test]
    fn terms_of_equal_keys_meet_whatever_table_finds_them(
        range in 1u32..3000,
        hashed in proptest::bool::ANY,
        rows in proptest::collection::vec(proptest::collection::vec((0u32..u32::MAX, 1u64..100), 0..400), 1..4),
    ) {
        // Beyond the extents of keys that have slots of their own, and spread so that hashes differ.
        let (extent, step) = if hashed { (usize::MAX, 7_000_003) } else { (range as usize, 1) };
        let mut table = Table::new([extent]);
        for row in rows {
            let terms: Vec<(u32, u64)> =
                row.iter().map(|&(key, term)| ((key % range).wrapping_mul(step), term)).collect();
            let mut expected = std::collections::BTreeMap::new();
            terms.iter().for_each(|&(key, term)| *expected.entry(key).or_insert(0) += term);
            let expected: Vec<(u32, u64)> = expected.into_iter().collect();
            proptest::prop_assert_eq!(sums_by_table(&mut table, &terms), expected);
        }
    }
}

mod sums_of_products {
    use super::*;
    use crate::parallel::coordinate::Coordinate;
    use crate::parallel::dot::Number;

    /// Small integers: their sums are the same in any order.
    fn assert_sums<T, C>(number: fn(usize) -> T, coordinate: fn(usize) -> C)
    where
        T: Number + PartialEq + std::fmt::Debug + std::ops::AddAssign + std::ops::Mul<Output = T>,
        C: Coordinate,
    {
        let of: Vec<T> = (0..100).map(|place| number(place * 7 % 10)).collect();
        for length in 0..=40 {
            let values: Vec<T> = (0..length).map(number).collect();
            let coordinates: Vec<C> = (0..length).map(|place| coordinate(place * 37 % 100)).collect();
            let total = |term: &dyn Fn(usize) -> T| {
                let mut total = T::default();
                (0..length).for_each(|place| total += term(place));
                total
            };
            let gathered = |place: usize| of[coordinates[place].place()];
            assert_eq!(run(&values).sum(), total(&|place| values[place]));
            assert_eq!(at(&of, &coordinates).sum(), total(&gathered));
            assert_eq!(
                run(&values).times(at(&of, &coordinates)).sum(),
                total(&|place| values[place] * gathered(place))
            );
            assert_eq!(
                at(&of, &coordinates).times(run(&values)).times(run(&values)).sum(),
                total(&|place| gathered(place) * values[place] * values[place])
            );
        }
    }

    #[test]
    fn minima_and_maxima_pass_over_nan_and_are_the_identity_of_nothing() {
        let lengths = [0, 1, 2, 7, 8, 9, 65, 300, 0, 3];
        let mut positions = vec![0_u32];
        for length in lengths.into_iter().cycle().take(700) {
            positions.push(positions[positions.len() - 1] + length);
        }
        let count = positions[positions.len() - 1] as usize + 9;
        let value = |place: usize| match place * 7919 % 23 {
            0 | 5 => f64::NAN,
            1 => f64::INFINITY,
            2 => f64::NEG_INFINITY,
            other => other as f64 - 12.0,
        };
        let values: Vec<f64> = (0..count).map(value).collect();
        let of: Vec<f64> = (0..50).map(|place| value(place + 3)).collect();
        let coordinates: Vec<u32> = (0..count).map(|place| (place * 31 % 50) as u32).collect();
        let mut found = [vec![0.0; positions.len() - 1], vec![0.0; positions.len() - 1]];
        let terms = run(&values).plus(at(&of, &coordinates));
        terms.reduce_between(Minimum, &positions, &mut found[0]);
        terms.reduce_between(Maximum, &positions, &mut found[1]);
        for (number, bounds) in positions.windows(2).enumerate() {
            let places = || (bounds[0] as usize..bounds[1] as usize).map(|p| values[p] + of[coordinates[p] as usize]);
            assert_eq!(found[0][number], places().fold(f64::INFINITY, f64::min));
            assert_eq!(found[1][number], places().fold(f64::NEG_INFINITY, f64::max));
        }
    }

    /// What lanes make of whole numbers of all bits, of runs, of gathered elements and of both, is what one after the other gives.
    fn assert_integers<T: Number + PartialEq + std::fmt::Debug>(number: fn(u64) -> T) {
        fn check<T: Number + PartialEq + std::fmt::Debug, M: Monoid>(
            _: M,
            values: &[T],
            of: &[T],
            coordinates: &[u32],
        ) {
            let folded = |term: &dyn Fn(usize) -> T| {
                (0..values.len()).fold(T::identity(M::OP), |total, place| T::apply(M::OP, total, term(place)))
            };
            let gathered = |place: usize| of[coordinates[place] as usize];
            let together = |op: Op| folded(&|place| T::apply(op, values[place], gathered(place)));
            assert_eq!(run(values).reduce(M::default()), folded(&|place| values[place]));
            assert_eq!(at(of, coordinates).reduce(M::default()), folded(&gathered));
            let product = run(values).times(at(of, coordinates));
            assert_eq!(product.reduce(M::default()), together(Op::Multiply));
            assert_eq!(run(values).plus(at(of, coordinates)).reduce(M::default()), together(Op::Add));
            assert_eq!(run(values).minus(at(of, coordinates)).reduce(M::default()), together(Op::Subtract));
            let positions = [0, values.len() as u32 / 3, values.len() as u32 / 3, values.len() as u32];
            let mut found = [T::default(); 3];
            product.reduce_between(M::default(), &positions, &mut found);
            for (found, bounds) in found.into_iter().zip(positions.windows(2)) {
                let (values, coordinates) = ([values, &[]], [coordinates, &[]]);
                let places = bounds[0] as usize..bounds[1] as usize;
                let expected = run(&values[0][places.clone()]).times(at(of, &coordinates[0][places]));
                assert_eq!(found, expected.reduce(M::default()));
            }
        }
        let scrambled = |place: usize| number((place as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29));
        for table in [1, 2, 3, 4, 5, 100] {
            let of: Vec<T> = (0..table).map(|place| scrambled(place + 1000)).collect();
            for length in (0..20).chain([63, 64, 65, 300]) {
                let values: Vec<T> = (0..length).map(scrambled).collect();
                let coordinates: Vec<u32> = (0..length).map(|place| (place * 37 % table) as u32).collect();
                check(Sum, &values, &of, &coordinates);
                check(Product, &values, &of, &coordinates);
                check(Minimum, &values, &of, &coordinates);
                check(Maximum, &values, &of, &coordinates);
                check(All, &values, &of, &coordinates);
                check(Any, &values, &of, &coordinates);
            }
        }
    }

    #[test]
    fn integers_of_each_width_wrap_around_in_lanes() {
        assert_integers(|bits| bits as i8);
        assert_integers(|bits| bits as i16);
        assert_integers(|bits| bits as i32);
        assert_integers(|bits| bits as i64);
        assert_integers(|bits| bits as u8);
        assert_integers(|bits| bits as u16);
        assert_integers(|bits| bits as u32);
        assert_integers(|bits| bits);
    }

    /// Sums of runs of some lengths, one behind the other.
    fn assert_sums_between<T, P>(number: fn(usize) -> T, position: fn(usize) -> P)
    where
        T: Number + PartialEq + std::fmt::Debug + std::ops::AddAssign + std::ops::Mul<Output = T>,
        P: Coordinate,
    {
        let of: Vec<T> = (0..100).map(|place| number(place * 7 % 10)).collect();
        for lengths in [&[1][..], &[0], &[2, 1], &[0, 1, 3, 0, 1], &[7, 1, 0], &[8, 5, 9], &[16, 0, 31, 2], &[3, 0, 40]]
        {
            for count in 0..=40 {
                let mut bounds = vec![0];
                bounds.extend((0..count).scan(0, |end, run| {
                    *end += lengths[run % lengths.len()];
                    Some(*end)
                }));
                let places = bounds[count].min(250);
                bounds.iter_mut().for_each(|bound| *bound = places.min(*bound));
                let values: Vec<T> = (0..places).map(|place| number(place % 5)).collect();
                let coordinates: Vec<u32> = (0..places).map(|place| place as u32 * 37 % 100).collect();
                let expected = bounds.windows(2).map(|bound| {
                    let mut total = T::default();
                    (bound[0]..bound[1]).for_each(|place| total += values[place] * of[coordinates[place] as usize]);
                    total
                });
                let expected: Vec<T> = expected.collect();
                let positions: Vec<P> = bounds.iter().map(|&bound| position(bound)).collect();
                let mut sums = vec![number(9); count];
                run(&values).times(at(&of, &coordinates)).sums_between(&positions, &mut sums);
                assert_eq!(sums, expected, "{lengths:?}");
            }
        }
    }

    #[test]
    fn are_right_between_positions() {
        assert_sums_between(|place| place as f64, |place| place as u32);
        assert_sums_between(|place| place as f32, |place| place as u32);
        assert_sums_between(|place| place as f64, |place| place as u64);
        assert_sums_between(|place| place as f32, |place| place as u8);
    }

    /// Sums of many runs, one behind the other, some of which are infinite.
    fn assert_sums_of_many_between<T, P>(number: fn(usize) -> T, infinite: T, position: fn(usize) -> P)
    where
        T: Number + PartialEq + std::fmt::Debug + std::ops::AddAssign + std::ops::Mul<Output = T>,
        P: Coordinate,
    {
        let of: Vec<T> = (0..100).map(|place| number(place * 7 % 10 + 1)).collect();
        for lengths in [
            &[1, 2, 3][..],
            &[5],
            &[3, 1, 30, 2],
            &[9, 70, 1],
            &[1],
            &[2, 1],
            &[4, 0, 4],
            &[0, 0, 7, 3, 0],
            &[8, 64, 16, 1],
        ] {
            let count = 4001;
            let mut positions = vec![0];
            positions.extend((0..count).scan(0, |end, run| {
                *end += lengths[(run + run / 300) % lengths.len()];
                Some(*end)
            }));
            let places = 0..positions[count];
            let values: Vec<T> =
                places.map(|place| if place % 97 == 0 { infinite } else { number(place % 5) }).collect();
            let coordinates: Vec<u32> = (0..values.len()).map(|place| (place * 37 % 100) as u32).collect();
            let expected = positions.windows(2).map(|bound| {
                let mut total = T::default();
                (bound[0]..bound[1]).for_each(|place| total += values[place] * of[coordinates[place] as usize]);
                total
            });
            let expected: Vec<T> = expected.collect();
            let positions: Vec<P> = positions.iter().map(|&place| position(place)).collect();
            let mut sums = vec![number(9); count];
            run(&values).times(at(&of, &coordinates)).sums_between(&positions, &mut sums);
            assert_eq!(sums, expected, "{lengths:?}");
        }
    }

    #[test]
    fn are_right_between_many_positions() {
        assert_sums_of_many_between(|place| place as f64, f64::INFINITY, |place| place as u32);
        assert_sums_of_many_between(|place| place as f32, f32::INFINITY, |place| place as u64);
    }

    #[test]
    #[should_panic(expected = "each sum has its end")]
    fn refuse_fewer_positions_than_sums() {
        run(&[1.0, 2.0]).sums_between(&[0_u32, 1], &mut [0.0; 2]);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn refuse_positions_beyond_the_runs() {
        run(&[1.0; 9]).sums_between(&[0_u32, 1, 2, 3, 4, 5, 6, 7, 10], &mut [0.0; 8]);
    }

    #[test]
    fn are_right_for_runs_of_any_length() {
        assert_sums(|place| place as f64, |place| place as u32);
        assert_sums(|place| place as f32, |place| place as u32);
        assert_sums(|place| place as f64, |place| place as u8);
        assert_sums(|place| place as f32, |place| place as u16);
        assert_sums(|place| place as f64, |place| place as u64);
    }

    #[test]
    fn take_no_lane_without_an_entry() {
        let infinite = [f64::INFINITY; 3];
        assert_eq!(run(&[1.0, 2.0]).times(at(&infinite, &[0_u32, 2])).sum(), f64::INFINITY);
        assert_eq!(at(&infinite, &[] as &[u32]).sum(), 0.0);
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn refuse_a_coordinate_beyond_the_array() {
        at(&[1.0, 2.0], &[1_u64 << 40]).sum();
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn refuse_one_among_others() {
        at(&[1.0, 2.0], &[1_u32, 0, 1, 1, 0, 0, 1, 0, 1, 2, 0]).sum();
    }

    #[test]
    #[should_panic(expected = "of one length")]
    fn refuse_runs_of_two_lengths() {
        run(&[1.0, 2.0]).times(run(&[1.0])).sum();
    }
}

mod loops {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    fn assert_each_once(count: usize) {
        let times: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
        run_all(count, &|chunk| _ = times[chunk].fetch_add(1, Ordering::Relaxed));
        assert!(times.iter().all(|times| times.load(Ordering::Relaxed) == 1), "{count}");
    }

    #[test]
    fn run_each_chunk_once() {
        on_four_threads(|| (0..200).for_each(assert_each_once));
        (0..20).for_each(assert_each_once);
    }

    #[test]
    fn run_in_loops() {
        on_four_threads(|| run_all(20, &|_| run_all(20, &|_| assert_each_once(20))));
    }

    #[test]
    fn run_one_behind_the_other() {
        // Threads look out for the next loop meanwhile, and go into it by themselves.
        let many = || {
            for round in 0..500 {
                assert_each_once(2 + round % 40);
                if round % 50 == 0 {
                    run_all(4, &|_| assert_each_once(8));
                    let panics = || run_all(8, &|chunk| assert!(chunk != round / 50 % 8, "one of eight"));
                    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
                }
            }
        };
        on_four_threads(many);
        // On threads that are none of rayon's, alone and side by side.
        many();
        std::thread::scope(|scope| _ = [0; 3].map(|_| scope.spawn(many)));
    }

    /// How many of 1,000 chunks run where one of them, which waits for the answer to be looked at, has asked to stop.
    fn begun_until_stopped() -> usize {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let begun = AtomicUsize::new(0);
        let kernel = || {
            run_all(1000, &|_| {
                begun.fetch_add(1, Ordering::Relaxed);
                stop.store(true, Ordering::Relaxed);
                std::thread::sleep(std::time::Duration::from_millis(5));
            });
        };
        let run = || super::super::interrupt::watched(kernel);
        let stopped = catch_unwind(AssertUnwindSafe(|| {
            super::super::interrupt::interruptible(move || asked.load(Ordering::Relaxed), run);
        }));
        assert!(stopped.unwrap_err().is::<super::super::Interrupted>());
        begun.into_inner()
    }

    #[test]
    fn stop_between_chunks() {
        assert!(crate::parallel::with_threads(4, begun_until_stopped).unwrap() < 500);
        // On a thread that is none of rayon's.
        assert!(begun_until_stopped() < 500);
        assert!(crate::parallel::with_threads(1, begun_until_stopped).unwrap() < 500);
        // What is done around kernels is not stopped, nor is what comes afterwards.
        super::super::interrupt::interruptible(|| true, || assert_each_once(1000));
        on_four_threads(|| assert_each_once(1000));
    }

    #[test]
    #[should_panic(expected = "the thirteenth")]
    fn report_the_panic_of_a_chunk() {
        on_four_threads(|| run_all(20, &|chunk| assert!(chunk != 13, "the thirteenth")));
    }
}

#[test]
fn numbers_of_codes_are_those_of_each() {
    let extents = [5, 300, 7];
    let codes: Vec<u64> = (0..4096_u64).map(|code| code.wrapping_mul(0x9e37) % (1 << 15)).collect();
    for part in 0..3 {
        let bits = Bits::of(part, &extents);
        let largest = codes.iter().map(|&code| bits.gather(code as usize)).max().unwrap();
        for eight in codes.as_chunks::<8>().0 {
            let numbers = bits.numbers(eight, largest + 1);
            for (place, &code) in eight.iter().enumerate() {
                assert_eq!(numbers.at(place), bits.gather(code as usize));
            }
        }
    }
}

#[test]
fn no_number_is_beyond_the_bound() {
    // All bits of these together are 7, but none of the numbers is.
    let bits = Bits::at(0b111);
    assert_eq!(bits.numbers(&[1_u32, 2, 4], 5).at(2), 4);
    for (below, place) in [(0, 0), (1, 0), (2, 1), (4, 2)] {
        assert!(std::panic::catch_unwind(|| bits.numbers(&[1_u32, 2, 4], below).at(place)).is_err());
    }
}

/// Memory that another process or thread writes to while a kernel reads it. Results may be wrong, and a check may fail; but what has been
/// checked is what is used, so that nothing beyond an array is reached.
#[cfg(not(miri))]
mod memory_that_changes {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    const ENTRIES: usize = 2048;

    /// How many elements are gathered from.
    const LENGTH: usize = 100;

    /// Calls `body` many times with numbers which a thread makes others and puts right meanwhile.
    fn while_changed(numbers: &[u32], other: u32, body: &dyn Fn(&[u32])) {
        let shared: Vec<AtomicU32> = numbers.iter().map(|&number| AtomicU32::new(number)).collect();
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    for (shared, numbers) in shared.chunks(16).zip(numbers.chunks(16)) {
                        shared.iter().for_each(|shared| shared.store(other, Ordering::Relaxed));
                        shared
                            .iter()
                            .zip(numbers)
                            .for_each(|(shared, &number)| shared.store(number, Ordering::Relaxed));
                    }
                }
            });
            // SAFETY: an atomic number lies in memory as the number does. That it is not read as one is what is tested.
            let numbers = unsafe { std::slice::from_raw_parts(shared.as_ptr().cast(), shared.len()) };
            for _ in 0..200 {
                _ = catch_unwind(AssertUnwindSafe(|| body(numbers)));
            }
            is_done.store(true, Ordering::Relaxed);
        });
    }

    fn coordinates() -> Vec<u32> {
        (0..ENTRIES).map(|entry| (entry * 7 % LENGTH) as u32).collect()
    }

    /// Runs of eight.
    fn positions() -> Vec<u32> {
        (0..=ENTRIES / 8).map(|run| 8 * run as u32).collect()
    }

    fn are_sums_of<T: Stored>(element: T, other: u32) {
        let (run_of, of) = (vec![element; ENTRIES], vec![element; LENGTH]);
        let positions = positions();
        while_changed(&coordinates(), other, &|coordinates| {
            let mut sums = vec![T::Number::default(); positions.len() - 1];
            let products = || run(&run_of).times(at(&of, coordinates));
            products().sums_between(&positions, &mut sums);
            products().reduce_between(Maximum, &positions, &mut sums);
            std::hint::black_box((products().sum(), at_some(&of, coordinates).sum(), &sums));
        });
    }

    #[test]
    fn has_coordinates() {
        for other in [i32::MAX as u32, u32::MAX] {
            are_sums_of(1.0_f64, other);
            are_sums_of(1.0_f32, other);
            are_sums_of(1_u8, other);
            are_sums_of(1_i16, other);
            are_sums_of(1_u64, other);
            are_sums_of(f16::from(1.0), other);
        }
    }

    #[test]
    fn has_positions() {
        let (values, coordinates) = (vec![1.0; ENTRIES], coordinates());
        let of = vec![1.0; LENGTH];
        while_changed(&positions(), i32::MAX as u32, &|positions| {
            let mut sums = vec![0.0; positions.len() - 1];
            run(&values).times(at(&of, &coordinates)).sums_between(positions, &mut sums);
            std::hint::black_box(&sums);
        });
    }

    #[test]
    fn has_codes() {
        let bits = Bits::at(0xffff_ffff);
        while_changed(&coordinates(), i32::MAX as u32, &|codes| {
            for eight in codes.as_chunks::<8>().0 {
                let numbers = bits.numbers(eight, LENGTH);
                assert!((0..8).all(|place| std::hint::black_box(numbers.at(place)) < LENGTH));
            }
        });
    }
}

/// Keys that a multiplication with the golden ratio puts into one place of a table of any length. One after the other this took
/// minutes.
#[test]
fn keys_that_meet_in_one_place_are_spread() {
    let golden = 0x9e37_79b9_7f4a_7c15_u64;
    let inverse =
        (0..6).fold(golden, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(golden.wrapping_mul(inverse))));
    let all: Vec<u64> = (0..200_000u64).map(|low| low.wrapping_mul(inverse)).collect();
    let mut table = Table::new([usize::MAX]);
    let mut keys: Vec<u64> = Vec::new();
    for _ in 0..2 {
        let places: Vec<usize> = all.iter().map(|&key| table.insert(&mut keys, key)).collect();
        assert_eq!(places, (0..all.len()).collect::<Vec<_>>());
        assert!(all.iter().enumerate().all(|(place, &key)| table.insert(&mut keys, key) == place || place < 256));
        assert_eq!(keys.len(), all.len());
        table.reset(&mut keys);
    }
    // A table that was changed is as good as new.
    assert_eq!([5u64, 5, 1 << 40].map(|key| table.insert(&mut keys, key)), [0, 1, 2]);
}
