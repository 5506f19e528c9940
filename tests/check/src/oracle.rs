//! The dense oracle: what a kernel means, by nested loops over all indices.
//!
//! It reads [`notation::Kernel`] and nothing later: no schedule, no lattice, no storage. It knows two things of an operand:
//! its value at every index, and whether an entry is stored there.
//!
//! A missing entry is the tensor's fill value, and that is *known*: whatever a known zero is multiplied by, the product is a
//! known zero, also for an infinite or undefined factor; a known infinity changes no minimum, and so on. A result has an
//! entry where its value is not known to be its fill value. So the oracle also says which entries a sparse result should
//! have, and where infinities leave a number [open](Open).

mod open;

pub use open::Open;

use crate::data::{Entries, for_each_index};
use crate::number::Number;
use spc::complex::{c32, c64};
use spc::half::{bf16, f16};
use spc_compiler::ir::tables::monoid::LEFT;
use spc_compiler::ir::{self, Combine, ElementType, Function, IndexExpr, Literal, ReduceOperator, Type, Until};
use spc_compiler::notation::{
    self, Access, Assignment, BinaryOperator, Expr, IndexVariable, Kernel, Link, Reading, Role, Stage, UnaryOperator,
};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Extents by name, given those that were chosen so far.
pub type Known<'a> = dyn Fn(&[(String, usize)]) -> Vec<(String, usize)> + 'a;

/// What a kernel makes.
#[derive(Debug, Clone)]
pub struct Expected {
    /// The entries whose value is not known to be the fill value by structure alone.
    pub entries: Entries,
    /// Where the number may be another one.
    pub open: BTreeMap<Vec<usize>, Open>,
}

impl From<Entries> for Expected {
    fn from(entries: Entries) -> Self {
        Expected { entries, open: BTreeMap::new() }
    }
}

/// A tensor while a kernel is evaluated.
#[derive(Debug, Clone)]
struct Held {
    entries: Entries,
    /// Elements that are open, or sums of terms that are not all of one sign.
    notes: BTreeMap<Vec<usize>, Note>,
}

/// What is to be known of an element beside its number.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Note {
    open: Open,
    mixed: bool,
    /// Whether the structure says what it is, though it is not the fill value.
    known: bool,
}

/// The results of a kernel, in order.
///
/// # Panics
/// When an extent is neither in `inputs` nor in `dims`.
pub fn evaluate(kernel: &Kernel, inputs: &[Entries], dims: &[(String, usize)]) -> Vec<Expected> {
    let extents = Extents::of(kernel, inputs, dims);
    let mut inputs = inputs.iter();
    let mut tensors: Vec<Held> = Vec::new();
    for (id, tensor) in kernel.tensors.iter().enumerate() {
        let entries = match tensor.role {
            Role::Input => inputs.next().expect("an input for each parameter").clone(),
            Role::Output | Role::Temporary => Entries { shape: extents.shape(id), stored: BTreeMap::new() },
        };
        tensors.push(Held { entries, notes: BTreeMap::new() });
    }
    let of_stage = |stage: Stage, tensors: &mut Vec<Held>| {
        let places = 0..kernel.statements.len();
        let places = places.filter(|&place| kernel.statements[place].stage == stage);
        places.for_each(|place| assign(kernel, place, tensors, &extents));
    };
    of_stage(Stage::Before, &mut tensors);
    if let Some(repeat) = &kernel.repeat {
        let named = |name: &str| kernel.tensors.iter().position(|tensor| tensor.name == name).expect("a tensor");
        let limit = repeat.limit.as_ref().map(|limit| real(&tensors[named(limit)].entries) as usize);
        let most = limit.map_or(repeat.most, |limit| limit.min(repeat.most)).max(1);
        for round in 1..=most {
            of_stage(Stage::Round, &mut tensors);
            let entries = |until: &Until| &tensors[named(&until.result)].entries;
            let is_over = repeat.until.as_ref().is_some_and(|until| holds(until, entries(until)));
            if is_over || round == most {
                break;
            }
            let taken: Vec<(usize, Held)> =
                repeat.feeds.iter().map(|(old, new)| (named(old), tensors[named(new)].clone())).collect();
            taken.into_iter().for_each(|(old, held)| tensors[old] = held);
        }
        of_stage(Stage::After, &mut tensors);
    }
    let results = kernel.tensors.iter().zip(tensors).filter(|(tensor, _)| tensor.role == Role::Output);
    let expected = |held: Held| {
        let open = held.notes.into_iter().map(|(index, note)| (index, note.open));
        Expected { entries: held.entries, open: open.filter(|(_, open)| *open != Open::No).collect() }
    };
    results.map(|(_, held)| expected(held)).collect()
}

/// A number without modes.
pub(crate) fn real(number: &Entries) -> f64 {
    number.stored.get(&Vec::new()).map_or(0.0, |value| value.to_c64().re)
}

/// Whether a rule holds for a number without modes.
pub(crate) fn holds(until: &Until, number: &Entries) -> bool {
    let value = real(number);
    let beside = value.partial_cmp(&until.bound);
    match until.comparison.to_string().as_str() {
        "<" => beside == Some(Ordering::Less),
        "<=" => matches!(beside, Some(Ordering::Less | Ordering::Equal)),
        ">" => beside == Some(Ordering::Greater),
        _ => matches!(beside, Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// Evaluates one statement.
fn assign(kernel: &Kernel, place: usize, tensors: &mut [Held], extents: &Extents) {
    let statement = &kernel.statements[place];
    let target = statement.target.tensor;
    let updates = kernel.statements[..place].iter().any(|earlier| earlier.target.tensor == target);
    let mut result = Evaluation { kernel, tensors, extents, statement }.run(updates);
    let fill = Number::of_literal(kernel.tensor(target).fill);
    if statement.value.accesses().iter().any(|access| access.tensor == target) {
        result = solution(kernel, tensors, extents, statement, result);
    }
    if kernel.tensor(target).role == Role::Temporary && !kernel.tensor(target).is_sparse() {
        let Entries { shape, stored } = &mut result.entries;
        for_each_index(shape, &mut |index| _ = stored.entry(index.to_vec()).or_insert(fill));
    }
    tensors[target.0] = result;
}

/// What a statement that reads its own target makes: what it does not change any more. Each time one element at least is right that was
/// not before.
fn solution(kernel: &Kernel, tensors: &mut [Held], extents: &Extents, statement: &Assignment, first: Held) -> Held {
    let target = statement.target.tensor;
    let fill = Number::of_literal(kernel.tensor(target).fill);
    let most = first.entries.shape.iter().product::<usize>() + 1;
    let mut result = first;
    for _ in 0..most {
        let mut read = result.clone();
        let Entries { shape, stored } = &mut read.entries;
        for_each_index(shape, &mut |index| _ = stored.entry(index.to_vec()).or_insert(fill));
        tensors[target.0] = read;
        let next = Evaluation { kernel, tensors, extents, statement }.run(false);
        let (before, after) = (&result.entries.stored, &next.entries.stored);
        let is_settled = before.len() == after.len()
            && before.iter().zip(after).all(|(one, other)| one.0 == other.0 && one.1.equals(*other.1));
        result = next;
        if is_settled {
            break;
        }
    }
    result
}

/// The extents of index variables and of modes, found from what is known of some of them.
#[derive(Debug)]
pub struct Extents {
    variables: Vec<Option<usize>>,
    modes: Vec<Vec<Option<usize>>>,
    /// Two that should be one and differ.
    conflict: Option<String>,
}

impl Extents {
    /// The extents of a kernel with these inputs; `dims` gives those of index variables by name, and those of modes as `A2_size`.
    ///
    /// # Panics
    /// When two contradict each other.
    pub fn of(kernel: &Kernel, inputs: &[Entries], dims: &[(String, usize)]) -> Self {
        let extents = Extents::find(kernel, inputs, dims);
        assert_eq!(extents.conflict, None);
        extents
    }

    /// The same, where some may contradict each other.
    fn find(kernel: &Kernel, inputs: &[Entries], dims: &[(String, usize)]) -> Self {
        let mut given = inputs.iter();
        let stated = |tensor: &notation::Tensor| -> Vec<Option<usize>> {
            let name = |mode: usize| format!("{}{}_size", tensor.name, mode + 1);
            let size = |mode: usize| dims.iter().find(|(given, _)| *given == name(mode)).map(|&(_, extent)| extent);
            (0..tensor.format.order).map(size).collect()
        };
        let modes = kernel.tensors.iter().map(|tensor| match tensor.role {
            Role::Input => match given.next() {
                Some(entries) => entries.shape.iter().copied().map(Some).collect(),
                None => stated(tensor),
            },
            _ => stated(tensor),
        });
        let named = |variable: &notation::Variable| {
            dims.iter().find(|(name, _)| *name == variable.name).map(|&(_, extent)| extent)
        };
        let fixed =
            |variable: &notation::Variable| variable.extent.map(|extent| usize::try_from(extent).expect("small"));
        let variables = kernel.variables.iter().map(|variable| named(variable).or(fixed(variable)));
        let mut extents = Extents { modes: modes.collect(), variables: variables.collect(), conflict: None };
        while extents.spread(kernel) {}
        extents
    }

    /// Passes extents between modes and the variables that index them; says whether anything was new.
    fn spread(&mut self, kernel: &Kernel) -> bool {
        let is_any_new = self.spread_by_name(kernel)
            || self.spread_by_written(kernel)
            || self.spread_by_bounds(kernel, true)
            || self.spread_by_bounds(kernel, false);
        is_any_new && self.conflict.is_none()
    }

    /// Extents for every index variable of a kernel, given those of `dims`, by name; `size` chooses those that nothing says.
    ///
    /// # Errors
    /// Which of them contradict each other.
    pub fn complete(
        kernel: &Kernel,
        dims: &Known<'_>,
        size: &mut dyn FnMut() -> usize,
    ) -> Result<Vec<(String, usize)>, String> {
        let mut chosen: Vec<(String, usize)> = Vec::new();
        loop {
            let extents = Extents::find(kernel, &[], &dims(&chosen));
            if let Some(conflict) = extents.conflict {
                return Err(conflict);
            }
            let is_unknown = |id: &usize| extents.variables[*id].is_none();
            let is_computed = |id: &usize| kernel.variables[*id].value.is_some();
            let unknown: Vec<usize> = (0..kernel.variables.len()).filter(is_unknown).collect();
            let Some(first) = unknown.iter().find(|id| !is_computed(id)).or(unknown.first()) else {
                return Ok(chosen);
            };
            let name = &kernel.variables[*first].name;
            if chosen.iter().any(|(known, _)| known == name) {
                return Err(format!("no extent of `{name}` fits"));
            }
            chosen.push((name.clone(), size()));
        }
    }

    /// Gives the variables that one statement has one name for one extent.
    fn spread_by_written(&mut self, kernel: &Kernel) -> bool {
        let mut known: BTreeMap<(usize, &str), usize> = BTreeMap::new();
        let written = || {
            let variables = kernel.variables.iter().enumerate();
            variables.filter_map(|(id, variable)| Some((id, variable.written.as_ref()?)))
        };
        for (id, written) in written() {
            if let Some(extent) = self.variables[id] {
                let first = *known.entry((written.statement, &written.name)).or_insert(extent);
                if first != extent {
                    self.conflict.get_or_insert(format!("the extents of `{}` differ", written.name));
                }
            }
        }
        let mut news = false;
        for (id, written) in written().filter(|(id, _)| self.variables[*id].is_none()).collect::<Vec<_>>() {
            self.variables[id] = known.get(&(written.statement, &*written.name)).copied();
            news |= self.variables[id].is_some();
        }
        news
    }

    /// Finds extents by computed indices: the largest range that stays inside, and the smallest mode that holds all.
    fn spread_by_bounds(&mut self, kernel: &Kernel, is_upper: bool) -> bool {
        let values = kernel.variables.iter().enumerate();
        let computed: Vec<(usize, &IndexExpr<IndexVariable>)> =
            values.filter_map(|(id, variable)| Some((id, variable.value.as_ref()?))).collect();
        for unknown in 0..self.variables.len() {
            if self.variables[unknown].is_some() {
                continue;
            }
            let written = |v: usize| kernel.variables[v].written.as_ref();
            let is_it = |v: usize| v == unknown || written(v).is_some() && written(v) == written(unknown);
            // By trial: sizes in tests are small.
            let fits = |size: usize, (id, value): &(usize, &IndexExpr<IndexVariable>)| {
                let extent_of = |v: &IndexVariable| if is_it(v.0) { Some(size) } else { self.variables[v.0] };
                let mode = if is_upper && *id != unknown { self.variables[*id] } else { Some(size) };
                let mode = mode?;
                let value = value.with_extents(&mut |v| extent_of(v).map(|extent| extent as i64));
                if !value.extents().is_empty() {
                    return None;
                }
                let all = value.variables().iter().map(extent_of).collect::<Option<Vec<_>>>()?;
                let (low, high) = value.range(&mut |v| extent_of(v).map_or(0, |extent| extent.max(1) as i128 - 1));
                Some(all.contains(&0) || low >= 0 && high < mode as i128)
            };
            let holds = |size: usize, bounds: &[&(usize, &IndexExpr<IndexVariable>)]| {
                bounds.iter().all(|bound| fits(size, bound) == Some(true))
            };
            let mentions = |bound: &&(usize, &IndexExpr<IndexVariable>)| match is_upper {
                true => {
                    let made_of = [bound.1.variables(), bound.1.extents()].concat();
                    made_of.iter().any(|v| is_it(v.0)) && fits(0, bound).is_some()
                }
                false => self.share_a_mode(kernel, bound.0, unknown),
            };
            let bounds: Vec<_> = computed.iter().filter(mentions).collect();
            if bounds.is_empty() {
                continue;
            }
            let mut sizes = 0..1000;
            let size = match is_upper {
                true => sizes.take_while(|&size| holds(size, &bounds)).last(),
                false => sizes.find(|&size| holds(size, &bounds)),
            };
            self.variables[unknown] = size;
            return size.is_some();
        }
        false
    }

    /// Whether two variables index the same mode of a tensor, or modes that others index as well.
    fn share_a_mode(&self, kernel: &Kernel, a: usize, b: usize) -> bool {
        let mut modes: Vec<(usize, usize, usize)> = Vec::new();
        let mut note = |access: &Access| {
            let indices = access.indices.iter().enumerate();
            modes.extend(indices.map(|(mode, variable)| (access.tensor.0, mode, variable.0)));
        };
        for statement in &kernel.statements {
            note(&statement.target);
            statement.mask.iter().for_each(&mut note);
            statement.value.for_each_access(&mut note);
        }
        let mut joined = BTreeSet::from([a]);
        loop {
            let is_joined = |mode: &(usize, usize)| {
                modes.iter().any(|&(tensor, own, variable)| (tensor, own) == *mode && joined.contains(&variable))
            };
            let more =
                modes.iter().filter(|&&(tensor, mode, _)| is_joined(&(tensor, mode))).map(|&(.., variable)| variable);
            let more: BTreeSet<usize> = more.chain(joined.iter().copied()).collect();
            if more.len() == joined.len() {
                return joined.contains(&b);
            }
            joined = more;
        }
    }

    fn spread_by_name(&mut self, kernel: &Kernel) -> bool {
        let mut news = false;
        let mut meet = |access: &Access| {
            for (mode, variable) in access.indices.iter().enumerate() {
                let known = self.modes[access.tensor.0][mode].or(self.variables[variable.0]);
                for place in [&mut self.modes[access.tensor.0][mode], &mut self.variables[variable.0]] {
                    news |= known != *place;
                    if let (Some(one), Some(other)) = (*place, known)
                        && one != other
                    {
                        self.conflict.get_or_insert(format!("extents differ: {one} and {other}"));
                    }
                    *place = known;
                }
            }
        };
        for statement in &kernel.statements {
            meet(&statement.target);
            statement.mask.iter().for_each(&mut meet);
            statement.value.for_each_access(&mut meet);
        }
        news
    }

    /// The shape of a tensor, by its place among the kernel's.
    pub fn shape(&self, tensor: usize) -> Vec<usize> {
        self.modes[tensor].iter().map(|extent| extent.expect("every extent is known")).collect()
    }

    /// The sizes of all modes that are known, as `dims` names them.
    pub fn of_modes(&self, kernel: &Kernel) -> Vec<(String, usize)> {
        let tensors = kernel.tensors.iter().zip(&self.modes);
        let sizes = tensors.flat_map(|(tensor, modes)| {
            let modes = modes.iter().enumerate();
            modes.filter_map(|(mode, extent)| Some((format!("{}{}_size", tensor.name, mode + 1), (*extent)?)))
        });
        sizes.collect()
    }

    /// The extents of the variables and the modes of one link of a chain, as `dims` names them, where these are those of the
    /// whole.
    pub fn of_link(&self, whole: &Kernel, link: &Link) -> Vec<(String, usize)> {
        // Several computed variables may have one name; the modes below tell their extents.
        let variables = link.kernel.variables.iter().zip(&link.variables).filter(|(own, _)| own.value.is_none());
        let mut dims: Vec<(String, usize)> = variables
            .filter_map(|(own, variable)| Some((own.name.clone(), self.variables.get(variable.0).copied()??)))
            .collect();
        for tensor in &link.kernel.tensors {
            let of_whole = whole.tensors.iter().position(|other| other.name == tensor.name);
            let modes = of_whole.map_or(&[][..], |place| &self.modes[place]).iter().enumerate();
            let sizes =
                modes.filter_map(|(mode, extent)| Some((format!("{}{}_size", tensor.name, mode + 1), (*extent)?)));
            dims.extend(sizes);
        }
        dims
    }

    fn variable(&self, variable: IndexVariable) -> usize {
        self.variables[variable.0].expect("every extent is known")
    }

    /// Whether some index, a window among them, runs over nothing.
    pub fn is_any_empty(&self) -> bool {
        self.variables.iter().chain(self.modes.iter().flatten()).any(|extent| *extent == Some(0))
    }
}

/// A number, and whether it follows from the structure alone.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Value {
    number: Number,
    known: bool,
    /// What else may come out.
    open: Open,
    /// Whether it is a sum whose terms are not all of one sign, or a multiple of one.
    mixed: bool,
    /// Whether it was known when it was stored: where statements are fused, it still is.
    was_known: bool,
}

impl Value {
    fn known(number: Number) -> Self {
        Value { number, known: true, open: Open::No, mixed: false, was_known: false }
    }

    fn given(number: Number) -> Self {
        Value { number, known: false, open: Open::No, mixed: false, was_known: false }
    }

    fn noted(self, note: Option<&Note>) -> Self {
        let Note { open, mixed, known } = note.copied().unwrap_or_default();
        Value { open, mixed, was_known: known, ..self }
    }

    /// Whether the structure alone may tell it, as statements are fused or not.
    fn may_be_known(self) -> bool {
        self.known || self.was_known
    }

    /// The number, where it follows from the structure alone and is so.
    fn is_known(self, is: impl Fn(Number) -> bool) -> bool {
        self.known && is(self.number)
    }
}

/// Whether it is one; `true` is none.
fn is_one(number: Number) -> bool {
    !matches!(number, Number::Bool(_)) && number.to_c64() == c64::new(1.0, 0.0)
}

/// Whether it is an infinity. A complex number is none: its other part would not be known.
fn is_infinite(number: Number) -> bool {
    matches!(number, Number::F64(_) | Number::F32(_)) && number.to_c64().re.is_infinite()
}

fn is_true(number: Number) -> bool {
    match number {
        Number::Bool(truth) => truth,
        other => panic!("{other:?} is no truth value"),
    }
}

/// Whether it is what changes nothing for the reduction.
fn is_identity(number: Number, operator: ReduceOperator) -> bool {
    use ReduceOperator::*;
    match (operator, number) {
        (Add, number) => number.is_zero(),
        (Multiply, number) => is_one(number),
        (Min, Number::I8(value)) => value == i8::MAX,
        (Min, Number::I16(value)) => value == i16::MAX,
        (Min, Number::I32(value)) => value == i32::MAX,
        (Min, Number::I64(value)) => value == i64::MAX,
        (Min, Number::U8(value)) => value == u8::MAX,
        (Min, Number::U16(value)) => value == u16::MAX,
        (Min, Number::U32(value)) => value == u32::MAX,
        (Min, Number::U64(value)) => value == u64::MAX,
        (Max, Number::I8(value)) => value == i8::MIN,
        (Max, Number::I16(value)) => value == i16::MIN,
        (Max, Number::I32(value)) => value == i32::MIN,
        (Max, Number::I64(value)) => value == i64::MIN,
        (Max, Number::U8(value)) => value == u8::MIN,
        (Max, Number::U16(value)) => value == u16::MIN,
        (Max, Number::U32(value)) => value == u32::MIN,
        (Max, Number::U64(value)) => value == u64::MIN,
        (Min, number) => is_infinite(number) && number.to_c64().re > 0.0,
        (Max, number) => is_infinite(number) && number.to_c64().re < 0.0,
        (Or, number) => number.is_zero(),
        (And, Number::Bool(truth)) => truth,
        (And, Number::U8(value)) => value == u8::MAX,
        (And, Number::U16(value)) => value == u16::MAX,
        (And, Number::U32(value)) => value == u32::MAX,
        (And, Number::U64(value)) => value == u64::MAX,
        (And, number) => number.to_c64() == c64::new(-1.0, 0.0),
        (Declared(_), number) => {
            operator.definition(number.element()).is_some_and(|known| Number::of_literal(known.identity) == number)
        }
    }
}

/// The value of each index variable whose loop is outside.
type Indices = BTreeMap<IndexVariable, usize>;

#[derive(Clone, Copy)]
struct Evaluation<'a> {
    kernel: &'a Kernel,
    tensors: &'a [Held],
    extents: &'a Extents,
    statement: &'a Assignment,
}

impl Evaluation<'_> {
    /// The index at which an access reads or writes.
    fn place(&self, access: &Access, indices: &Indices) -> Vec<usize> {
        access.indices.iter().map(|variable| self.index(variable, indices)).collect()
    }

    /// The value of an index variable, also of one that is computed.
    fn index(&self, variable: &IndexVariable, indices: &Indices) -> usize {
        match &self.kernel.variables[variable.0].value {
            None => indices[variable],
            Some(value) => {
                let value = value.with_extents(&mut |counted| i64::try_from(self.extents.variable(*counted)).ok());
                let value = value.value(&mut |variable| Some(indices[variable] as i128));
                usize::try_from(value.expect("it is computed")).expect("indices are inside")
            }
        }
    }

    /// What the target holds afterwards. Where the statement `updates` what an earlier one has assigned, that is an operand
    /// like the others; else there is nothing before, whatever the operator.
    fn run(&self, updates: bool) -> Held {
        let target = &self.statement.target;
        let fill = Number::of_literal(self.kernel.tensor(target.tensor).fill);
        let before = &self.tensors[target.tensor.0];
        let mut result = match updates {
            true => before.clone(),
            false => {
                let entries = Entries { shape: before.entries.shape.clone(), stored: BTreeMap::new() };
                Held { entries, notes: BTreeMap::new() }
            }
        };
        let running = self.kernel.running(&target.indices);
        let shape: Vec<usize> = running.iter().map(|&variable| self.extents.variable(variable)).collect();
        let mut untouched: BTreeSet<Vec<usize>> = result.entries.stored.keys().cloned().collect();
        for_each_index(&shape, &mut |values| {
            let indices: Indices = running.iter().copied().zip(values.iter().copied()).collect();
            let index = &self.place(target, &indices)[..];
            if self.is_masked(&indices, &Indices::new()) {
                return;
            }
            let nothing = |number: Number| match self.statement.operator {
                Some(operator) if updates => is_identity(number, operator),
                _ => number.equals(fill),
            };
            let Some(value) = self.chosen(&self.statement.value, &indices, &nothing) else { return };
            let old = result.entries.stored.get(index).copied();
            let note = result.notes.get(index);
            let value = match (self.statement.operator, old) {
                (Some(operator), Some(number)) => update(operator, Value::given(number.computed()).noted(note), value),
                (Some(operator), None) if updates => update(operator, Value::known(fill).noted(note), value),
                _ => value,
            };
            let element = self.kernel.tensor(target.tensor).element;
            let value = match element.is_stored_only() {
                true => Value { number: cast(element, value.number), ..value },
                false => value,
            };
            match value.is_known(|number| number.equals(fill)) {
                false => result.entries.stored.insert(index.to_vec(), value.number),
                true => result.entries.stored.remove(index),
            };
            let Value { open, mixed, .. } = value;
            result.notes.insert(index.to_vec(), Note { open, mixed, known: value.may_be_known() });
            untouched.remove(index);
        });
        if updates {
            for index in untouched {
                let note = result.notes.entry(index.clone()).or_default();
                note.open = note.open.max(open::of_untouched(self.statement.operator, result.entries.stored[&index]));
            }
        }
        result
    }

    /// Whether the mask has no entry here, where its last index has just been fixed.
    fn is_masked(&self, indices: &Indices, outside: &Indices) -> bool {
        let Some(mask) = &self.statement.mask else { return false };
        let running = self.kernel.running(&mask.indices);
        let is_fixed = |indices: &Indices| running.iter().all(|variable| indices.contains_key(variable));
        let is_news = is_fixed(indices) && (outside.is_empty() || !is_fixed(outside));
        is_news && !self.tensors[mask.tensor.0].entries.stored.contains_key(&self.place(mask, indices))
    }

    /// A value; `None` where a condition on indices and entries alone leaves what is nothing.
    fn chosen(&self, expr: &Expr, indices: &Indices, is_nothing: &dyn Fn(Number) -> bool) -> Option<Value> {
        if let Expr::Select(condition, yes, no) = expr
            && let Expr::Literal(no) = **no
            && is_nothing(Number::of_literal(no))
            && is_of_places(condition)
        {
            return is_true(self.expr(condition, indices).number).then(|| self.expr(yes, indices));
        }
        Some(self.expr(expr, indices))
    }

    fn expr(&self, expr: &Expr, indices: &Indices) -> Value {
        match expr {
            Expr::Literal(literal) => Value::known(Number::of_literal(*literal)),
            Expr::Access(access) => {
                let (held, place) = (&self.tensors[access.tensor.0], self.place(access, indices));
                if access.reads == Reading::Stored {
                    let tensor = self.kernel.tensor(access.tensor);
                    let fill = Number::of_literal(tensor.fill);
                    // Where there are places without an entry, those that hold something are the pattern.
                    let are_entries = tensor.format.tells_entries();
                    let counts = |number: &Number| are_entries || !number.equals(fill);
                    let is_there = held.entries.stored.get(&place).is_some_and(counts);
                    let truth = Number::of_literal(Literal::Integer(ElementType::Bool, is_there.into()));
                    return if is_there || !are_entries { Value::given(truth) } else { Value::known(truth) };
                }
                let value = match held.entries.stored.get(&place) {
                    Some(&value) => Value::given(value.computed()),
                    None => Value::known(Number::of_literal(self.kernel.tensor(access.tensor).fill)),
                };
                value.noted(held.notes.get(&place))
            }
            // As by `as`: what a byte does not hold wraps around.
            Expr::Index(variable, element) => {
                Value::given(cast(*element, Number::I64(self.index(variable, indices) as i64)))
            }
            Expr::Unary(operator, operand) => {
                let operand = self.expr(operand, indices);
                Value { number: unary(*operator, operand.number), ..operand }
            }
            Expr::Cast(element, operand) => {
                let operand = self.expr(operand, indices);
                let stays = operand.open == Open::No || element.is_float();
                let open = if stays { operand.open } else { Open::Any };
                Value { number: cast(*element, operand.number), open, ..operand }
            }
            Expr::Binary(operator, left, right) => {
                binary(*operator, self.expr(left, indices), self.expr(right, indices))
            }
            Expr::Call(function, arguments) => {
                call(*function, &arguments.iter().map(|argument| self.expr(argument, indices)).collect::<Vec<_>>())
            }
            Expr::Select(condition, yes, no) => {
                let condition = self.expr(condition, indices);
                let (yes, no) = (self.expr(yes, indices), self.expr(no, indices));
                let chosen = if is_true(condition.number) { yes } else { no };
                let is_same = yes.known && no.known && yes.number.equals(no.number);
                let open = if condition.open == Open::No { chosen.open } else { Open::Any };
                Value { known: chosen.known && (condition.known || is_same), open, ..chosen }
            }
            Expr::Reduce(operator, variables, body) => self.reduction(*operator, variables, body, indices),
        }
    }

    fn reduction(
        &self,
        operator: ReduceOperator,
        variables: &[IndexVariable],
        body: &Expr,
        outside: &Indices,
    ) -> Value {
        let shape: Vec<usize> = variables.iter().map(|&variable| self.extents.variable(variable)).collect();
        let mut total: Option<Value> = None;
        let mut open = Open::No;
        if shape.contains(&0) && operator == ReduceOperator::Add {
            // Sums over the other variables may be made around the one that is over nothing.
            let (others, sizes): (Vec<IndexVariable>, Vec<usize>) =
                variables.iter().copied().zip(shape.iter().copied()).filter(|(_, size)| *size > 0).unzip();
            for_each_index(&sizes, &mut |index| {
                let mut indices = outside.clone();
                indices.extend(others.iter().copied().zip(index.iter().copied()));
                if self.has_infinite_factor(body, &indices) {
                    open = Open::Infinite;
                }
            });
        }
        for_each_index(&shape, &mut |index| {
            let mut indices = outside.clone();
            indices.extend(variables.iter().copied().zip(index.iter().copied()));
            if self.is_masked(&indices, outside) {
                return;
            }
            let nothing = |number: Number| is_identity(number, operator);
            let Some(term) = self.chosen(body, &indices, &nothing) else { return };
            open = open.max(term.open);
            if !term.is_known(|number| is_identity(number, operator)) {
                // The first term meets the identity: of a minimum of nothing but NaN, that is left.
                let identity = || Value::known(identity(operator, term.number));
                let is_sum = operator == ReduceOperator::Add;
                let mixed = term.mixed || total.is_some_and(|total| open::is_mixed(BinaryOperator::Add, total, term));
                let before = total.unwrap_or_else(identity);
                open = open.max(open::of_reduction(operator, before, term));
                let number = reduce(operator, before.number, term.number);
                total = Some(Value { open, mixed: is_sum && mixed, ..Value::given(number) });
            }
        });
        let nothing = || Value::known(Number::of_literal(self.identity(operator, body)));
        let total = total.unwrap_or_else(nothing);
        Value { open: open.max(total.open), ..total }
    }

    /// Whether a part of the terms of a sum is the same for each of them, and infinite or NaN: a sum over nothing may be multiplied
    /// by it. What a temporary is may stand where it is read.
    fn has_infinite_factor(&self, term: &Expr, outside: &Indices) -> bool {
        let free = term.free_variables(&|variable| self.kernel.running(&[variable]));
        match term {
            _ if free.iter().all(|variable| outside.contains_key(variable)) => {
                !self.expr(term, outside).number.is_finite()
            }
            Expr::Access(access) => {
                let is_made = self.kernel.tensor(access.tensor).role == Role::Temporary;
                let made = self.kernel.statements.iter().filter(|made| is_made && made.target.tensor == access.tensor);
                made.into_iter().any(|made| self.has_infinite_part(made, access, outside))
            }
            _ => term.children().into_iter().any(|part| self.has_infinite_factor(part, outside)),
        }
    }

    /// The same of what a temporary is made of where it is read; an index of it that the terms differ by is known to none.
    fn has_infinite_part(&self, made: &Assignment, read: &Access, outside: &Indices) -> bool {
        let is_known =
            |variable: &IndexVariable| self.kernel.running(&[*variable]).iter().all(|v| outside.contains_key(v));
        let indices = made.target.indices.iter().zip(&read.indices);
        let inside = indices.filter(|(_, read)| is_known(read)).map(|(own, read)| (*own, self.index(read, outside)));
        Evaluation { statement: made, ..*self }.has_infinite_factor(&made.value, &inside.collect())
    }

    fn identity(&self, operator: ReduceOperator, body: &Expr) -> Literal {
        operator.identity(self.kernel.element_of(body)).expect("a checked reduction has an identity")
    }
}

/// Whether no value of a tensor tells a condition.
fn is_of_places(condition: &Expr) -> bool {
    match condition {
        Expr::Access(access) => access.reads == Reading::Stored,
        // A mark of what follows a `where`.
        Expr::Cast(ElementType::Bool, _) => true,
        Expr::Call(..) | Expr::Reduce(..) => false,
        _ => condition.children().into_iter().all(is_of_places),
    }
}

fn unary(operator: UnaryOperator, operand: Number) -> Number {
    match (operator, operand) {
        (UnaryOperator::Negate, number) if !number.element().is_signed() => panic!("{operand:?} has no negative"),
        (UnaryOperator::Negate, number) => number.negative(),
        (UnaryOperator::Not, Number::Bool(truth)) => Number::Bool(!truth),
        (operator, operand) => panic!("{operator:?} of {operand:?}"),
    }
}

fn binary(operator: BinaryOperator, left: Value, right: Value) -> Value {
    let open = open::of_binary(operator, left, right);
    let is_zero = |side: Value| side.may_be_known() && side.number.is_zero();
    let annihilates = operator == BinaryOperator::Multiply && (is_zero(left) || is_zero(right));
    let was_known = annihilates || left.may_be_known() && right.may_be_known();
    Value { open, was_known, mixed: open::is_mixed(operator, left, right), ..combined(operator, left, right) }
}

/// The number alone, and whether it is known.
fn combined(operator: BinaryOperator, left: Value, right: Value) -> Value {
    use BinaryOperator::*;
    let is_zero = |side: Value| side.is_known(Number::is_zero);
    let is_one = |side: Value| side.is_known(self::is_one);
    let is_infinite = |side: Value| side.is_known(self::is_infinite);
    let is = |side: Value, truth: bool| side.is_known(|number| number == Number::Bool(truth));
    let is_signed = left.number.element().is_signed();
    let has_all_bits = |side: Value| side.is_known(|number| is_identity(number, ReduceOperator::And));
    match operator {
        Multiply if is_zero(left) => left,
        Multiply if is_zero(right) => right,
        // A divisor is never missing; where it is a sum over nothing, the zero above it is still known.
        Divide | Remainder if is_zero(left) => left,
        _ if left.known && right.known => Value::known(arithmetic(operator, left.number, right.number)),
        Add | Subtract if is_infinite(left) => left,
        Add if is_infinite(right) => right,
        Subtract if is_infinite(right) => Value::known(unary(UnaryOperator::Negate, right.number)),
        And if is(left, false) => left,
        And if is(right, false) => right,
        Or if is(left, true) => left,
        Or if is(right, true) => right,
        BitAnd if is_zero(left) => left,
        BitAnd if is_zero(right) => right,
        BitOr if has_all_bits(left) => left,
        BitOr if has_all_bits(right) => right,
        Add if is_zero(left) => right,
        Multiply if is_one(left) => right,
        And if is(left, true) => right,
        Or if is(left, false) => right,
        BitAnd if has_all_bits(left) => right,
        BitAnd if has_all_bits(right) => left,
        BitOr if is_zero(left) => right,
        BitOr if is_zero(right) => left,
        Add | Subtract if is_zero(right) => left,
        Multiply | Divide if is_one(right) => left,
        And if is(right, true) => left,
        Or if is(right, false) => left,
        Subtract if is_zero(left) && is_signed => Value::given(unary(UnaryOperator::Negate, right.number)),
        _ => Value::given(arithmetic(operator, left.number, right.number)),
    }
}

fn arithmetic(operator: BinaryOperator, left: Number, right: Number) -> Number {
    use BinaryOperator::*;
    macro_rules! floats {
        ($variant:ident, $a:expr, $b:expr) => {
            match operator {
                Add => Number::$variant($a + $b),
                Subtract => Number::$variant($a - $b),
                Multiply => Number::$variant($a * $b),
                Divide => Number::$variant($a / $b),
                Remainder => Number::$variant($a % $b),
                _ => Number::Bool(compare(operator, &$a, &$b)),
            }
        };
    }
    macro_rules! integers {
        ($variant:ident, $a:expr, $b:expr) => {
            match operator {
                Add => Number::$variant($a.wrapping_add($b)),
                Subtract => Number::$variant($a.wrapping_sub($b)),
                Multiply => Number::$variant($a.wrapping_mul($b)),
                Divide => Number::$variant($a.wrapping_div($b)),
                Remainder => Number::$variant($a.wrapping_rem($b)),
                BitAnd => Number::$variant($a & $b),
                BitOr => Number::$variant($a | $b),
                _ => Number::Bool(compare(operator, &$a, &$b)),
            }
        };
    }
    macro_rules! complex {
        ($variant:ident, $a:expr, $b:expr) => {
            match operator {
                Add => Number::$variant($a + $b),
                Subtract => Number::$variant($a - $b),
                Multiply => Number::$variant($a * $b),
                Divide => Number::$variant({
                    // Squares of what is divided by may be beyond the range.
                    let size = $b.re.abs().max($b.im.abs());
                    if size.is_normal() { $a.unscale(size) / $b.unscale(size) } else { $a / $b }
                }),
                Equal => Number::Bool($a == $b),
                NotEqual => Number::Bool($a != $b),
                other => panic!("{other:?} of complex numbers"),
            }
        };
    }
    match (left, right) {
        (Number::C64(a), Number::C64(b)) => complex!(C64, a, b),
        (Number::C32(a), Number::C32(b)) => complex!(C32, a, b),
        (Number::F64(a), Number::F64(b)) => floats!(F64, a, b),
        (Number::F32(a), Number::F32(b)) => floats!(F32, a, b),
        (Number::I64(a), Number::I64(b)) => integers!(I64, a, b),
        (Number::I32(a), Number::I32(b)) => integers!(I32, a, b),
        (Number::U8(a), Number::U8(b)) => integers!(U8, a, b),
        (Number::I8(a), Number::I8(b)) => integers!(I8, a, b),
        (Number::I16(a), Number::I16(b)) => integers!(I16, a, b),
        (Number::U16(a), Number::U16(b)) => integers!(U16, a, b),
        (Number::U32(a), Number::U32(b)) => integers!(U32, a, b),
        (Number::U64(a), Number::U64(b)) => integers!(U64, a, b),
        (Number::Bool(a), Number::Bool(b)) => Number::Bool(match operator {
            And => a && b,
            Or => a || b,
            _ => compare(operator, &a, &b),
        }),
        (left, right) => panic!("{left:?} {operator:?} {right:?}"),
    }
}

fn compare<T: PartialOrd>(operator: BinaryOperator, a: &T, b: &T) -> bool {
    match operator {
        BinaryOperator::Equal => a == b,
        BinaryOperator::NotEqual => a != b,
        BinaryOperator::Less => a < b,
        BinaryOperator::LessEqual => a <= b,
        BinaryOperator::Greater => a > b,
        BinaryOperator::GreaterEqual => a >= b,
        other => panic!("{other:?} is no comparison"),
    }
}

fn call(function: Function, arguments: &[Value]) -> Value {
    Value { open: open::of_call(function, arguments), mixed: false, ..called(function, arguments) }
}

/// The number alone, and whether it is known.
fn called(function: Function, arguments: &[Value]) -> Value {
    let numbers: Vec<Number> = arguments.iter().map(|argument| argument.number).collect();
    if arguments.iter().all(|argument| argument.known) {
        return Value::known(apply(function, &numbers));
    }
    // What changes no minimum is the largest there is, which is every maximum.
    let (neutral, annihilates) = match function {
        Function::Min => (ReduceOperator::Min, ReduceOperator::Max),
        Function::Max => (ReduceOperator::Max, ReduceOperator::Min),
        _ => return Value::given(apply(function, &numbers)),
    };
    let place =
        |operator| arguments.iter().position(|argument| argument.is_known(|number| is_identity(number, operator)));
    match (place(annihilates), place(neutral)) {
        (Some(place), _) => arguments[place],
        (None, Some(place)) => arguments[1 - place],
        (None, None) => Value::given(apply(function, &numbers)),
    }
}

fn apply(function: Function, arguments: &[Number]) -> Number {
    let floats = |arguments: &[f64]| function.of_f64(arguments).expect("a function of so many numbers");
    let singles = |arguments: &[f32]| function.of_f32(arguments).expect("a function of so many numbers");
    macro_rules! complex {
        ($part:ident, $complex:ident, $number:expr) => {
            match function {
                Function::Re => Number::$part($number.re),
                Function::Im => Number::$part($number.im),
                Function::Abs => Number::$part($number.norm()),
                Function::Conj => Number::$complex($number.conj()),
                Function::Sqrt => Number::$complex($number.sqrt()),
                Function::Exp => Number::$complex($number.exp()),
                other => panic!("{other:?} of a complex number"),
            }
        };
    }
    match (function, arguments) {
        (_, [Number::C64(a)]) => complex!(F64, C64, a),
        (_, [Number::C32(a)]) => complex!(F32, C32, a),
        (Function::Complex, [Number::F64(re), Number::F64(im)]) => c64::new(*re, *im).into(),
        (Function::Complex, [Number::F32(re), Number::F32(im)]) => c32::new(*re, *im).into(),
        (_, [Number::F64(a)]) => Number::F64(floats(&[*a])),
        (_, [Number::F64(a), Number::F64(b)]) => Number::F64(floats(&[*a, *b])),
        (_, [Number::F32(a)]) => Number::F32(singles(&[*a])),
        (_, [Number::F32(a), Number::F32(b)]) => Number::F32(singles(&[*a, *b])),
        (Function::Min, [Number::I64(a), Number::I64(b)]) => Number::I64(*a.min(b)),
        (Function::Max, [Number::I64(a), Number::I64(b)]) => Number::I64(*a.max(b)),
        (Function::Min, [Number::I32(a), Number::I32(b)]) => Number::I32(*a.min(b)),
        (Function::Max, [Number::I32(a), Number::I32(b)]) => Number::I32(*a.max(b)),
        (Function::Min, [Number::U8(a), Number::U8(b)]) => Number::U8(*a.min(b)),
        (Function::Min, [Number::I8(a), Number::I8(b)]) => Number::I8(*a.min(b)),
        (Function::Min, [Number::I16(a), Number::I16(b)]) => Number::I16(*a.min(b)),
        (Function::Min, [Number::U16(a), Number::U16(b)]) => Number::U16(*a.min(b)),
        (Function::Min, [Number::U32(a), Number::U32(b)]) => Number::U32(*a.min(b)),
        (Function::Min, [Number::U64(a), Number::U64(b)]) => Number::U64(*a.min(b)),
        (Function::Max, [Number::U8(a), Number::U8(b)]) => Number::U8(*a.max(b)),
        (Function::Max, [Number::I8(a), Number::I8(b)]) => Number::I8(*a.max(b)),
        (Function::Max, [Number::I16(a), Number::I16(b)]) => Number::I16(*a.max(b)),
        (Function::Max, [Number::U16(a), Number::U16(b)]) => Number::U16(*a.max(b)),
        (Function::Max, [Number::U32(a), Number::U32(b)]) => Number::U32(*a.max(b)),
        (Function::Max, [Number::U64(a), Number::U64(b)]) => Number::U64(*a.max(b)),
        (Function::Abs, [Number::I64(a)]) => Number::I64(a.wrapping_abs()),
        (Function::Abs, [Number::I32(a)]) => Number::I32(a.wrapping_abs()),
        (Function::Abs, [Number::U8(a)]) => Number::U8(*a),
        (Function::Abs, [Number::U16(a)]) => Number::U16(*a),
        (Function::Abs, [Number::U32(a)]) => Number::U32(*a),
        (Function::Abs, [Number::U64(a)]) => Number::U64(*a),
        (Function::Abs, [Number::I8(a)]) => Number::I8(a.wrapping_abs()),
        (Function::Abs, [Number::I16(a)]) => Number::I16(a.wrapping_abs()),
        (function, arguments) => panic!("{function:?} of {arguments:?}"),
    }
}

fn cast(element: ElementType, number: Number) -> Number {
    macro_rules! number_as {
        ($value:expr) => {
            match element {
                ElementType::F64 => Number::F64($value as f64),
                ElementType::F32 => Number::F32($value as f32),
                ElementType::F16 => Number::F16(f16::from($value as f32)),
                ElementType::BF16 => Number::BF16(bf16::from($value as f32)),
                ElementType::I64 => Number::I64($value as i64),
                ElementType::I32 => Number::I32($value as i32),
                ElementType::U8 => Number::U8($value as u8),
                ElementType::I8 => Number::I8($value as i8),
                ElementType::I16 => Number::I16($value as i16),
                ElementType::U16 => Number::U16($value as u16),
                ElementType::U32 => Number::U32($value as u32),
                ElementType::U64 => Number::U64($value as u64),
                ElementType::C64 => c64::new($value as f64, 0.0).into(),
                ElementType::C32 => c32::new($value as f32, 0.0).into(),
                other => panic!("{number:?} as {}", other.name()),
            }
        };
    }
    match number {
        Number::F64(value) => number_as!(value),
        Number::F32(value) => number_as!(value),
        Number::F16(_) | Number::BF16(_) => cast(element, number.computed()),
        Number::I64(value) => number_as!(value),
        Number::I32(value) => number_as!(value),
        Number::U8(value) => number_as!(value),
        Number::I8(value) => number_as!(value),
        Number::I16(value) => number_as!(value),
        Number::U16(value) => number_as!(value),
        Number::U32(value) => number_as!(value),
        Number::U64(value) => number_as!(value),
        Number::C64(value) if element == ElementType::C32 => c32::new(value.re as f32, value.im as f32).into(),
        Number::C32(value) if element == ElementType::C64 => c64::new(value.re.into(), value.im.into()).into(),
        Number::C64(_) | Number::C32(_) => panic!("{number:?} as {}", element.name()),
        // A mark of a condition.
        Number::Bool(_) if element == ElementType::Bool => number,
        Number::Bool(_) => panic!("truth values are not converted"),
    }
}

/// What an update leaves behind.
fn update(operator: ReduceOperator, old: Value, value: Value) -> Value {
    match operator.combine(Type::of(old.number.element())).expect("checked updates are of types that have them") {
        Combine::Operator(operator) => binary(operator, old, value),
        Combine::Function(function) => call(function, &[old, value]),
        Combine::Defined(definition) => {
            let number = defined(&definition.value, old.number, value.number);
            Value { open: old.open.max(value.open), ..Value::given(number) }
        }
    }
}

/// What a declared operator makes of two numbers.
fn defined(expr: &ir::Expr, left: Number, right: Number) -> Number {
    let of = |expr: &ir::Expr| defined(expr, left, right);
    match expr {
        ir::Expr::Literal(literal) => Number::of_literal(*literal),
        ir::Expr::Bool(truth) => Number::Bool(*truth),
        ir::Expr::Variable(LEFT) => left,
        ir::Expr::Variable(_) => right,
        ir::Expr::Unary(operator, operand) => unary(*operator, of(operand)),
        ir::Expr::Binary(operator, one, other) => arithmetic(*operator, of(one), of(other)),
        ir::Expr::Call(function, arguments) => apply(*function, &arguments.iter().map(of).collect::<Vec<_>>()),
        ir::Expr::Select(condition, yes, no) => of(if of(condition) == Number::Bool(true) { yes } else { no }),
        ir::Expr::Cast(Type::Element(element), operand) => cast(*element, of(operand)),
        other => panic!("{other:?} is no value"),
    }
}

/// What a reduction of numbers like this one starts from.
fn identity(operator: ReduceOperator, like: Number) -> Number {
    Number::of_literal(operator.identity(like.element()).expect("a checked reduction has an identity"))
}

fn reduce(operator: ReduceOperator, a: Number, b: Number) -> Number {
    match operator.combine(Type::of(a.element())).expect("checked reductions are of types that have them") {
        Combine::Operator(operator) => arithmetic(operator, a, b),
        Combine::Function(function) => apply(function, &[a, b]),
        Combine::Defined(definition) => defined(&definition.value, a, b),
    }
}
