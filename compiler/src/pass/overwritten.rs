//! Outputs of which a kernel writes every value need not hold anything when it starts.
//!
//! ```text
//! output dense zero                                         output dense overwritten
//! parallel low..high in 0..I sharing y owned                parallel low..high in 0..I sharing y owned
//!     for i in low..high                                        for i in low..high
//!         …                                                         …
//!         y[i] = t                                                  y[i] = t
//! uneven parallel … sharing y segmented + …                 uneven parallel … sharing y segmented + … anew
//!     …                                                         …
//! ```
//!
//! To fill them takes a pass over memory, and leaves a small result in the cache of another thread than the one that writes it.
//!
//! It is the first of the passes: places are what the lowering made of them.

use super::views::is_touched;
use crate::format::{Coordinate, LevelFormat};
use crate::ir::{
    ArrayId, ArrayRole, BinaryOperator, Expr, Initial, Kernel, Literal, Parallel, Sharing, Size, Source, Statement,
    Structure, TensorId, VariableId,
};
use std::collections::BTreeMap;

/// The kernel with its outputs overwritten where they are.
pub(super) fn overwritten(mut kernel: Kernel) -> Kernel {
    let values = (0u32..).map(ArrayId).zip(&kernel.arrays).filter_map(|(array, declared)| match declared.role {
        ArrayRole::Values { tensor } => Output::of(&kernel, array, tensor),
        _ => None,
    });
    let written = values.filter(|output| output.is_written(&kernel.body, &Loops::default()));
    let found: Vec<(ArrayId, TensorId)> = written.map(|output| (output.array, output.tensor)).collect();
    for (array, tensor) in found {
        if let Source::Output { initial, .. } = &mut kernel.tensors[tensor.index()].source {
            *initial = Initial::Overwritten;
        }
        begin_anew(&mut kernel.body, array);
    }
    kernel
}

/// Has the loops that write an array first fill the segments that they reduce into.
fn begin_anew(statements: &mut [Statement], array: ArrayId) {
    let is_first = |statement: &&mut Statement| is_touched(std::slice::from_ref(&**statement), array, true);
    match statements.iter_mut().find(is_first) {
        Some(Statement::Parallel(node)) => {
            let mut next = Some(&mut **node);
            while let Some(node) = next {
                for (shared, sharing) in &mut node.sharing {
                    if let Sharing::Segmented { anew, .. } = sharing {
                        *anew |= *shared == array;
                    }
                }
                next = node.uneven.as_deref_mut();
            }
        }
        Some(statement @ Statement::If(..)) => {
            statement.blocks_mut().into_iter().for_each(|block| begin_anew(block, array));
        }
        _ => {}
    }
}

/// The values of an output that are filled so far.
struct Output<'k> {
    kernel: &'k Kernel,
    array: ArrayId,
    tensor: TensorId,
    /// The tensor that index arrays are of.
    structure: TensorId,
    fill: Literal,
}

/// The loops around a statement.
#[derive(Default, Clone)]
struct Loops {
    /// Each with its bounds, which are those of the whole range where it walks a chunk.
    bounds: BTreeMap<VariableId, (Expr, Expr)>,
    definitions: BTreeMap<VariableId, Expr>,
    /// The bounds of the chunks of a parallel loop, and its range.
    chunk: Option<[(Expr, Expr); 2]>,
}

impl<'k> Output<'k> {
    fn of(kernel: &'k Kernel, array: ArrayId, tensor: TensorId) -> Option<Self> {
        let Source::Output { structure, initial: Initial::Filled(fill) } = kernel.tensor(tensor).source else {
            return None;
        };
        let structure = match structure {
            Structure::Dense => tensor,
            Structure::Shared { operand, .. } => operand,
            Structure::Appended => return None,
        };
        Some(Self { kernel, array, tensor, structure, fill })
    }

    /// Whether statements write every value, before anything else is done with one.
    fn is_written(&self, statements: &[Statement], loops: &Loops) -> bool {
        let mut loops = loops.clone();
        for (place, statement) in statements.iter().enumerate() {
            if !is_touched(std::slice::from_ref(statement), self.array, true) {
                if let Statement::Let(variable, value) = statement
                    && !self.kernel.variable(*variable).mutable
                {
                    loops.definitions.insert(*variable, value.clone());
                }
                continue;
            }
            // What is written in one iteration, another may not touch.
            let is_alone = || !is_touched(&statements[place + 1..], self.array, true);
            return (loops.are_none() || is_alone()) && self.is_written_by(statement, &loops);
        }
        false
    }

    fn is_written_by(&self, statement: &Statement, loops: &Loops) -> bool {
        match statement {
            Statement::Store(array, index, value) => {
                let mut is_read = false;
                value.for_each_array(&mut |read| is_read |= read == self.array);
                *array == self.array && !is_read && self.is_every(index, loops)
            }
            Statement::For { variable, begin, end, body, .. } => {
                let mut inside = loops.clone();
                let bounds = (begin.clone(), end.clone());
                let whole = inside.chunk.take_if(|[chunk, _]| *chunk == bounds).map_or(bounds, |[_, whole]| whole);
                inside.bounds.insert(*variable, whole);
                self.is_written(body, &inside)
            }
            Statement::If(branches, otherwise) => {
                let mut blocks = branches.iter().map(|(_, block)| block).chain([otherwise]);
                blocks.all(|block| self.is_written(block, loops))
            }
            Statement::Parallel(node) => {
                self.is_written_in_parallel(node, loops)
                    && node.uneven.iter().all(|uneven| self.begins_anew(uneven, loops) || self.is_only_stored(uneven))
            }
            _ => false,
        }
    }

    fn is_written_in_parallel(&self, node: &Parallel, loops: &Loops) -> bool {
        let [low, high] = [node.low, node.high].map(Expr::Variable);
        let chunk = Some([(low, high), (node.begin.clone(), node.end.clone())]);
        self.is_written(&node.body, &Loops { chunk, ..loops.clone() })
    }

    /// Whether a loop's chunks may fill the segments that they reduce into. It is only asked of loops for uneven work: a new result
    /// is of zeros that take no time where few of them are written.
    fn begins_anew(&self, node: &Parallel, loops: &Loops) -> bool {
        let is_identity = |(shared, sharing): &(ArrayId, Sharing)| match sharing {
            Sharing::Segmented { operator, .. } => {
                *shared == self.array && operator.identity(self.fill.element()) == Some(self.fill)
            }
            _ => false,
        };
        loops.are_none() && node.sharing.iter().any(is_identity)
    }

    /// Whether a loop writes the same as the one that it stands for because it does nothing else with the values than to write them.
    fn is_only_stored(&self, node: &Parallel) -> bool {
        let mut others = 0;
        let mut see = |statement: &Statement| {
            let is_stored = matches!(statement, Statement::Store(array, ..) if *array == self.array);
            others += usize::from(!is_stored && statement.written_array() == Some(self.array));
            others += usize::from(matches!(statement, Statement::View { of, .. } if *of == self.array));
            statement.for_each_expr(&mut |expr| {
                expr.for_each_array(&mut |read| others += usize::from(read == self.array));
            });
        };
        node.body.iter().for_each(|statement| statement.for_each(&mut see));
        let is_owned =
            |(shared, sharing): &(ArrayId, Sharing)| *shared == self.array && matches!(sharing, Sharing::Owned { .. });
        others == 0 && node.sharing.iter().any(is_owned)
    }

    /// Whether an index is that of every value, each once, as loops run.
    fn is_every(&self, index: &Expr, loops: &Loops) -> bool {
        let levels = self.kernel.tensor(self.tensor).format.levels.len();
        let mut needed = Vec::new();
        let is_every = self.is_every_position(levels, index, loops, &mut needed);
        // A loop beside may have no iteration.
        is_every && loops.chunk.is_none() && needed.len() == loops.bounds.len()
    }

    /// Whether an expression is every position of the first so many levels; `needed` are the loops that make it so.
    fn is_every_position(&self, levels: usize, position: &Expr, loops: &Loops, needed: &mut Vec<VariableId>) -> bool {
        let Some(above) = levels.checked_sub(1) else { return *position == Expr::Index(0) };
        let position = loops.defined(position);
        let declared = self.kernel.tensor(self.tensor);
        let level = &declared.format.levels[above];
        if level.format.kind == LevelFormat::DENSE.kind {
            let Coordinate::Mode(mode) = level.coordinate else { return false };
            let dimension = declared.dimensions[mode];
            let extent = match self.kernel.dimension(dimension).size {
                Size::Constant(size) => Expr::Index(size),
                Size::Runtime | Size::Generic => Expr::Dimension(dimension),
            };
            let (parent, coordinate) = match position {
                Expr::Binary(BinaryOperator::Add, parent, coordinate) => match &**parent {
                    Expr::Binary(BinaryOperator::Multiply, parent, by) if **by == extent => (&**parent, &**coordinate),
                    _ => return false,
                },
                coordinate => (&Expr::Index(0), coordinate),
            };
            return loops.is_walk(coordinate, &Expr::Index(0), &extent, needed)
                && self.is_every_position(above, parent, loops, needed);
        }
        let role = ArrayRole::Positions { tensor: self.structure, level: above };
        let Some(positions) = self.kernel.arrays.iter().position(|array| array.role == role) else { return false };
        let Expr::Variable(variable) = position else { return false };
        let Some((Expr::Load(array, parent), end)) = loops.bounds.get(variable) else { return false };
        let next = Expr::load(*array, (**parent).clone().plus(Expr::Index(1)));
        array.index() == positions
            && level.format.kind == LevelFormat::COMPRESSED.kind
            && *end == next
            && loops.needs(*variable, needed)
            && self.is_every_position(above, parent, loops, needed)
    }
}

impl Loops {
    fn are_none(&self) -> bool {
        self.bounds.is_empty() && self.chunk.is_none()
    }

    fn defined<'e>(&'e self, mut expr: &'e Expr) -> &'e Expr {
        while let Expr::Variable(variable) = expr
            && let Some(value) = self.definitions.get(variable)
        {
            expr = value;
        }
        expr
    }

    /// Whether an expression is the counter of a loop with these bounds that nothing else needs.
    fn is_walk(&self, counter: &Expr, begin: &Expr, end: &Expr, needed: &mut Vec<VariableId>) -> bool {
        let Expr::Variable(variable) = self.defined(counter) else { return false };
        let is_between = |(first, last): &(Expr, Expr)| first == begin && last == end;
        self.bounds.get(variable).is_some_and(is_between) && self.needs(*variable, needed)
    }

    fn needs(&self, variable: VariableId, needed: &mut Vec<VariableId>) -> bool {
        let is_first = !needed.contains(&variable);
        needed.push(variable);
        is_first
    }
}
