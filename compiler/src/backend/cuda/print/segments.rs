//! Shares of places that a warp takes, of which each of its lanes has one at a time: what lanes sum, and the bits that they collect.
//!
//! ```text
//! low = where the share begins, row = that of low      for first in low..high by 32
//!                                                          place = first + lane, i = row of place
//!                                                          if (place < high) { … appends = true … }
//!                                                          ones = ballot(appends): bits[first / 32], counts[first / 32]
//! ```

use super::{Printer, element, type_name};
use crate::gpu::{Flags, Places, Segments, Share, Summed, Together, WARP};
use crate::ir::{Expr, Type};

impl Printer<'_> {
    /// A warp's share of places, of which each of its lanes takes one at a time.
    pub(super) fn segments(&mut self, places: &Places, share: &Share, segments: &Segments) {
        let sum = match &segments.together {
            Some(Together::Sum(sum)) => Some(self.warp_sum(*sum)),
            _ => None,
        };
        let flags: &[Flags] = match &segments.together {
            Some(Together::Flags(flags)) => flags,
            _ => &[],
        };
        let [lane, low, high, first] = ["lane", "low", "high", "first"].map(|name| self.namer.name(name));
        let value = self.expr(&share.value);
        let size = self.declare_variable(share.size);
        let begin = match places.begin {
            Expr::Index(0) => String::new(),
            _ => format!("{} + ", self.expr(&places.begin)),
        };
        self.line(&format!("const u64 {lane} = threadIdx.x;"));
        self.line(&format!("const u64 {size} = {value};"));
        let warp = "(u64)blockIdx.x * blockDim.y + threadIdx.y";
        let (list, end) = match &segments.lists {
            None => {
                let end = self.operand(&places.end);
                self.line(&format!("const u64 {low} = {begin}({warp}) * {size};"));
                (None, end)
            }
            Some(lists) => {
                let (warp_name, count) = (self.namer.name("warp"), lists.ends.len());
                self.line(&format!("const u64 {warp_name} = {warp};"));
                let list = self.declare_variable(lists.list);
                self.line(&format!("const u64 {list} = {warp_name} % {count};"));
                let ends: Vec<String> = lists.ends.iter().map(|end| self.expr(end)).collect();
                let end = self.of_list("u64", "end", Some(&list), &ends);
                self.line(&format!("const u64 {low} = {warp_name} / {count} * {size};"));
                (Some(list), end)
            }
        };
        self.line(&format!("if ({low} >= {end}) return;"));
        self.line(&format!("const u64 {high} = min((u64)({low} + {size}), (u64)({end}));"));
        let rows = segments.rows.as_ref().map(|rows| {
            let held = self.kernel.array(rows.positions[0]).element;
            let (row_of, find) = (self.helpers.row_of(held), self.helpers.find(held));
            let names: Vec<String> = rows.positions.iter().map(|positions| self.arrays[positions].clone()).collect();
            let lengths: Vec<String> = rows.positions.iter().map(|positions| self.lengths[positions].clone()).collect();
            let positions = self.of_list(&format!("{}*", element(held)), "positions", list.as_deref(), &names);
            let length = self.of_list("u64", "length", list.as_deref(), &lengths);
            let row = self.namer.name("row");
            self.line(&format!("u64 {row} = {find}({positions}, 0, {length}, {low} + 1, {lane}) - 1;"));
            (rows.row, row.clone(), format!("{row_of}({positions}, {row}, {length}, "))
        });
        let words = flags.iter().map(|flags| {
            let begins: Vec<String> = flags.begins.iter().map(|begin| self.expr(begin)).collect();
            self.of_list("u64", "begin", list.as_deref(), &begins)
        });
        let words: Vec<String> = words.collect();
        let sum = sum.map(|sum| {
            let (held, total) = (self.namer.name("segment"), self.namer.name("sum"));
            self.line("// What this lane has, and of which element.");
            self.line(&format!("u64 {held} = ~0ull;"));
            self.line(&format!("{} {total} = {};", sum.type_name, sum.identity));
            (sum, held, total)
        });
        self.nest(&format!("for (u64 {first} = {low}; {first} < {high}; {first} += {WARP})"), |printer| {
            let place = printer.declare_variable(places.place);
            let own = sum
                .as_ref()
                .map(|(sum, ..)| (printer.declare_variable(sum.of.element), printer.declare_variable(sum.of.value)));
            printer.line(&format!("const u64 {place} = {first} + {lane};"));
            if let Some((variable, row, row_of)) = &rows {
                let own = printer.declare_variable(*variable);
                printer.line(&format!("const u64 {own} = {row_of}{place}, {lane});"));
                printer.line(&format!("{row} = __shfl_sync(0xffffffffu, {own}, {});", WARP - 1));
            }
            if let (Some((sum, ..)), Some((element, value))) = (&sum, &own) {
                printer.line(&format!("u64 {element} = ~0ull;"));
                printer.line(&format!("{} {value} = {};", sum.type_name, sum.identity));
            }
            for flags in flags {
                let flag = printer.declare_variable(flags.flag);
                printer.line(&format!("bool {flag} = false;"));
            }
            printer.nest(&format!("if ({place} < {high})"), |printer| printer.block(&printer.function.body));
            for (flags, begin) in flags.iter().zip(&words) {
                printer.collect_flags(flags, begin, &lane, &first);
            }
            let (Some((sum, held, total)), Some((element, value))) = (&sum, &own) else { return };
            printer.line(&format!("if (__all_sync(0xffffffffu, {element} == {held})) {{"));
            printer.depth += 1;
            printer.update(total, sum.of.operator, sum.ty, value);
            printer.depth -= 1;
            printer.nest("} else", |printer| {
                printer.line(&format!("{}({}, {held}, {total});", sum.meet, sum.array));
                printer.line(&format!("{held} = {element};"));
                printer.line(&format!("{total} = {value};"));
            });
        });
        if let Some((sum, held, total)) = sum {
            self.line(&format!("{}({}, {held}, {total});", sum.meet, sum.array));
        }
    }

    /// What a warp has of the list whose turn it is, of what all lists have; a name for it where they differ.
    fn of_list(&mut self, ty: &str, wish: &str, list: Option<&str>, all: &[String]) -> String {
        let (Some(list), Some((last, others))) = (list, all.split_last()) else { return all[0].clone() };
        let name = self.namer.name(wish);
        let others = others.iter().enumerate().map(|(number, one)| format!("{list} == {number} ? {one} : "));
        self.line(&format!("const {ty} {name} = {}{last};", others.collect::<String>()));
        name
    }

    /// A warp leaves the bits that its lanes have set, and how many.
    fn collect_flags(&mut self, flags: &Flags, begin: &str, lane: &str, first: &str) {
        let flag = self.variables[&flags.flag].clone();
        let [bits, counts] = [flags.bits, flags.counts].map(|array| self.arrays[&array].clone());
        let begin = if begin == "0" { String::new() } else { format!("{begin} + ") };
        let ones = self.namer.name("ones");
        self.line(&format!("const u32 {ones} = __ballot_sync(0xffffffffu, {flag});"));
        self.nest(&format!("if ({lane} == 0)"), |printer| {
            printer.line(&format!("{bits}[{begin}{first} / {WARP}] = {ones};"));
            printer.line(&format!("{counts}[{begin}{first} / {WARP}] = __popc({ones});"));
        });
    }

    /// What is printed of a sum of a warp.
    fn warp_sum(&mut self, of: Summed) -> WarpSum {
        let ty = self.kernel.variable(of.value).ty;
        let (type_name, identity) = (type_name(ty), self.identity(of.operator, ty));
        let held = self.kernel.array(of.array).element;
        self.define(of.operator, held.ty());
        let update = self.helpers.atomic(of.operator, held);
        let meet = self.helpers.meet(of.operator, held, &update);
        let array = self.arrays[&of.array].clone();
        WarpSum { of, ty, type_name, identity, meet, array }
    }
}

/// What a warp sums, as it is printed.
struct WarpSum {
    of: Summed,
    ty: Type,
    type_name: &'static str,
    identity: String,
    /// What lanes that have something of one element call, with the array.
    meet: String,
    array: String,
}
