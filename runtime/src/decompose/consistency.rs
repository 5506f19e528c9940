//! The core consistency diagnostic.

use super::against::{dense, room, same_shape};
use super::engine::indices;
use super::entries::{Scaled, checked, scaled};
use super::{DecomposeError, Engine, Factor, KTensor, algebra};
use crate::execute::Kernel;
use crate::tensor::{AnyTensor, Duplicates, pack};
use spc_compiler::format::{Format, LevelFormat};

/// How well a tensor agrees with a CP model as a model of that rank, in percent (CORCONDIA: Bro and Kiers, A New Efficient Method for Determining
/// the Number of Components in PARAFAC Models, 2003): 100 · (1 - ‖G - I‖² / R), where G is the core, R × R × …, that together with the model's
/// factors is nearest to the tensor, and I has ones on its diagonal. Near 100 the components are all that there is; near 0 or below there are
/// too many, or they do not fit.
///
/// G is the tensor times the pseudo-inverse of each factor, by one compiled kernel that goes over the tensor's entries once, and never a dense
/// tensor (Papalexakis and Faloutsos, 2015). Weights are in the first factor: what is off the diagonal depends on that.
///
/// ```
/// use spc::decompose::{Engine, Factor, KTensor, core_consistency};
///
/// let factor = |rows: usize| Factor::from_fn([rows, 2], |at| if at[0] == at[1] { 2.0 } else { 0.5 });
/// let model = KTensor::new(vec![1.0, 3.0], vec![factor(4)?, factor(3)?, factor(2)?])?;
/// let found = core_consistency(&model.to_dense()?, &model, &Engine::default())?;
/// assert!((found - 100.0).abs() < 1e-10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the shapes differ, the tensor has entries that are complex or not finite, the model has no component, there is not enough memory for
/// the core, or the kernel can't be compiled or run.
pub fn core_consistency(x: &AnyTensor, model: &KTensor, engine: &Engine) -> Result<f64, DecomposeError> {
    checked(x, 1, usize::MAX)?;
    same_shape(&model.shape(), x.shape())?;
    let (order, rank) = (x.order(), model.rank());
    if rank == 0 {
        return Err(DecomposeError::Model("a model without components has no core consistency".to_owned()));
    }
    let core = nearest_core(x, model, engine)?;
    // The distance from one place of the diagonal to the next.
    let step = (0..order).fold(0, |step, _| step * rank + 1);
    let target = |place: usize| if place.is_multiple_of(step) { 1.0 } else { 0.0 };
    let distance: f64 = core.iter().enumerate().map(|(place, value)| (value - target(place)).powi(2)).sum();
    Ok(100.0 * (1.0 - distance / rank as f64))
}

/// X ×₁ A₁⁺ ×₂ A₂⁺ …, with the weights in A₁.
fn nearest_core(x: &AnyTensor, model: &KTensor, engine: &Engine) -> Result<Vec<f64>, DecomposeError> {
    let (order, rank) = (x.order(), model.rank());
    // The core is the same for the tensor and the model times a number.
    let Scaled { entries, scale, .. } = scaled(x)?;
    let mut core = dense(vec![rank; order], room(&vec![rank; order])?)?;
    let mut inverses = Vec::with_capacity(order);
    for (mode, factor) in model.factors().iter().enumerate() {
        let rows = factor.shape()[0];
        let mut values = factor.values().to_vec();
        if mode == 0 {
            let columns = model.weights().iter().cycle();
            values.iter_mut().zip(columns).for_each(|(value, weight)| *value *= weight * scale);
        }
        let inverse = algebra::pseudo_inverse_transposed(&values, rows, rank)?;
        inverses.push(Factor::from_vec([rows, rank], inverse)?);
    }
    // Short modes outside: there are fewest partial products then.
    let mut modes: Vec<usize> = (0..order).collect();
    modes.sort_by_key(|&mode| x.shape()[mode]);
    let format = Format::permuted(&modes, &vec![LevelFormat::COMPRESSED; order]);
    let tree = pack(entries, &format, Duplicates::Sum)?;
    let kernel = kernel(&modes, &format, engine)?;
    let mut inputs: Vec<(String, &AnyTensor)> = vec![("X".to_owned(), &tree)];
    inputs.extend(inverses.iter().enumerate().map(|(mode, inverse)| (format!("P{}", mode + 1), inverse.as_any())));
    let inputs: Vec<(&str, &dyn crate::execute::Input)> =
        inputs.iter().map(|(name, tensor)| (name.as_str(), *tensor as &dyn crate::execute::Input)).collect();
    kernel.call_named_into(&inputs, &mut core)?;
    Ok(core.values_of::<f64>().unwrap_or_default().to_vec())
}

/// One nest over the tree of the tensor: what a fiber sums up to is taken to its parent as a small dense tensor with one mode more.
fn kernel(modes: &[usize], format: &Format, engine: &Engine) -> Result<Kernel, DecomposeError> {
    let names = indices(modes.len());
    let components: Vec<String> = (1..=modes.len()).map(|mode| format!("r{mode}")).collect();
    let entry = format!("X({})", names.join(", "));
    let sum = modes.iter().rev().fold(entry, |inner, &mode| {
        let (index, component) = (&names[mode], &components[mode]);
        format!("sum({index})(P{}({index}, {component}) * {inner})", mode + 1)
    });
    let parameters: String = (1..=modes.len()).map(|mode| format!(", P{mode}: f64 dense")).collect();
    let loops: Vec<&str> =
        [names[modes[0]].as_str()].into_iter().chain(modes.iter().map(|&mode| components[mode].as_str())).collect();
    let text = format!(
        "fn core(X: f64 {format}{parameters}) -> G: f64 dense {{ G({}) = {sum}; }} schedule {{ reorder({}); }}",
        components.join(", "),
        loops.join(", ")
    );
    let mut kernels = engine.compile(vec![engine.builder(text)])?;
    kernels.pop().ok_or(DecomposeError::Algebra("there is no kernel"))
}

#[cfg(test)]
mod tests {
    use super::super::ktensor::tests::{model, tensor};
    use super::*;
    use crate::execute::Backend;

    fn engine() -> Engine {
        Engine { backend: Some(Backend::Interpreter), ..Engine::default() }
    }

    /// `G = np.einsum('ijk,ai,bj,ck', x, *map(np.linalg.pinv, factors))` with the weights in the first factor.
    #[test]
    fn it_is_that_of_dense_algebra() {
        let model_3 = model(&[4, 3, 5], 3, 0);
        for format in [Format::coo(3), Format::csf(3), Format::dense(3)] {
            let x = tensor().convert(&format).unwrap();
            let found = core_consistency(&x, &model_3, &engine()).unwrap();
            assert!((found - -78.37843856773763).abs() < 1e-9, "{found}");
            let found = core_consistency(&x, &model(&[4, 3, 5], 2, 4), &engine()).unwrap();
            assert!((found - -1.3107556761912331).abs() < 1e-9, "{found}");
        }
    }

    #[test]
    fn a_model_agrees_with_itself_in_every_order() {
        for shape in [&[5, 4][..], &[4, 3, 5], &[3, 5, 4, 3], &[3, 4, 3, 3, 4]] {
            let model = model(shape, 2, 1);
            let found = core_consistency(&model.to_dense().unwrap(), &model, &engine()).unwrap();
            assert!((found - 100.0).abs() < 1e-8, "{shape:?}: {found}");
        }
    }

    #[test]
    fn more_components_than_an_extent_and_equal_components_give_a_number() {
        let wide = model(&[2, 3, 2], 4, 0);
        assert!(core_consistency(&wide.to_dense().unwrap(), &wide, &engine()).unwrap() < 99.0);
        let one = model(&[4, 3, 5], 1, 0);
        let twice = one.join(&one).unwrap();
        let found = core_consistency(&twice.to_dense().unwrap(), &twice, &engine()).unwrap();
        assert!(found.is_finite() && found < 99.0, "{found}");
        let error = core_consistency(&tensor(), &wide, &engine()).unwrap_err().to_string();
        assert_eq!(error, "the model has shape 2 × 3 × 2, but what it is compared with has 4 × 3 × 5");
    }

    #[test]
    fn native_code_finds_the_same() {
        let found = core_consistency(&tensor(), &model(&[4, 3, 5], 3, 0), &Engine::default()).unwrap();
        assert!((found - -78.37843856773763).abs() < 1e-9, "{found}");
    }
}
