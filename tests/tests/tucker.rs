//! Tucker decompositions of real tensors against TensorLy and pyttb: fits after the same iterations.
//!
//! The data lies beside the project, in `../shared/data`; where it does not, the tests are ignored.

use spc::decompose::{TuckerMethod, TuckerOptions, tucker};
use spc_tests::harness::{Skip, Suite};
use std::ops::ControlFlow;
use std::path::PathBuf;

struct Case {
    file: &'static str,
    /// `tensorly.decomposition.tucker(x, [5, 5, 5], n_iter_max=5, init='svd', tol=0, return_errors=True)`, the last also of
    /// `pyttb.tucker_als(pyttb.tensor(x), [5, 5, 5], maxiters=5, stoptol=0, init='nvecs')`.
    hooi: [f64; 5],
    /// `pyttb.hosvd(pyttb.tensor(x), 1e-14, ranks=np.array([5, 5, 5]), sequential=False)`
    hosvd: f64,
    /// The same with `sequential=True`.
    st_hosvd: f64,
}

const CASES: &[Case] = &[
    Case {
        file: "nations-subj-rel-obj.tns.gz",
        hooi: [0.3704630252923442, 0.3714828854607729, 0.371712627579307, 0.37183852836126563, 0.37192304441405044],
        hosvd: 0.35496895404298967,
        st_hosvd: 0.36436102501205336,
    },
    Case {
        file: "kinships-subj-rel-obj.tns.gz",
        hooi: [0.12833982930334398, 0.1344220733218222, 0.13483012013249351, 0.1351403509826815, 0.13529500236991865],
        hosvd: 0.08557559492299183,
        st_hosvd: 0.12406706013721924,
    },
];

impl Case {
    fn fits_are_those_of_others(&self) -> Result<(), Skip> {
        let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data"));
        if !folder.is_dir() {
            return Err(Skip(format!("{} is not there", folder.display())));
        }
        let x = spc::io::read(folder.join(self.file)).unwrap_or_else(|error| panic!("{error}"));
        let options = TuckerOptions { iterations: 5, tolerance: 0.0, ..TuckerOptions::new([5, 5, 5]) };
        let (hosvd, st_hosvd) = ([self.hosvd], [self.st_hosvd]);
        let methods: [(TuckerMethod, &[f64]); 3] =
            [(TuckerMethod::Hosvd, &hosvd), (TuckerMethod::StHosvd, &st_hosvd), (TuckerMethod::Hooi, &self.hooi)];
        for (method, expected) in methods {
            let found = tucker(&x, method, &options, &mut |_| ControlFlow::Continue(()));
            let found = found.unwrap_or_else(|error| panic!("{error}"));
            let fits: Vec<f64> = found.iterations.iter().filter_map(|iteration| iteration.fit).collect();
            assert_eq!(fits.len(), expected.len());
            for (fit, expected) in fits.iter().zip(expected) {
                assert!((fit - expected).abs() < 1e-8, "{} {method:?}: {fits:?}", self.file);
            }
        }
        Ok(())
    }
}

/// Adds the tests of this module.
pub(crate) fn tests(suite: &mut Suite) {
    for case in CASES {
        let name = case.file.split('.').next().unwrap_or_default();
        suite.test(format!("tucker::{name}"), || case.fits_are_those_of_others());
    }
}
