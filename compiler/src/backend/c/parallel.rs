//! Parallel loops as OpenMP: a range is cut into chunks of about equal work, which threads take one after the other.

use super::expr::literal;
use super::{Held, Printer, element_name, type_name};
use crate::ir::{
    ArrayElement, ArrayId, Count, ElementType, Parallel, ReduceOperator, Sharing, Type, VariableId, Weights,
};

/// As many threads as chunks are cut for where their number must not matter.
const FIXED: u64 = 16;

impl Printer<'_> {
    pub(super) fn parallel(&mut self, parallel: &Parallel) {
        self.line("{");
        self.depth += 1;
        self.namer.enter();
        let range = self.cut(parallel);
        match &parallel.uneven {
            Some(uneven) => {
                // Chunks of whole places, or shares of single ones.
                let condition = format!("{} <= {} / {} + 4096", range.heaviest, range.work, self.threads());
                self.nest(&format!("if ({condition})"), |printer| printer.run(parallel, &range));
                self.nest("else", |printer| {
                    let range = printer.cut(uneven);
                    printer.run(uneven, &range);
                    printer.line(&format!("free({});", range.bounds));
                });
            }
            None => self.run(parallel, &range),
        }
        self.line(&format!("free({});", range.bounds));
        self.namer.leave();
        self.depth -= 1;
        self.line("}");
    }

    fn threads(&self) -> String {
        if self.kernel.deterministic { FIXED.to_string() } else { "spc_threads()".to_owned() }
    }

    /// Cuts a range into chunks.
    fn cut(&mut self, parallel: &Parallel) -> Range {
        self.helpers.chunks();
        let (begin, end) = (self.expr(&parallel.begin), self.expr(&parallel.end));
        let names = ["begin", "end", "work", "chunks", "bounds", "heaviest"].map(|wish| self.namer.name(wish));
        let [first, last, work, chunks, bounds, heaviest] = names;
        let policy = parallel.policy();
        let most = match policy.count {
            Count::Copies => self.threads(),
            Count::Writing => format!("8 * {}", self.threads()),
            Count::Appending | Count::AppendingBounded => format!("32 * {}", self.threads()),
        };
        self.line(&format!("const size_t {first} = {begin}, {last} = {end};"));
        let weigh = parallel.work.as_ref().filter(|_| policy.weights != Weights::Even);
        let weighed = |printer: &mut Self, place: &str| match weigh {
            None => place.to_owned(),
            Some(weigh) => {
                printer.variables.insert(weigh.place, place.to_owned());
                let before = printer.operand(&weigh.before);
                if policy.weights == Weights::Work { before } else { format!("{before} + {place}") }
            }
        };
        let (nothing, all) = (weighed(self, &first), weighed(self, &last));
        let none = self.namer.name("nothing");
        self.line(&format!("const size_t {none} = {first} < {last} ? {nothing} : 0;"));
        self.line(&format!("const size_t {work} = {first} < {last} ? {all} - {none} : 0;"));
        self.line(&format!("size_t {chunks} = {first} < {last} ? spc_chunks({work}, {most}) : 0;"));
        self.line(&format!("size_t *const {bounds} = spc_memory({chunks} + 1, sizeof(size_t));"));
        self.line(&format!("{bounds}[0] = {first};"));
        self.nest(&format!("for (size_t chunk = 1; chunk < {chunks}; chunk++)"), |printer| {
            let names = ["share", "low", "high", "middle"].map(|wish| printer.namer.name(wish));
            let [share, low, high, middle] = &names;
            printer.line(&format!(
                "const size_t {share} = {work} / {chunks} * chunk + {work} % {chunks} * chunk / {chunks};"
            ));
            printer.line(&format!("size_t {low} = {bounds}[chunk - 1], {high} = {last};"));
            printer.nest(&format!("while ({low} < {high})"), |printer| {
                printer.line(&format!("const size_t {middle} = {low} + ({high} - {low}) / 2;"));
                let before = weighed(printer, middle);
                printer.line(&format!("if ({before} - {none} < {share}) {low} = {middle} + 1;"));
                printer.line(&format!("else {high} = {middle};"));
            });
            if let Some(aligned) = parallel.aligned {
                let [here, there] = [low.clone(), format!("{low} - 1")].map(|place| printer.element(aligned, &place));
                printer.line(&format!("while ({low} > {first} && {low} < {last} && {here} == {there}) {low}++;"));
            }
            printer.line(&format!("{bounds}[chunk] = {low};"));
        });
        self.line(&format!("if ({chunks} > 0) {bounds}[{chunks}] = {last};"));
        self.line(&format!("{chunks} = spc_distinct({bounds}, {chunks});"));
        if parallel.uneven.is_some() {
            self.line(&format!("size_t {heaviest} = 0;"));
            self.nest(&format!("for (size_t chunk = 0; chunk < {chunks}; chunk++)"), |printer| {
                let [low, high, weight] = ["low", "high", "weight"].map(|wish| printer.namer.name(wish));
                printer.line(&format!("const size_t {low} = {bounds}[chunk], {high} = {bounds}[chunk + 1];"));
                let (before, until) = (weighed(printer, &low), weighed(printer, &high));
                printer.line(&format!("const size_t {weight} = {until} - ({before});"));
                printer.line(&format!("if ({weight} > {heaviest}) {heaviest} = {weight};"));
            });
        }
        Range { end: last, work, chunks, bounds, heaviest }
    }

    /// Runs the body for each chunk.
    fn run(&mut self, parallel: &Parallel, range: &Range) {
        let Range { end, chunks, bounds, .. } = range;
        let outside = self.arrays.clone();
        let mut parts: Vec<Part> = Vec::new();
        for (array, sharing) in &parallel.sharing {
            let part = self.shared(*array, sharing, range);
            parts.extend(part);
        }
        let mut totals: Vec<Total> = Vec::new();
        for (variable, operator) in &parallel.reductions {
            let (name, ty) = (self.variables[variable].clone(), self.kernel.variable(*variable).ty);
            let all = self.namer.name(&format!("{name}_parts"));
            let c = type_name(ty);
            self.line(&format!("{c} *const {all} = spc_memory({chunks}, sizeof({c}));"));
            totals.push(Total { variable: *variable, operator: *operator, name, parts: all });
        }
        self.line("#pragma omp parallel for schedule(dynamic, 1)");
        self.nest(&format!("for (size_t chunk = 0; chunk < {chunks}; chunk++)"), |printer| {
            let (low, high) = (printer.declare_variable(parallel.low), printer.declare_variable(parallel.high));
            printer.line(&format!("const size_t {low} = {bounds}[chunk], {high} = {bounds}[chunk + 1];"));
            for part in &mut parts {
                printer.take(part, &high, end);
            }
            let mut inside = Vec::new();
            for total in &totals {
                let ty = printer.kernel.variable(total.variable).ty;
                let identity = printer.identity(total.operator, ty);
                let name = printer.declare_variable(total.variable);
                printer.line(&format!("{} {name} = {identity};", type_name(ty)));
                inside.push(name);
            }
            printer.block(&parallel.body);
            for part in &parts {
                printer.give(part);
            }
            for (total, name) in totals.iter().zip(inside) {
                printer.line(&format!("{}[chunk] = {name};", total.parts));
            }
        });
        self.arrays = outside;
        for Total { variable, operator, name, parts } in &totals {
            self.variables.insert(*variable, name.clone());
            let ty = self.kernel.variable(*variable).ty;
            self.nest(&format!("for (size_t chunk = 0; chunk < {chunks}; chunk++)"), |printer| {
                let is_ordered = printer.ordered.has_variable(*variable);
                printer.update(name, *operator, ty, &format!("{parts}[chunk]"), is_ordered);
            });
            self.line(&format!("free({parts});"));
        }
        self.join(&parts, range);
    }

    /// What chunks share an array through.
    fn shared(&mut self, array: ArrayId, sharing: &Sharing, range: &Range) -> Option<Part> {
        let held = self.kernel.array(array).element;
        let (ty, chunks) = (element_name(held), &range.chunks);
        let whole = match &self.arrays[&array] {
            Held::Elements(name) | Held::Vector(name) => name.clone(),
            Held::Segments { .. } | Held::Numbers { .. } => unreachable!("a parallel loop is in no other"),
        };
        let parts = |printer: &mut Self, wish: &str| printer.namer.name(&format!("{whole}_{wish}"));
        let (all, length) = match sharing {
            Sharing::Owned { .. } => return None,
            Sharing::Private(_) => {
                let length = self.length(array);
                let all = parts(self, "copies");
                self.helpers.product();
                self.line(&format!(
                    "{ty} *const {all} = spc_memory({chunks} > 1 ? spc_product({chunks} - 1, {length}) : 0, sizeof({ty}));"
                ));
                (all, length)
            }
            Sharing::Segmented { length, operator, anew, .. } => {
                if *anew {
                    let (identity, every) = (self.identity_of(*operator, array), self.length(array));
                    self.line("#pragma omp parallel for schedule(static)");
                    self.line(&format!("for (size_t n = 0; n < {every}; n++) {whole}[n] = {identity};"));
                }
                let (length, all) = (self.expr(length), parts(self, "next"));
                let known = parts(self, "segment");
                self.helpers.product();
                self.line(&format!("const size_t {known} = {length};"));
                // Chunks do not write to one cache line.
                self.line(&format!(
                    "{ty} *const {all} = spc_memory(spc_product({chunks}, {known} + 64), sizeof({ty}));"
                ));
                (all, known)
            }
            Sharing::Joined { .. } => {
                let all = parts(self, "parts");
                self.line(&format!("spc_vector *const {all} = spc_memory({chunks}, sizeof(spc_vector));"));
                (all, String::new())
            }
        };
        Some(Part { array, sharing: sharing.clone(), whole, all, length, inside: String::new() })
    }

    /// What a chunk gets of an array.
    fn take(&mut self, part: &mut Part, high: &str, end: &str) {
        let held = self.kernel.array(part.array).element;
        let ty = element_name(held);
        let (all, length) = (part.all.clone(), part.length.clone());
        let name = self.namer.name(&self.kernel.array(part.array).name);
        match &part.sharing {
            Sharing::Owned { .. } => {}
            Sharing::Private(operator) => {
                let identity = self.identity_of(*operator, part.array);
                let whole = &part.whole;
                self.line(&format!("{ty} *const {name} = chunk == 0 ? {whole} : {all} + (chunk - 1) * {length};"));
                self.line("if (chunk > 0) {");
                self.line(&format!("    for (size_t n = 0; n < {length}; n++) {name}[n] = {identity};"));
                self.line("}");
                self.arrays.insert(part.array, Held::Elements(name.clone()));
            }
            Sharing::Segmented { place, start, operator, .. } => {
                let identity = self.identity_of(*operator, part.array);
                self.variables.insert(*place, high.to_owned());
                let start = self.expr(start);
                let bound = self.namer.name(&format!("{name}_end"));
                self.line(&format!("const size_t {bound} = {high} < {end} ? {start} : SIZE_MAX;"));
                self.line(&format!("{ty} *const {name} = {all} + chunk * ({length} + 64);"));
                self.line(&format!("for (size_t n = 0; n < {length}; n++) {name}[n] = {identity};"));
                let held = Held::Segments { whole: part.whole.clone(), end: bound, next: name.clone() };
                self.arrays.insert(part.array, held);
            }
            Sharing::Joined { .. } => {
                self.line(&format!("spc_vector {name} = {{0}};"));
                self.arrays.insert(part.array, Held::Vector(name.clone()));
            }
        }
        part.inside = name;
    }

    /// What a chunk leaves.
    fn give(&mut self, part: &Part) {
        if let Sharing::Joined { .. } = part.sharing {
            self.line(&format!("{}[chunk] = {};", part.all, part.inside));
        }
    }

    /// Brings together what chunks wrote.
    fn join(&mut self, parts: &[Part], range: &Range) {
        let Range { chunks, bounds, .. } = range;
        let of = |array: ArrayId| parts.iter().find(|part| part.array == array).map(|part| part.all.clone());
        for Part { array, sharing, whole, all, .. } in parts {
            if let Sharing::Joined { positions_of: Some(children) } = sharing {
                let join = self.helpers.join_positions(self.kernel.array(*array).element);
                let children = of(*children).expect("positions are joined beside what they point into");
                self.line(&format!("{join}(&{whole}, {all}, {children}, {chunks});"));
            }
        }
        for Part { array, sharing, whole, all, length, .. } in parts {
            let held = self.kernel.array(*array).element;
            match sharing {
                Sharing::Owned { .. } | Sharing::Joined { positions_of: Some(_) } => {}
                Sharing::Joined { positions_of: None } => {
                    self.helpers.join();
                    self.line(&format!("spc_join(&{whole}, {all}, {chunks}, sizeof({}));", element_name(held)));
                }
                Sharing::Private(operator) => {
                    self.line("#pragma omp parallel for schedule(static)");
                    self.nest(&format!("for (size_t n = 0; n < {length}; n++)"), |printer| {
                        printer.nest(&format!("for (size_t chunk = 1; chunk < {chunks}; chunk++)"), |printer| {
                            let from = format!("{all}[(chunk - 1) * {length} + n]");
                            printer.meet(*array, *operator, &format!("{whole}[n]"), &from);
                        });
                    });
                    self.line(&format!("free({all});"));
                }
                Sharing::Segmented { place, start, operator, .. } => {
                    self.nest(&format!("for (size_t chunk = 0; chunk + 1 < {chunks}; chunk++)"), |printer| {
                        printer.variables.insert(*place, format!("{bounds}[chunk + 1]"));
                        let (start, first) = (printer.expr(start), printer.namer.name("first"));
                        printer.line(&format!("const size_t {first} = {start};"));
                        printer.nest(&format!("for (size_t n = 0; n < {length}; n++)"), |printer| {
                            let from = format!("{all}[chunk * ({length} + 64) + n]");
                            printer.meet(*array, *operator, &format!("{whole}[{first} + n]"), &from);
                        });
                    });
                    self.line(&format!("free({all});"));
                }
            }
        }
    }

    /// Combines an element with another.
    fn meet(&mut self, array: ArrayId, operator: ReduceOperator, into: &str, from: &str) {
        match self.kernel.array(array).element {
            ArrayElement::Value(stored) if stored.is_stored_only() => {
                self.helpers.half();
                let [into_value, from] = [into, from].map(|text| format!("spc_f32_of_{}({text})", stored.name()));
                let combined = self.combined(operator, Type::Element(ElementType::F32), (&into_value, &from), false);
                let rounded = self.rounded(array, combined);
                self.line(&format!("{into} = {rounded};"));
            }
            held => {
                let is_ordered = self.ordered.has_array(array);
                self.update(into, operator, held.ty(), from, is_ordered);
            }
        }
    }

    fn identity(&mut self, operator: ReduceOperator, ty: Type) -> String {
        let value = operator.identity_of(ty).expect("verified: what is reduced has an identity");
        self.expr(&value)
    }

    /// The identity as an element of an array.
    fn identity_of(&mut self, operator: ReduceOperator, array: ArrayId) -> String {
        let value = match self.kernel.array(array).element {
            ArrayElement::Value(element) => {
                let identity = operator.identity(element.computed()).expect("verified: it has one");
                literal(identity)
            }
            held @ ArrayElement::Index(_) => self.identity(operator, held.ty()),
        };
        self.rounded(array, value)
    }
}

/// The names of what a range is cut into.
struct Range {
    end: String,
    work: String,
    chunks: String,
    bounds: String,
    heaviest: String,
}

/// An array that chunks share, and the names of what they share it through.
struct Part {
    array: ArrayId,
    sharing: Sharing,
    whole: String,
    /// What all chunks have.
    all: String,
    /// How long a copy or a segment is.
    length: String,
    /// What a chunk has.
    inside: String,
}

/// A variable that chunks reduce into.
struct Total {
    variable: VariableId,
    operator: ReduceOperator,
    name: String,
    parts: String,
}
