//! Loops over the entries of a row that lanes take a chunk at a time.
//!
//! ```text
//! for p in pos[i]..pos[i + 1] vector      for (u64 p_begin = pos[i], p_end = pos[i + 1], first = p_begin / 4 * 4 + lane * 4; …) {
//!     t += x[p] * c[crd[p]]                   const u32_by_4 crd_row = *(const u32_by_4*)(crd + first);
//!                                             const f32_by_4 x_row = *(const f32_by_4*)(x + first);
//!                                             for (u64 strip = 0; strip < 4; strip++) {
//!                                                 const u64 p = first + strip;
//!                                                 if (p >= p_begin && p < p_end) t += x_row.e[strip] * c[crd_row.e[strip]];
//! ```
//!
//! The last chunk of all may be none: its entries are read one by one. So are those of rows that one lane takes: they have one or two.

use super::Printer;
use super::vectors::Moved;
use crate::gpu::chunks::CHUNK;
use crate::gpu::plan::{Group, UNROLLED, VECTOR_BYTES, bytes};
use crate::ir::{ArrayId, Expr, Statement, VariableId};

impl Printer<'_> {
    /// A loop over a range, of which the elements of `arrays` are loaded in chunks.
    pub(super) fn chunks(
        &mut self,
        group: Group,
        (variable, begin, end): (VariableId, &Expr, &Expr),
        body: &[Statement],
        arrays: &[ArrayId],
    ) {
        let [lane, width] = [group.lane, group.width].map(|variable| self.variables[&variable].clone());
        let (begin, end) = (self.expr(begin), self.expr(end));
        self.line(&format!("if ({width} == 1) {{"));
        self.depth += 1;
        self.namer.enter();
        let entry = self.declare_variable(variable);
        self.line(&format!("#pragma unroll {UNROLLED}"));
        let last = self.namer.name(&format!("{entry}_end"));
        let all = format!("for (u64 {entry} = {begin}, {last} = {end}; {entry} < {last}; {entry}++)");
        self.nest(&all, |printer| printer.block(body));
        self.namer.leave();
        self.depth -= 1;
        self.line("} else {");
        self.depth += 1;
        self.namer.enter();
        let name = self.scoped_name(variable);
        let (from, to) = (self.namer.name(&format!("{name}_begin")), self.namer.name(&format!("{name}_end")));
        let first = self.declare_variable(group.first);
        let length = self.lengths[&arrays[0]].clone();
        let start = format!("{from} = {begin}, {to} = {end}, {first} = {from} / {CHUNK} * {CHUNK} + {lane} * {CHUNK}");
        self.nest(&format!("for (u64 {start}; {first} < {to}; {first} += {width} * {CHUNK})"), |printer| {
            printer.line(&format!("if ({first} + {CHUNK} <= {length}) {{"));
            printer.depth += 1;
            printer.namer.enter();
            let strip = printer.scoped_name(group.strip);
            for &array in arrays {
                let (row, of) = (printer.moved_name(array), printer.arrays[&array].clone());
                let at_once = (VECTOR_BYTES / bytes(printer.kernel, array)).clamp(1, CHUNK);
                let ty = printer.vector_type(array, at_once);
                let pieces: Vec<String> = (0..CHUNK / at_once)
                    .map(|piece| match piece * at_once {
                        0 => format!("*(const {ty}*)({of} + {first})"),
                        begin => format!("*(const {ty}*)({of} + {first} + {begin})"),
                    })
                    .collect();
                let element = match &pieces[..] {
                    [all] => {
                        printer.line(&format!("const {ty} {row} = {all};"));
                        format!("{row}.e[{strip}]")
                    }
                    pieces => {
                        let count = pieces.len();
                        printer.line(&format!("const {ty} {row}[{count}] = {{{}}};", pieces.join(", ")));
                        format!("{row}[{strip} / {at_once}].e[{strip} % {at_once}]")
                    }
                };
                let index = Expr::Variable(variable);
                printer.moved.push(Moved { array, index, name: row, element });
            }
            printer.line("#pragma unroll");
            let strip = printer.declare_variable(group.strip);
            printer.nest(&format!("for (u64 {strip} = 0; {strip} < {CHUNK}; {strip}++)"), |printer| {
                let entry = printer.declare_variable(variable);
                printer.line(&format!("const u64 {entry} = {first} + {strip};"));
                printer.nest(&format!("if ({entry} >= {from} && {entry} < {to})"), |printer| printer.block(body));
            });
            printer.moved.clear();
            printer.namer.leave();
            printer.depth -= 1;
            printer.nest("} else", |printer| {
                let entry = printer.declare_variable(variable);
                printer.line("#pragma unroll 1");
                let head = format!("for (u64 {entry} = max({first}, {from}); {entry} < {to}; {entry}++)");
                printer.nest(&head, |printer| printer.block(body));
            });
        });
        self.namer.leave();
        self.depth -= 1;
        self.line("}");
    }
}
