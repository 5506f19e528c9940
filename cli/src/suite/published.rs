//! Observations tried on the papers' own figures, where these are tables: they come out as the papers say.

use super::description::Description;
use super::figures::{Figures, Row, TensorLine};
use std::collections::BTreeMap;

/// Yang, Li and Li 2019, tables 4 to 6: units of HOCOO, HOCSR, CFB and HOCFS by modes 1, 2 and 3, for each of nine tensors.
const UNITS: [[[usize; 4]; 9]; 3] = [
    [
        [3_422_392, 5_619_176, 2_042_570, 2_062_788],
        [191_828, 2_115_037, 146_086, 157_902],
        [1_750_372, 4_200_029, 1_076_154, 1_214_600],
        [745_916, 1_497_658, 400_534, 425_580],
        [4_000_836, 2_122_930, 2_179_272, 2_186_684],
        [4_194_300, 6_147_052, 2_445_284, 2_473_336],
        [39_999_992, 121_469_996, 39_032_888, 39_052_886],
        [79_999_592, 60_783_796, 65_284_032, 65_304_030],
        [119_998_116, 70_503_058, 79_004_970, 79_024_968],
    ],
    [
        [3_422_392, 6_003_236, 1_766_330, 1_766_450],
        [191_828, 2_313_468, 105_290, 105_352],
        [1_750_372, 4_224_271, 944_288, 944_350],
        [745_916, 498_958, 377_404, 377_524],
        [4_000_836, 2_187_658, 2_035_864, 2_035_926],
        [4_194_300, 4_315_727, 2_150_078, 2_150_140],
        [39_999_992, 1_022_079_996, 39_900_230, 39_920_228],
        [79_999_592, 240_415_796, 78_067_014, 78_071_012],
        [119_998_116, 160_207_058, 111_834_992, 111_836_990],
    ],
    [
        [3_422_392, 4_660_935_218, 3_422_392, 3_426_618],
        [191_828, 4_659_319_936, 151_338, 155_564],
        [1_750_372, 11_587_953_041, 1_084_784, 1_088_518],
        [745_916, 39_737_458, 515_086, 518_870],
        [4_000_836, 25_870_498, 4_000_836, 4_012_914],
        [4_194_300, 9_351_753_164, 4_194_300, 4_208_538],
        [39_999_992, 1_036_810_572, 39_900_588, 40_100_586],
        [79_999_592, 1_081_361_332, 79_602_178, 79_802_176],
        [119_998_116, 1_112_583_890, 119_109_640, 119_309_638],
    ],
];

/// Table 7: milliseconds of HOCOO, HOCSR, CFB, HOCFS_CSR and HOCFS_ELL on the CPU.
const ON_CPU: [[f64; 5]; 9] = [
    [8.69, 8.40, 9.13, 7.48, 7.93],
    [6.57, 2.80, 5.69, 1.12, 1.16],
    [10.78, 3.42, 6.37, 3.39, 3.29],
    [3.75, 1.88, 4.38, 1.32, 1.02],
    [4.58, 2.96, 6.16, 1.64, 1.99],
    [14.74, 8.48, 9.61, 8.51, 8.42],
    [97.19, 94.32, 97.56, 31.27, 30.75],
    [198.21, 187.63, 186.75, 67.09, 60.68],
    [304.16, 298.72, 294.57, 85.57, 82.28],
];

/// Table 8: the same on the GPU, and CFB and HOCFS in the pipeline.
const ON_GPU: [([f64; 5], [f64; 2]); 9] = [
    ([9.31, 7.69, 8.80, 3.07, 2.37], [8.13, 2.30]),
    ([4.82, 2.57, 3.67, 1.43, 1.42], [2.79, 1.36]),
    ([5.42, 2.78, 3.27, 2.44, 1.97], [2.67, 1.79]),
    ([2.42, 1.75, 2.47, 0.98, 0.89], [2.18, 0.88]),
    ([2.56, 2.58, 3.71, 1.88, 1.67], [3.36, 1.59]),
    ([7.74, 7.74, 8.03, 3.46, 2.86], [7.41, 2.53]),
    ([92.34, 87.05, 92.37, 25.15, 23.43], [86.18, 21.36]),
    ([176.93, 168.51, 165.87, 51.29, 49.81], [151.04, 44.23]),
    ([287.59, 280.95, 281.23, 74.49, 72.43], [254.56, 63.74]),
];

const FORMATS: [&str; 5] = ["hocoo", "hocsr", "cfb", "hocfs_csr", "hocfs_ell"];

/// Phipps and Kolda 2019, table 6 (b), in seconds, and (c), in iterations: each machine, MTTKRP-B, MTTKRP-C, the better of the two SPLATT, and
/// sorting, for the tensors that it has figures of all for.
type Machine = (&'static str, &'static [[f64; 4]]);

const MACHINES: [Machine; 4] = [
    (
        "Haswell",
        &[
            [16.6, 0.4, 0.5, 0.6],
            [8.3, 0.3, 0.2, 4.3],
            [45.7, 5.7, 1.1, 9.2],
            [284.0, 6.3, 3.8, 5.3],
            [42.8, 7.0, 1.3, 6.2],
            [57.4, 22.7, 23.4, 4.0],
        ],
    ),
    (
        "Xeon Phi",
        &[
            [41.2, 0.4, 1.0, 1.0],
            [9.2, 0.2, 1.2, 5.5],
            [108.0, 2.8, 2.6, 8.6],
            [1910.0, 16.1, 6.5, 1.3],
            [82.4, 3.2, 9.0, 7.6],
            [79.1, 12.9, 47.7, 4.9],
        ],
    ),
    (
        "K80",
        &[
            [72.4, 0.5, 0.0, 1.1],
            [5.6, 0.5, 0.0, 3.0],
            [218.0, 9.4, 0.0, 3.3],
            [2010.0, 7.4, 0.0, 3.3],
            [55.2, 11.6, 0.0, 2.6],
        ],
    ),
    (
        "P100",
        &[[0.4, 0.1, 0.0, 0.5], [0.2, 0.1, 0.0, 1.3], [2.0, 1.7, 0.0, 4.2], [4.1, 1.5, 0.0, 3.6], [1.6, 1.8, 0.0, 4.6]],
    ),
];

fn row(tensor: usize, label: &str, backend: &str, format: &str, milliseconds: f64) -> Row {
    Row {
        tensor: tensor.to_string(),
        label: label.to_owned(),
        kernel: label.to_owned(),
        backend: backend.to_owned(),
        format: format.to_owned(),
        threads: 32,
        kernel_ms: milliseconds,
        ..Row::default()
    }
}

/// Each observation that the figures decide, by what it says.
fn decided(suite: &str, figures: &Figures) -> BTreeMap<String, bool> {
    let (description, _) = Description::load(suite).expect("it is known");
    let verdict = |observation: &super::observe::Observation| {
        Some((observation.says.clone(), observation.verdict(figures).holds?))
    };
    description.observations.iter().filter_map(verdict).collect()
}

#[test]
fn observations_of_yang_2019_hold_on_its_tables() {
    let mut figures = Figures::default();
    for units in UNITS.iter().flatten() {
        let sizes = [FORMATS[0], FORMATS[1], FORMATS[2], FORMATS[3]].into_iter().zip(units);
        let storage = sizes.map(|(format, &units)| (format.to_owned(), (0, units))).collect();
        figures.tensors.push(TensorLine { storage, ..TensorLine::default() });
    }
    let experiment = Some("Figure 17: the pipeline".to_owned());
    for (tensor, (cpu, (gpu, pipeline))) in ON_CPU.iter().zip(&ON_GPU).enumerate() {
        for (format, (on_cpu, on_gpu)) in FORMATS.iter().zip(cpu.iter().zip(gpu)) {
            figures.rows.push(row(tensor, "SpTV", "native", format, *on_cpu));
            figures.rows.push(row(tensor, "SpTV", "cuda", format, *on_gpu));
        }
        // The paper's slices in the pipeline are of ELL.
        for (format, whole, parts) in [("cfb", gpu[2], pipeline[0]), ("hocfs_csr", gpu[4], pipeline[1])] {
            for (setting, milliseconds) in [("1 part", whole), ("4 parts", parts)] {
                let (experiment, setting) = (experiment.clone(), Some(setting.to_owned()));
                figures.experiments.push(Row {
                    experiment,
                    setting,
                    ..row(tensor, "SpTV", "cuda", format, milliseconds)
                });
            }
        }
    }
    let decided = decided("yang2019", &figures);
    assert_eq!(decided.len(), 14, "{decided:?}");
    assert!(decided.values().all(|&holds| holds), "{decided:?}");
}

#[test]
fn observations_of_phipps_2019_hold_on_its_tables() {
    for (machine, tensors) in MACHINES {
        let is_gpu = machine == "K80" || machine == "P100";
        let backend = if is_gpu { "cuda" } else { "native" };
        let mut figures = Figures::default();
        for (tensor, &[stored, permuted, splatt, sorting]) in tensors.iter().enumerate() {
            let experiment = Some("Table 6: CP-ALS of real tensors, rank 16".to_owned());
            for (setting, seconds) in [("as stored", stored), ("permutations", permuted)] {
                let (experiment, setting) = (experiment.clone(), Some(setting.to_owned()));
                let also = BTreeMap::from([("sorting_iterations".to_owned(), sorting)]);
                let own = row(tensor, "CP-ALS", backend, "coo", seconds * 100.0);
                figures.experiments.push(Row { experiment, setting, also, ..own });
            }
            figures.rows.push(row(tensor, "MTTKRP-B", backend, "coo", stored));
            figures.rows.push(row(tensor, "MTTKRP-C", backend, "coo", permuted));
            if splatt > 0.0 {
                figures.rows.push(row(tensor, "MTTKRP-B", backend, "csf", splatt));
            }
        }
        let decided = decided("phipps2019", &figures);
        assert_eq!(decided.len(), if is_gpu { 3 } else { 4 }, "{machine}: {decided:?}");
        assert!(decided.values().all(|&holds| holds), "{machine}: {decided:?}");
    }
}
