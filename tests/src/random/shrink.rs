//! Smaller programs that fail in the same way.

use super::format::Storage;
use super::{Expr, Program};
use crate::number::Number;

impl Program {
    /// The smallest program that still `fails`, found greedily.
    pub fn shrink(&self, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
        let mut best = self.clone();
        let mut budget = 2000;
        loop {
            let smaller = best.smaller().into_iter().find(|candidate| {
                budget -= 1;
                budget > 0 && *candidate != best && fails(candidate)
            });
            match smaller {
                Some(candidate) => best = candidate,
                None => return best,
            }
        }
    }

    /// Programs that are a step smaller, those with the largest steps first.
    fn smaller(&self) -> Vec<Program> {
        let mut all = Vec::new();
        let mut with = |change: &dyn Fn(&mut Program)| {
            let mut program = self.clone();
            change(&mut program);
            all.push(program);
        };
        if self.totals {
            with(&|program| program.totals = false);
        }
        for place in 0..self.statements.len() {
            if place > 0 {
                with(&|program| _ = program.statements.remove(place));
            } else if self.statements.len() > 1 {
                // The update alone.
                with(&|program| _ = program.statements.remove(0));
            }
            if self.statements[place].mask.is_some() {
                with(&|program| program.statements[place].mask = None);
            }
            for comparison in 0..self.statements[place].condition.len() {
                with(&|program| _ = program.statements[place].condition.remove(comparison));
            }
            if place == 0 && self.statements[0].update != "=" {
                with(&|program| program.statements[0].update = "=");
            }
        }
        for made in 0..self.lets.len() {
            // Made by the caller instead.
            with(&|program| _ = program.lets.remove(made));
            if self.lets[made].declared {
                with(&|program| program.lets[made].declared = false);
            }
            if self.lets[made].mask.is_some() {
                with(&|program| program.lets[made].mask = None);
            }
            for value in smaller_exprs(&self.lets[made].value) {
                with(&|program| program.lets[made].value = value.clone());
            }
        }
        for place in 0..self.statements.len() {
            for value in smaller_exprs(&self.statements[place].value) {
                with(&|program| program.statements[place].value = value.clone());
            }
        }
        for tensor in self.used() {
            if self.tensors[tensor].element != self.element {
                with(&|program| program.tensors[tensor].element = program.element);
            }
        }
        for variable in 0..self.variables.len() {
            let extent = self.variables[variable].1;
            if extent > 8 {
                with(&|program| program.cut(variable, extent / 2));
            }
            if extent > 0 {
                with(&|program| program.cut(variable, extent - 1));
            }
        }
        all.extend(self.with_simpler_indices());
        let mut with = |change: &dyn Fn(&mut Program)| {
            let mut program = self.clone();
            change(&mut program);
            all.push(program);
        };
        for tensor in self.used() {
            let entries = &self.tensors[tensor].entries;
            let half = entries.len() / 2;
            if entries.len() > 3 && !self.tensors[tensor].storage.is_dense() {
                with(&|program| program.keep(tensor, 0..half));
                with(&|program| program.keep(tensor, half..entries.len()));
            }
        }
        for tensor in self.used() {
            for storage in simpler(&self.tensors[tensor].storage) {
                with(&|program| program.tensors[tensor].storage = storage.clone());
            }
        }
        for storage in simpler(&self.result) {
            with(&|program| program.result = storage.clone());
        }
        for tensor in self.used() {
            let dense = self.tensors[tensor].storage.is_dense();
            for index in self.tensors[tensor].entries.keys() {
                if dense {
                    with(&|program| {
                        _ = program.tensors[tensor].entries.insert(index.clone(), Number::of(self.element, 1.0))
                    });
                } else {
                    with(&|program| _ = program.tensors[tensor].entries.remove(index));
                }
            }
        }
        all
    }

    /// Fewer coordinates of an index variable.
    fn cut(&mut self, variable: usize, extent: usize) {
        self.variables[variable].1 = extent;
        self.trim();
    }

    /// Drops entries outside of their tensors.
    pub(super) fn trim(&mut self) {
        for tensor in self.used() {
            let shape = self.shape(tensor);
            let is_inside = |index: &Vec<usize>| index.iter().zip(&shape).all(|(index, extent)| index < extent);
            self.tensors[tensor].entries.retain(|index, _| is_inside(index));
        }
    }

    fn keep(&mut self, tensor: usize, places: std::ops::Range<usize>) {
        let mut place = 0;
        self.tensors[tensor].entries.retain(|_, _| {
            place += 1;
            places.contains(&(place - 1))
        });
    }
}

fn simpler(storage: &Storage) -> Vec<Storage> {
    let order = storage.order();
    let mut all = Vec::new();
    if storage.fill.is_some() {
        all.push(Storage { fill: None, ..storage.clone() });
    }
    let mut plain = storage.clone();
    plain.levels.iter_mut().enumerate().for_each(|(level, (mode, _))| *mode = level);
    all.push(Storage::dense(order));
    let csf = || Storage { fill: storage.fill, ..Storage::csf(order) };
    if storage.map.is_some() {
        all.push(csf());
        return all;
    }
    if !storage.is_dense() {
        if *storage != csf() {
            all.push(csf());
        }
        all.push(plain);
        for (level, (_, kind)) in storage.levels.iter().enumerate() {
            let mut simpler = storage.clone();
            match kind.as_str() {
                "dense" => continue,
                "compressed" => simpler.levels[level].1 = "dense".to_owned(),
                kind if kind.starts_with("compressed(u") || kind.starts_with("compressed(pos") => {
                    simpler.levels[level].1 = "compressed".to_owned();
                }
                kind if !kind.contains("singleton") && !kind.contains("nonunique") => {
                    simpler.levels[level].1 = "compressed".to_owned();
                }
                _ => continue,
            }
            all.push(simpler);
        }
    } else {
        all.push(plain);
    }
    all.retain(|candidate| candidate != storage);
    if storage.is_dense() {
        all.retain(Storage::is_dense);
    }
    all
}

fn smaller_exprs(expr: &Expr) -> Vec<Expr> {
    let mut all: Vec<Expr> = expr.children().into_iter().cloned().collect();
    for place in 0..expr.children().len() {
        for child in smaller_exprs(expr.children()[place]) {
            let mut smaller = expr.clone();
            *smaller.children_mut()[place] = child;
            all.push(smaller);
        }
    }
    if !matches!(expr, Expr::Literal(_)) {
        all.push(Expr::Literal("2".to_owned()));
    }
    all
}
