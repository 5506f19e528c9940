//! What the counting emulation counts: small kernels by hand, generated ones against what their loops say, and what is predicted
//! against what was published.

mod loops;
mod predictions;

use spc::cuda::model::{Counted, Description, Kind, PredictedLaunch, Predictions, Site};
use spc::execute::device::{Device, Grid, Memory};
use spc_tests::harness::Skip;
use std::process::Command;

const TOYS: &str = include_str!("toys.cu");

const NAMES: [&str; 9] = [
    "toy_stride",
    "toy_gather",
    "toy_atomic",
    "toy_count",
    "toy_shared",
    "toy_shared_wide",
    "toy_nest",
    "toy_group",
    "toy_divergent",
];

/// A model, where there is a C++ compiler.
fn model(gpu: &str) -> Result<Predictions, Skip> {
    Command::new("g++").arg("--version").output().map_err(|_| Skip::without_cpp())?;
    Ok(Predictions::on(Description::named(gpu).expect("it is described")))
}

/// The toys on a device.
struct Toys {
    device: Counted,
    predictions: Predictions,
}

impl Toys {
    fn new() -> Result<Self, Skip> {
        let predictions = model("h100")?;
        let device = Counted::of_text(TOYS, &NAMES.map(str::to_owned), &predictions).expect("the toys compile");
        Ok(Self { device, predictions })
    }

    fn array<T: bytemuck::NoUninit>(&self, name: &str, elements: &[T]) -> u64 {
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        let memory = self.device.allocate(bytes.len(), name).expect("there is room");
        self.device.write(memory, bytes).expect("it is ours");
        memory.0
    }

    fn zeros(&self, name: &str, count: usize) -> u64 {
        self.array(name, &vec![0.0_f64; count])
    }

    fn run(&self, function: &str, blocks: u32, threads: u32, arguments: &[u64]) -> PredictedLaunch {
        let grid = Grid { blocks: [blocks, 1], threads: [threads, 1], shared: 0 };
        self.device.launch(function, grid, arguments).expect("it runs");
        self.predictions.take().launches.remove(0)
    }
}

/// The only site of an array that does this.
fn only<'a>(launch: &'a PredictedLaunch, array: &'a str, kind: Kind) -> &'a Site {
    let mut found = launch.counts.sites_of(array, kind);
    let site = found.next().unwrap_or_else(|| panic!("no {kind:?} of {array} in {:#?}", launch.counts.sites));
    assert!(found.next().is_none(), "{array} has several sites");
    site
}

/// Shared memory has no name.
fn shared(launch: &PredictedLaunch, kind: Kind) -> &Site {
    launch.counts.sites.iter().find(|site| site.kind == kind).expect("it is there")
}

const N: usize = 4096;

fn strides_touch_as_many_sectors_as_by_hand() -> Result<(), Skip> {
    let toys = Toys::new()?;
    let (x, y) = (toys.zeros("x", 32 * N + 64), toys.zeros("y", N));
    for (stride, sectors, useful) in [(0, 1, 8), (1, 8, 256), (2, 16, 256), (4, 32, 256), (32, 32, 256)] {
        let launch = toys.run("toy_stride", 32, 128, &[N as u64, stride, x, y]);
        let (load, store) = (only(&launch, "x", Kind::Load), only(&launch, "y", Kind::Store));
        assert_eq!((load.runs, load.lanes), (128, N as u64), "stride {stride}");
        assert_eq!((load.sectors, load.useful), (128 * sectors, 128 * useful), "stride {stride}");
        assert_eq!((store.runs, store.sectors, store.useful), (128, 128 * 8, 8 * N as u64), "stride {stride}");
    }
    let launch = toys.run("toy_stride", 32, 128, &[N as u64, 1, x + 8, y]);
    assert_eq!(only(&launch, "x", Kind::Load).sectors, 128 * 9, "a stride of 1 that begins 8 bytes behind a sector");
    Ok(())
}

fn a_gather_touches_what_is_counted_on_the_host() -> Result<(), Skip> {
    let toys = Toys::new()?;
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as u32 % (32 * N as u32)
    };
    let places: Vec<u32> = (0..N).map(|_| random()).collect();
    let (c, x, y) = (toys.array("c", &places), toys.zeros("x", 32 * N), toys.zeros("y", N));
    let launch = toys.run("toy_gather", 32, 128, &[N as u64, c, x, y]);
    let distinct = |size: u32, warp: &[u32]| {
        let sectors: std::collections::BTreeSet<u32> = warp.iter().map(|place| place * size / 32).collect();
        sectors.len() as u64
    };
    let expected: u64 = places.chunks(32).map(|warp| distinct(8, warp)).sum();
    assert_eq!(only(&launch, "x", Kind::Load).sectors, expected);
    assert_eq!(only(&launch, "c", Kind::Load).sectors, 128 * 4);
    let touched = launch.touched.iter().find(|touched| touched.array == "x").expect("it is touched");
    assert_eq!(touched.sectors, distinct(8, &places));
    // A broadcast: all lanes at one place.
    let places = toys.array("c", &[7_u32; N]);
    let launch = toys.run("toy_gather", 32, 128, &[N as u64, places, x, y]);
    let load = only(&launch, "x", Kind::Load);
    assert_eq!((load.sectors, load.useful, load.distinct), (128, 128 * 8, 128));
    Ok(())
}

fn atomics_meet_in_as_many_lanes_as_by_hand() -> Result<(), Skip> {
    let toys = Toys::new()?;
    for (ways, addresses, sectors) in [(1, 32, 8), (2, 16, 4), (4, 8, 2), (32, 1, 1)] {
        let y = toys.zeros("y", N);
        let launch = toys.run("toy_atomic", 32, 128, &[N as u64, ways, y]);
        let site = only(&launch, "y", Kind::Atomic);
        assert_eq!((site.ways, site.distinct), (128 * ways, 128 * addresses), "{ways} lanes");
        assert_eq!((site.sectors, site.runs), (128 * sectors, 128), "{ways} lanes");
        let mut sum = vec![0.0_f64; N];
        toys.device.read(Memory(y), bytemuck::cast_slice_mut(&mut sum)).expect("it is ours");
        assert_eq!((sum[0], sum.iter().sum::<f64>()), (ways as f64, N as f64), "counting changes no result");
    }
    let y = toys.array("y", &[0_u32; N]);
    let launch = toys.run("toy_count", 32, 128, &[N as u64, 1, y]);
    let site = only(&launch, "y", Kind::Atomic);
    assert_eq!((site.sectors, site.size, site.ways), (128 * 4, 4, 128));
    Ok(())
}

fn banks_conflict_as_by_hand() -> Result<(), Skip> {
    let toys = Toys::new()?;
    let y = toys.zeros("y", 32);
    for (stride, turns) in [(0, 1), (1, 1), (2, 2), (4, 4), (8, 8), (16, 16), (32, 32), (33, 1)] {
        let launch = toys.run("toy_shared", 1, 32, &[stride, y]);
        assert_eq!(shared(&launch, Kind::SharedLoad).ways, turns, "stride {stride}");
        assert_eq!(launch.counts.totals.barriers, 1);
    }
    // Eight bytes go by half warps: two turns at least.
    for (stride, turns) in [(1, 2), (2, 4), (4, 8), (16, 32), (17, 2)] {
        let launch = toys.run("toy_shared_wide", 1, 32, &[stride, y]);
        assert_eq!(shared(&launch, Kind::SharedLoad).ways, turns, "stride {stride} of eight bytes");
    }
    Ok(())
}

fn lanes_that_part_come_together_again() -> Result<(), Skip> {
    let toys = Toys::new()?;
    let (a, y) = (toys.array("a", &[1_u32; 2048]), toys.zeros("y", 64));
    let launch = toys.run("toy_nest", 1, 32, &[8, a, y]);
    let site = only(&launch, "a", Kind::Load);
    assert_eq!((site.runs, site.lanes), (8 * 31, 8 * 496), "0 to 31 turns in each of 8 loops");

    let lengths = [8_u32, 16, 24, 80, 0, 40, 8, 8];
    let mut pos = vec![0_u32];
    lengths.iter().for_each(|length| pos.push(pos[pos.len() - 1] + length));
    let entries = pos[8];
    let (pos, x) = (toys.array("pos", &pos), toys.zeros("x", entries as usize));
    let launch = toys.run("toy_group", 1, 32, &[8, pos, x, y]);
    let site = only(&launch, "x", Kind::Load);
    assert_eq!(
        (site.runs, site.lanes),
        (10 + 5, u64::from(entries)),
        "groups of 8 lanes, the longest row of each turn"
    );
    assert_eq!(site.sectors, u64::from(entries) / 4);

    let (x, y) = (toys.zeros("x", 32), toys.zeros("y", 32));
    let launch = toys.run("toy_divergent", 1, 32, &[32, x, y]);
    let [x, y] = ["x", "y"].map(|array| only(&launch, array, Kind::Load));
    assert_eq!((x.runs, x.lanes, y.runs, y.lanes), (1, 16, 1, 16));
    let store = only(&launch, "y", Kind::Store);
    assert_eq!((store.runs, store.lanes), (1, 32), "they store together");
    Ok(())
}

fn stretches_of_blocks_stand_for_all() -> Result<(), Skip> {
    let whole = Toys::new()?;
    let few = {
        let predictions = model("v100")?.tracing(200_000);
        let device = Counted::of_text(TOYS, &NAMES.map(str::to_owned), &predictions).expect("the toys compile");
        Toys { device, predictions }
    };
    let n = 1 << 20;
    let run = |toys: &Toys| {
        let (x, y) = (toys.zeros("x", n), toys.zeros("y", n));
        toys.run("toy_stride", n as u32 / 128, 128, &[n as u64, 1, x, y])
    };
    let (all, part) = (run(&whole), run(&few));
    assert_eq!(all.counts.totals.traced, all.counts.totals.blocks);
    assert!(part.counts.totals.traced * 2 < part.counts.totals.blocks, "{:?}", part.counts.totals);
    assert_eq!(part.counts.totals.blocks, all.counts.totals.blocks);
    assert_eq!(part.compulsory(), all.compulsory(), "what is touched is counted of all blocks");
    let sectors = |launch: &PredictedLaunch| only(launch, "x", Kind::Load).sectors as f64 * launch.counts.scale();
    assert!((sectors(&part) / sectors(&all) - 1.0).abs() < 1e-9);
    Ok(())
}

fn an_access_beyond_arrays_is_told() -> Result<(), Skip> {
    let toys = Toys::new()?;
    let x = toys.zeros("x", N);
    let grid = Grid { blocks: [1, 1], threads: [32, 1], shared: 0 };
    // Memory that is there, but that nobody has allocated on the device.
    let outside = vec![0.0_f64; 64];
    let arguments = [32, 1, x, outside.as_ptr() as u64];
    let message = toys.device.launch("toy_stride", grid, &arguments).expect_err("it is no array");
    assert_eq!(message, "toy_stride: 32 accesses are to no array");
    drop(outside);
    Ok(())
}

use loops::{
    a_product_with_a_vector_touches_what_its_loops_say, every_entry_is_loaded_once,
    results_are_those_of_the_interpreter_and_counts_hold_together, rows_of_factors_are_whole_sectors,
    runs_of_empty_rows_are_one_search,
};
use predictions::{
    entries_win_where_few_rows_have_most, rows_win_where_they_are_even, streams_move_what_memory_does,
    strides_take_the_turns_that_were_measured, walks_through_empty_rows_are_seen,
};

spc_tests::tests! {
    strides_touch_as_many_sectors_as_by_hand,
    a_gather_touches_what_is_counted_on_the_host,
    atomics_meet_in_as_many_lanes_as_by_hand,
    banks_conflict_as_by_hand,
    lanes_that_part_come_together_again,
    stretches_of_blocks_stand_for_all,
    an_access_beyond_arrays_is_told,
    results_are_those_of_the_interpreter_and_counts_hold_together,
    a_product_with_a_vector_touches_what_its_loops_say,
    rows_of_factors_are_whole_sectors,
    every_entry_is_loaded_once,
    runs_of_empty_rows_are_one_search,
    rows_win_where_they_are_even,
    entries_win_where_few_rows_have_most,
    [whole] walks_through_empty_rows_are_seen,
    streams_move_what_memory_does,
    strides_take_the_turns_that_were_measured,
}
