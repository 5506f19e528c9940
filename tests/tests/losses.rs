//! CP-APR on real counts against pyttb: log likelihood, violations of the Karush-Kuhn-Tucker conditions, fit and weights after the same
//! iterations from the same start.
//!
//! The expected numbers are those of pyttb 1.8.6, `cp_apr(X, 4, init=M, stoptol=1e-4, maxiters=…)`, for factors as of [`start`]. The
//! data lies beside the project, in `../shared/data`; where it does not, the tests are ignored.

use spc::decompose::{
    AprOptions, CpMethod, CpOptions, Factor, Fitted, GcpOptions, KTensor, Loss, Optimizer, Start, cp,
};
use spc::tensor::AnyTensor;
use spc_tests::harness::{Skip, Suite};
use std::ops::ControlFlow;
use std::path::PathBuf;

struct Case {
    file: &'static str,
    log_likelihood: f64,
    kkt_violations: &'static [f64],
    inner_iterations: &'static [f64],
    fit: f64,
    weights: Option<[f64; 4]>,
}

const CASES: &[Case] = &[
    Case {
        file: "nations-subj-rel-obj.tns.gz",
        log_likelihood: -3859.8803231288484,
        kkt_violations: &[
            0.2462970017680819,
            0.27173250118503045,
            0.26725150651216345,
            0.5149914220631744,
            0.6551837463521855,
        ],
        inner_iterations: &[30.0; 5],
        fit: 0.27665940038638437,
        weights: None,
    },
    Case {
        file: "kinships-subj-rel-obj.tns.gz",
        log_likelihood: -36920.820182443334,
        kkt_violations: &[
            0.30209774969607983,
            0.3798303222848034,
            0.2866028930104124,
            0.28997253558374503,
            0.6200929708537699,
        ],
        inner_iterations: &[30.0; 5],
        fit: 0.05240288300871776,
        weights: None,
    },
    Case {
        file: "uber-spring14-day-hour-lat-lon.tns.gz",
        log_likelihood: -6047004.823442955,
        kkt_violations: &[0.5714650924106353, 3.245277751495564],
        inner_iterations: &[40.0; 2],
        fit: 0.0793251223448177,
        weights: Some([578060.6654109601, 575017.7680795206, 375336.0142854074, 352380.5522241122]),
    },
    Case {
        file: "emaileu-person-person-day.tns.gz",
        log_likelihood: -5816474.0624181805,
        kkt_violations: &[0.5320969507078692, 2.6121913737008],
        inner_iterations: &[30.0; 2],
        fit: 0.041786278378307395,
        weights: Some([439073.93828405236, 422293.92856568145, 325935.35758575797, 296358.7755645078]),
    },
];

/// A file of the shared data, where it is.
fn read(file: &str) -> Result<AnyTensor, Skip> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data"));
    if !folder.is_dir() {
        return Err(Skip(format!("{} is not there", folder.display())));
    }
    Ok(spc::io::read(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}")))
}

/// Factors of `((7i + 5r + 3n) % 11 + 1) / 12` for row i, column r and mode n, all from 0.
fn start(shape: &[usize], rank: usize) -> Start {
    let factor = |(mode, &extent): (usize, &usize)| {
        let element = |at: &[usize]| ((at[0] * 7 + at[1] * 5 + mode * 3) % 11 + 1) as f64 / 12.0;
        Factor::from_fn([extent, rank], element).expect("there is memory")
    };
    let factors = shape.iter().enumerate().map(factor).collect();
    Start::Model(KTensor::new(vec![1.0; rank], factors).expect("factors have four columns"))
}

fn run(x: &AnyTensor, method: &CpMethod, options: &CpOptions) -> Fitted<KTensor> {
    cp(x, method, options, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

fn measures(fitted: &Fitted<KTensor>, name: &str) -> Vec<f64> {
    let measure = |measures: &[(&'static str, f64)]| {
        measures.iter().find(|(known, _)| *known == name).map_or(f64::NAN, |(_, value)| *value)
    };
    fitted.iterations.iter().map(|iteration| measure(&iteration.measures)).collect()
}

impl Case {
    fn agrees_with_pyttb(&self) -> Result<(), Skip> {
        let x = read(self.file)?;
        let iterations = self.kkt_violations.len();
        let options = CpOptions { iterations, start: start(x.shape(), 4), ..CpOptions::new(4) };
        // As pyttb's `epsDivZero`.
        let own = AprOptions { least_model: 1e-10, ..AprOptions::default() };
        let fitted = run(&x, &CpMethod::Apr(own), &options);
        let close = |found: f64, expected: f64, what: &str| {
            assert!((found - expected).abs() <= 1e-8 * expected.abs(), "{}: {what} {found}, not {expected}", self.file);
        };
        let likelihoods = measures(&fitted, "log_likelihood");
        close(likelihoods[iterations - 1], self.log_likelihood, "log likelihood");
        for (found, expected) in measures(&fitted, "kkt_violation").iter().zip(self.kkt_violations) {
            close(*found, *expected, "violation");
        }
        assert_eq!(measures(&fitted, "inner_iterations"), self.inner_iterations);
        close(fitted.fit().unwrap_or(f64::NAN), self.fit, "fit");
        for (found, expected) in fitted.model.weights().iter().zip(self.weights.iter().flatten()) {
            close(*found, *expected, "weight");
        }
        for iteration in &fitted.iterations {
            println!("{}: {:?}, in kernels {:?}", self.file, iteration.time, iteration.kernel_time);
        }
        Ok(())
    }
}

/// Counts by a loss that has a closed form for what is not stored, of a tensor of 2.7 billion places.
fn generalized_cp_of_a_large_sparse_tensor() -> Result<(), Skip> {
    let x = read("uber-spring14-day-hour-lat-lon.tns.gz")?;
    let options = CpOptions { iterations: 5, tolerance: 0.0, ..CpOptions::new(3) };
    let adam = Optimizer::Adam { rate: 1e-2, samples: Some((2000, 2000)), steps: 20 };
    for optimizer in [Optimizer::Lbfgs, adam] {
        let method = GcpOptions { loss: Loss::Poisson, optimizer, failures: 5, ..GcpOptions::default() };
        let losses = measures(&run(&x, &CpMethod::Gcp(method), &options), "loss");
        let falls = losses.windows(2).all(|pair| pair[1] <= pair[0]);
        assert!(falls && losses.len() == 5 && losses[4] < losses[0], "{losses:?}");
    }
    Ok(())
}

/// Adds the tests of this module.
pub(crate) fn tests(suite: &mut Suite) {
    for case in CASES {
        let name = case.file.split('.').next().unwrap_or_default();
        suite.test(format!("losses::{name}"), || case.agrees_with_pyttb());
    }
    suite.test("losses::generalized_cp_of_a_large_sparse_tensor", generalized_cp_of_a_large_sparse_tensor);
}
