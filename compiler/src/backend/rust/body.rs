//! Statements as Rust.

use super::expr::literal;
use super::spelling::{self, Reduction};
use super::{Access, Printer, access, element, ident};
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, Combine, Count, Domain, ElementType, Expr, Literal, Merge,
    Parallel, ReduceOperator, Sharing, Size, Statement, Type, VariableId, Weights,
};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// The most elements of a row that are converted before a loop takes them: they are in registers, or in the first cache.
const MOST_CONVERTED: u64 = 256;

/// The most elements of a row that the run time has masks for.
const MOST_MASKED: u64 = 64;

impl Printer<'_> {
    /// The statements of a block, in a scope of their own.
    pub(super) fn block(&mut self, statements: &[Statement]) -> TokenStream {
        self.namer.enter();
        let mut tokens = TokenStream::new();
        let mut comments: Vec<&str> = Vec::new();
        for (place, statement) in statements.iter().enumerate() {
            if let Statement::Comment(text) = statement {
                comments.push(text);
                continue;
            }
            if let Statement::View { array, of, length, mutable: false, .. } = statement
                && self.is_converted(*of, length, *array, &statements[place + 1..])
            {
                self.converted.insert(*array);
            }
            if self.options.comments {
                let comments = comments.iter().map(|text| format!(" {text}"));
                tokens.extend(quote!(#(#[comment = #comments])*));
            }
            comments.clear();
            tokens.extend(self.statement(statement));
        }
        self.namer.leave();
        tokens
    }

    fn statement(&mut self, statement: &Statement) -> TokenStream {
        match statement {
            Statement::Comment(_) => TokenStream::new(),
            Statement::Let(variable, mask @ Expr::Mask { .. }) if !self.kernel.variable(*variable).mutable => {
                let bits = self.bits(mask);
                let name = self.declare_variable(*variable);
                self.masks.insert(*variable);
                quote!(let #name = #bits;)
            }
            Statement::Let(variable, value) => {
                let ty = self.annotation(*variable, value);
                let value = self.expr(value);
                let mutable = self.mutable(*variable);
                let name = self.declare_variable(*variable);
                let masks = self.masks_of(*variable);
                quote!(let #mutable #name #ty = #value; #masks)
            }
            Statement::Assign(variable, value) => {
                let name = &self.variables[variable];
                match value {
                    Expr::Binary(BinaryOperator::Add, first, step)
                        if **first == Expr::Variable(*variable) && matches!(**step, Expr::Index(_)) =>
                    {
                        let step = self.expr(step);
                        quote!(#name += #step;)
                    }
                    value => {
                        let value = self.expr(value);
                        quote!(#name = #value;)
                    }
                }
            }
            Statement::Update(variable, operator, value) => {
                let name = self.variables[variable].clone();
                let element = match self.kernel.variable(*variable).ty {
                    Type::Element(element) => Some(element),
                    Type::Index | Type::Bool => None,
                };
                let name = quote!(#name);
                if let Some((one, other)) = factors(*operator, element, value).filter(|_| !value.uses(*variable)) {
                    return self.add_product(&name, one, other);
                }
                let value = self.expr(value);
                if self.ordered.has_variable(*variable)
                    && let Some(tokens) = self.update_ordered(&name, *operator, &value)
                {
                    return tokens;
                }
                self.update(&name, &name, *operator, self.kernel.variable(*variable).ty, &value)
            }
            Statement::Store(array, index, value) => {
                let (name, index, value) = (&self.arrays[array], self.expr(index), self.stored(*array, value));
                quote!(#name[#index] = #value;)
            }
            Statement::Reduce(array, index, operator, value) => {
                if let Some(operator) = self.written_out(*array, *operator, value) {
                    let value = Expr::binary(operator, Expr::load(*array, index.clone()), value.clone());
                    return self.statement(&Statement::Store(*array, index.clone(), value));
                }
                let (name, index) = (&self.arrays[array], self.expr(index));
                let place = quote!(#name[#index]);
                let element = self.array_element(*array);
                if let Some((one, other)) = factors(*operator, element, value).filter(|_| !reads(value, *array)) {
                    return self.add_product(&place, one, other);
                }
                let value = self.expr(value);
                if self.ordered.has_array(*array)
                    && let Some(tokens) = self.update_ordered(&place, *operator, &value)
                {
                    return tokens;
                }
                self.update(&place, &place, *operator, self.kernel.array(*array).element.ty(), &value)
            }
            Statement::Allocate { array, fill, .. } if self.held.count(*array).is_some() => {
                let fill = self.filled(*array, fill);
                let name = self.declare_array(*array);
                quote!(let mut #name = #fill;)
            }
            Statement::Allocate { array, length, fill } => {
                let (shape, fill) = (self.shape(length), self.stored(*array, fill));
                let name = self.declare_array(*array);
                let is_static = match length {
                    Expr::Index(length) => *length <= 1024,
                    Expr::Dimension(id) => self.kernel.dimension(*id).size == Size::Generic,
                    _ => false,
                };
                if is_static {
                    self.sized.insert(*array);
                    quote!(let mut #name = [#fill; #(#shape)*];)
                } else {
                    let helpers = &self.options.parallel;
                    // Loops keep a slice in registers.
                    let tokens = quote!(let #name = &mut #helpers::array(#fill, [#(#shape),*])[..];);
                    self.slices.insert(*array);
                    tokens
                }
            }
            Statement::Folds { totals, terms, between } => {
                let Expr::Fold(operator, term) = terms else { unreachable!("verified: totals of terms") };
                let (name, terms) = (self.arrays[totals].clone(), self.term(term));
                let lent = if self.slices.contains(totals) { quote!(#name) } else { quote!(&mut #name) };
                let positions = between.as_ref().map(|positions| &self.arrays[positions]);
                match (operator, positions) {
                    (ReduceOperator::Add, Some(positions)) => quote!(#terms.sums_between(#positions, #name);),
                    (ReduceOperator::Add, None) => quote!(#terms.sums_in_turns(#lent);),
                    (operator, positions) => {
                        let operator = self.monoid(*operator);
                        match positions {
                            Some(positions) => quote!(#terms.reduce_between(#operator, #positions, #name);),
                            None => quote!(#terms.reduce_in_turns(#operator, #lent);),
                        }
                    }
                }
            }
            Statement::Fill(array, value) if self.held.count(*array).is_some() => {
                let (name, value) = (self.arrays[array].clone(), self.filled(*array, value));
                quote!(#name = #value;)
            }
            Statement::Fill(array, value) => {
                let (name, value) = (&self.arrays[array], self.stored(*array, value));
                // The method is a function of its own where kernels share those of the helpers, and what a function is given lies in memory.
                if self.sized.contains(array) && !self.copied.contains(array) {
                    let helpers = &self.options.parallel;
                    quote!(#helpers::fill(&mut #name, #value);)
                } else {
                    quote!(#name.fill(#value);)
                }
            }
            Statement::View { array, of, begin, length, mutable } => {
                let is_converted = self.converted.contains(array);
                let helpers = self.options.parallel.clone();
                if let Some(row) = self.row(*of, begin, length, *mutable) {
                    let name = self.declare_array(*array);
                    return match is_converted {
                        true => quote!(let #name = #helpers::numbers(#row);),
                        false => quote!(let #name = #row;),
                    };
                }
                if let Some(row) = self.row_of_any_length(*of, begin, length, *mutable).filter(|_| !is_converted) {
                    let name = self.declare_array(*array);
                    return quote!(let #name = #row;);
                }
                let of = self.arrays[of].clone();
                let end = self.expr(&begin.clone().plus(length.clone()));
                let begin = if *begin == Expr::Index(0) { TokenStream::new() } else { self.expr(begin) };
                let length = self.expr(length);
                let name = self.declare_array(*array);
                if *mutable {
                    quote!(let #name = &mut #of[#begin..#end];)
                } else if is_converted {
                    quote!(let #name = #helpers::numbers_of::<#length, _>(&#of[#begin..#end]);)
                } else {
                    quote!(let #name = &#of[#begin..#end];)
                }
            }
            Statement::Numbers { array, codes, mask, below } => {
                let (bits, codes, below) = (self.bits(mask), self.arrays[codes].clone(), self.expr(below));
                let name = self.declare_array(*array);
                self.numbers.insert(*array);
                quote!(let #name = #bits.numbers(#codes, #below);)
            }
            Statement::List(array) => {
                let element = element(self.kernel.array(*array).element);
                let vec = self.std_path("vec", "Vec");
                let name = self.declare_array(*array);
                quote!(let mut #name = #vec::<#element>::new();)
            }
            Statement::Table { table, extent } => {
                let helpers = self.options.parallel.clone();
                let shape = self.shape(extent);
                let name = self.declare_array(*table);
                quote!(let mut #name = #helpers::Table::new([#(#shape),*]);)
            }
            Statement::Directory { directory, positions, coordinates, extent, sought } => {
                let helpers = self.options.parallel.clone();
                let [positions, coordinates, sought] =
                    [positions, coordinates, sought].map(|array| self.arrays[array].clone());
                let extent = self.expr(extent);
                let name = self.declare_array(*directory);
                quote!(let #name = #helpers::Directory::new(#positions, #coordinates, #extent, #sought.len());)
            }
            Statement::Bitmap { bitmap, extent } => {
                let helpers = self.options.parallel.clone();
                let extent = self.expr(extent);
                let name = self.declare_array(*bitmap);
                quote! {
                    let mut #name = #helpers::Bitmap::new(#extent);
                    let mut #name = #name.lent();
                }
            }
            Statement::Mark(bitmap, key) => {
                let (name, key) = (&self.arrays[bitmap], self.expr(key));
                quote!(#name.mark(#key);)
            }
            Statement::Marked { variable, bitmap, body } => {
                let bitmap = self.arrays[bitmap].clone();
                self.namer.enter();
                let name = self.declare_variable(*variable);
                let body = self.block(body);
                self.namer.leave();
                quote!(for #name in #bitmap.drain() { #body })
            }
            Statement::Insert { place, key, keys, table } => {
                let key = self.stored(*keys, key);
                let (keys, table) = (self.arrays[keys].clone(), self.arrays[table].clone());
                let place = self.declare_variable(*place);
                quote!(let #place = #table.insert(&mut #keys, #key);)
            }
            Statement::Sort { keys, places, table } => {
                let helpers = &self.options.parallel;
                let (keys, places) = (&self.arrays[keys], &self.arrays[places]);
                match table.as_ref().map(|table| &self.arrays[table]) {
                    Some(table) => quote!(#table.sort(&mut #keys, &mut #places);),
                    None => quote!(#helpers::sort(&mut #keys, &mut #places);),
                }
            }
            Statement::Clear(array) => {
                let name = &self.arrays[array];
                quote!(#name.clear();)
            }
            Statement::Reset { keys, table } => {
                let (keys, table) = (&self.arrays[keys], &self.arrays[table]);
                quote!(#table.reset(&mut #keys);)
            }
            Statement::Push(array, value) => {
                let (name, value) = (self.arrays[array].clone(), self.stored(*array, value));
                if self.taken.contains(array) {
                    return quote!(#name.push(#value););
                }
                let (helpers, name) = (&self.options.parallel, self.borrowed(*array, &name));
                quote!(#helpers::push(#name, #value);)
            }
            Statement::Extend { array, count, fill } => {
                let (name, fill) = (self.arrays[array].clone(), self.stored(*array, fill));
                let shape = self.shape(count);
                let (helpers, name) = (&self.options.parallel, self.borrowed(*array, &name));
                quote!(#helpers::extend(#name, [#(#shape),*], #fill);)
            }
            Statement::For { variable, end, body, .. } if self.held.holds(self.kernel, statement).is_some() => {
                self.in_vectors(*variable, end, body)
            }
            Statement::For { variable, begin, end, vector, body } => {
                let begin = self.at_least(begin, crate::ir::precedence::Precedence::Or);
                let (length, end) = (end, self.expr(end));
                self.namer.enter();
                let name = self.declare_variable(*variable);
                let is_used = body.iter().any(|statement| statement.uses(*variable));
                self.vectors.extend(vector.then_some(*variable));
                let (beyond, body) = match self.beyond(*variable, length, body) {
                    Some((beyond, body)) => (Some(beyond), body),
                    None => (None, self.block(body)),
                };
                self.vectors.truncate(self.vectors.len() - usize::from(*vector));
                self.namer.leave();
                let name = if is_used { quote!(#name) } else { quote!(_) };
                quote!(#beyond for #name in #begin..#end { #body })
            }
            Statement::While(condition, body) => {
                let (condition, body) = (self.expr(condition), self.block(body));
                quote!(while #condition { #body })
            }
            Statement::Merge(merge) => self.runs(merge),
            Statement::If(branches, otherwise) => self.branches(branches, otherwise),
            Statement::Parallel(parallel) => self.parallel(parallel),
        }
    }

    /// The common coordinates of two runs: `for (pA, pB) in intersection(A_crd, pA..pA_end, B_crd, …) { let j = A_crd[pA]; … }`
    fn runs(&mut self, merge: &Merge) -> TokenStream {
        let body = merge.intersection().expect("other merges are loops here");
        let helpers = self.options.parallel.clone();
        let (meets, first) = match &merge.directory {
            None => (quote!(#helpers::intersection), None),
            Some(look_up) => {
                let (name, parent) = (self.arrays[&look_up.directory].clone(), self.expr(&look_up.parent));
                (quote!(#helpers::intersection_in), Some(quote!((&#name, #parent),)))
            }
        };
        let runs: Vec<TokenStream> = merge
            .walks
            .iter()
            .map(|walk| {
                let begin = self.at_least(&walk.begin, crate::ir::precedence::Precedence::Or);
                let array = walk.array().expect("other merges are loops here");
                let (array, end) = (self.arrays[&array].clone(), self.expr(&walk.end));
                quote!(#array, #begin..#end)
            })
            .collect();
        self.namer.enter();
        let is_used = |variable: VariableId| body.iter().any(|statement| statement.uses(variable));
        let names: Vec<Ident> = merge.walks.iter().map(|walk| self.declare_variable(walk.place)).collect();
        let coordinate = is_used(merge.coordinate).then(|| {
            let (value, name) = (self.expr(&merge.walks[0].at), self.declare_variable(merge.coordinate));
            quote!(let #name = #value;)
        });
        let body = self.block(body);
        self.namer.leave();
        let places = merge.walks.iter().zip(&names).enumerate().map(|(number, (walk, name))| {
            let is_asked = is_used(walk.place) || number == 0 && coordinate.is_some();
            if is_asked { quote!(#name) } else { quote!(_) }
        });
        quote!(for (#(#places),*) in #meets(#first #(#runs),*) { #coordinate #body })
    }

    /// A loop that adds to elements of a row but for the first ones, and what says which these are. Compilers make a branch for each
    /// element of a choice between zero and another number, and no vectors.
    fn beyond(&mut self, counter: VariableId, end: &Expr, body: &[Statement]) -> Option<(TokenStream, TokenStream)> {
        let &Expr::Index(length @ ..=MOST_MASKED) = end else { return None };
        let [Statement::Reduce(array, index, ReduceOperator::Add, value)] = body else { return None };
        let (ty, chosen) = match value {
            Expr::Cast(ty, chosen) => (Some(*ty), &**chosen),
            chosen => (None, chosen),
        };
        let Expr::Select(is_first, zero, value) = chosen else { return None };
        let Expr::Binary(BinaryOperator::Less, place, first) = &**is_first else { return None };
        let is_zero = matches!(
            **zero,
            Expr::Literal(Literal::Float(ElementType::F32 | ElementType::F64, zero)) if zero == 0.0
        );
        let is_of_elements = **place == Expr::Variable(counter) && !first.uses(counter);
        // What another value is made of may be nowhere for the first elements.
        if !is_zero || !is_of_elements || !self.is_of_lanes(value) || self.ordered.has_array(*array) {
            return None;
        }
        let value = ty.map_or_else(|| (**value).clone(), |ty| Expr::Cast(ty, value.clone()));
        let (helpers, name) = (self.options.parallel.clone(), ident(&self.namer.name("beyond")));
        let length = super::expr::number(length);
        let (first, place, value) = (self.expr(first), self.expr(place), self.expr(&value));
        let (row, index) = (&self.arrays[array], self.expr(index));
        let row = quote!(#row[#index]);
        let ty = self.kernel.array(*array).element.ty();
        let update = self.update(&row, &row, ReduceOperator::Add, ty, &quote!(#name.of(#place, #value)));
        Some((quote!(let #name = #helpers::beyond::<_, #length>(#first);), update))
    }

    /// Whether a row of elements of two bytes is converted all at once: where vector loops behind it take each of them, and its length is
    /// known to the compiler.
    fn is_converted(&self, of: ArrayId, length: &Expr, row: ArrayId, behind: &[Statement]) -> bool {
        let is_stored_only = self.array_element(of).is_some_and(ElementType::is_stored_only);
        let is_known = match length {
            Expr::Index(length) => (1..=MOST_CONVERTED).contains(length),
            Expr::Dimension(id) => self.kernel.dimension(*id).size == Size::Generic,
            _ => false,
        };
        let is_row = |expr: &Expr, counter: VariableId| match expr {
            Expr::Load(array, index) => *array == row && **index == Expr::Variable(counter),
            _ => false,
        };
        let mut is_taken = false;
        let mut see = |statement: &Statement| {
            let Statement::For { variable, vector: true, body, .. } = statement else { return };
            body.iter().for_each(|inner| {
                inner.for_each(&mut |inner| {
                    inner.for_each_expr(&mut |expr| expr.for_each(&mut |expr| is_taken |= is_row(expr, *variable)));
                });
            });
        };
        if is_stored_only && is_known {
            behind.iter().for_each(|statement| statement.for_each(&mut see));
        }
        is_taken
    }

    /// A row of an operand, or of a result that a chunk has all of, where rows have a length that is known to the compiler: an array,
    /// for which one comparison says whether it is there, and whose elements are in registers where it is read and written.
    fn row(&mut self, of: ArrayId, begin: &Expr, length: &Expr, mutable: bool) -> Option<TokenStream> {
        let is_known = match length {
            Expr::Index(length) => *length > 0,
            Expr::Dimension(id) => !matches!(self.kernel.dimension(*id).size, Size::Runtime | Size::Constant(0)),
            _ => false,
        };
        let is_there = self.is_slice(of, mutable);
        let (helper, place) = match begin {
            Expr::Binary(BinaryOperator::Multiply, place, factor) if **factor == *length => {
                (if mutable { ident("row_mut") } else { ident("row") }, &**place)
            }
            begin if !mutable => (ident("row_at"), begin),
            _ => return None,
        };
        (is_known && is_there).then(|| {
            let (helpers, array) = (self.options.parallel.clone(), self.arrays[&of].clone());
            let (place, length) = (self.expr(place), self.expr(length));
            quote!(#helpers::#helper::<#length, _>(#array, #place))
        })
    }

    /// Whether an array is a slice where a row of it is read, or written.
    fn is_slice(&self, of: ArrayId, mutable: bool) -> bool {
        if !mutable {
            return self.kernel.is_of_input(self.views.source(of));
        }
        // What a chunk takes is a type of its own.
        let is_local = self.kernel.array(of).role == ArrayRole::Local;
        self.copied.contains(&of) || !self.taken.contains(&of) && !is_local
    }

    /// A row whose length is a variable of a loop in vectors, or an extent.
    fn row_of_any_length(&self, of: ArrayId, begin: &Expr, length: &Expr, mutable: bool) -> Option<TokenStream> {
        let is_row = self.held.has_length(length) || matches!(length, Expr::Dimension(_));
        let is_there = self.options.vectors && is_row && self.is_slice(of, mutable);
        is_there.then(|| {
            let (helpers, array) = (&self.options.parallel, &self.arrays[&of]);
            let helper = ident(if mutable { "row_of_mut" } else { "row_of" });
            let (begin, length) = (self.expr(begin), self.expr(length));
            quote!(#helpers::#helper(#array, #begin, #length))
        })
    }

    /// The operator of `a[i] = a[i] operator value`, where `a[i] operator= value` is refused: of all but its own number types,
    /// Rust lends the element before it computes the value, which then can't read the same array.
    fn written_out(&self, array: ArrayId, operator: ReduceOperator, value: &Expr) -> Option<BinaryOperator> {
        let is_lent = reads(value, array) && self.array_element(array).is_some_and(ElementType::is_complex);
        match operator.combine(self.kernel.array(array).element.ty()) {
            Some(Combine::Operator(operator)) => is_lent.then_some(operator),
            _ => None,
        }
    }

    /// A sum that a product is added to: in one instruction, where the processor that is compiled for has one.
    fn add_product(&mut self, sum: &TokenStream, one: &Expr, other: &Expr) -> TokenStream {
        let helpers = self.options.parallel.clone();
        let (one, other) = (self.expr(one), self.expr(other));
        quote!(#helpers::add_product(&mut #sum, #one, #other);)
    }

    fn mutable(&self, variable: VariableId) -> TokenStream {
        if self.kernel.variable(variable).mutable { quote!(mut) } else { TokenStream::new() }
    }

    /// The type of a variable that is a bare number at first, which alone does not tell it.
    fn annotation(&self, variable: VariableId, value: &Expr) -> TokenStream {
        let ty = match (value, self.kernel.variable(variable).ty) {
            (Expr::Index(_), _) => ident("usize"),
            (Expr::Literal(_), Type::Element(ElementType::F64)) => ident("f64"),
            _ => return TokenStream::new(),
        };
        quote!(: #ty)
    }

    pub(super) fn array_element(&self, array: ArrayId) -> Option<ElementType> {
        match self.kernel.array(array).element {
            ArrayElement::Value(element) => Some(element),
            ArrayElement::Index(_) => None,
        }
    }

    fn branches(&mut self, branches: &[(Expr, Vec<Statement>)], otherwise: &[Statement]) -> TokenStream {
        let mut tokens = TokenStream::new();
        for (number, (condition, body)) in branches.iter().enumerate() {
            let (condition, body) = (self.expr(condition), self.block(body));
            let or = if number == 0 { TokenStream::new() } else { quote!(else) };
            tokens.extend(quote!(#or if #condition { #body }));
        }
        if !otherwise.is_empty() {
            let body = self.block(otherwise);
            tokens.extend(quote!(else { #body }));
        }
        tokens
    }

    /// A parallel loop. Where another stands for it if its work is uneven, chunks are weighed before either runs.
    fn parallel(&mut self, parallel: &Parallel) -> TokenStream {
        let cut = self.cut(parallel);
        let run = self.run(parallel);
        let Some(uneven) = &parallel.uneven else { return quote!(#cut #run) };
        let (cut_uneven, run_uneven) = (self.cut(uneven), self.run(uneven));
        quote! {
            #cut
            if chunks.are_even() { #run } else { #cut_uneven #run_uneven }
        }
    }

    /// Runs a parallel loop whose range is cut.
    fn run(&mut self, parallel: &Parallel) -> TokenStream {
        let chunks = ident("chunks");
        let mut before = TokenStream::new();
        let mut inside = TokenStream::new();
        self.namer.enter();
        let mut parts: Vec<Part> = Vec::new();
        for (array, sharing) in &parallel.sharing {
            let whole = self.arrays[array].clone();
            let part = ident(&self.namer.name(&format!("{whole}_parts")));
            before.extend(self.share(*array, sharing, &whole, &part));
            parts.push(Part { array: *array, sharing: sharing.clone(), whole, part });
        }
        let mut totals: Vec<Total> = Vec::new();
        for (variable, operator) in &parallel.reductions {
            let total = self.variables[variable].clone();
            let part = ident(&self.namer.name(&format!("{total}_parts")));
            let identity = self.identity(*operator, self.kernel.variable(*variable).ty);
            before.extend(quote!(let #part = #chunks.partial(#identity);));
            inside.extend(quote!(let mut #total = #identity;));
            totals.push(Total { variable: *variable, operator: *operator, total, part });
        }
        let mut take = TokenStream::new();
        let is_copied = |part: &&Part| matches!(part.sharing, Sharing::Private(_));
        for Part { whole, part, .. } in parts.iter().filter(|part| !is_copied(part)) {
            take.extend(quote!(let mut #whole = #part.take(chunk);));
        }
        let low = self.declare_variable(parallel.low);
        let high = self.declare_variable(parallel.high);
        let outside = (self.taken.clone(), self.copied.clone());
        self.taken.extend(parts.iter().filter(|part| !is_copied(part)).map(|part| part.array));
        self.copied.extend(parts.iter().filter(is_copied).map(|part| part.array));
        let body = self.block(&parallel.body);
        (self.taken, self.copied) = outside;
        let mut results = TokenStream::new();
        let mut after = self.join(&parts);
        for Total { variable, operator, total, part } in &totals {
            results.extend(quote!(#part.set(chunk, #total);));
            let ty = self.kernel.variable(*variable).ty;
            let total = quote!(#total);
            let update = self.update(&total, &total, *operator, ty, &quote!(value));
            after.extend(quote!(for value in #part.into_values() { #update }));
        }
        self.namer.leave();
        let own = self.own_copies();
        let body = quote!(#inside #body #results);
        let body = parts.iter().rev().filter(is_copied).fold(body, |body, part| self.with_copy(part, &body));
        quote! {
            #before
            let run = |chunk: usize| {
                #own
                let (#low, #high) = chunks.range(chunk);
                #take
                #body
            };
            chunks.run(&run);
            #after
        }
    }

    /// What a chunk does with its copy of an array.
    fn with_copy(&self, part: &Part, body: &TokenStream) -> TokenStream {
        let Part { array, whole, part, .. } = part;
        let element = element(self.kernel.array(*array).element);
        let own = self.own_copies();
        quote! {
            let body = |#whole: &mut [#element]| { #own #body };
            #part.with(chunk, body);
        }
    }

    /// Extents and operands as variables of a closure, which else reads them where they are, again behind each store that may change
    /// them for all that a compiler knows. Readers are spared them.
    fn own_copies(&self) -> TokenStream {
        if self.options.comments {
            return TokenStream::new();
        }
        let dimensions = self.sized(Size::Runtime).cloned();
        let is_read = |role| access(self.kernel, role) == Access::Read;
        let operands = self.kernel.parameters().filter(|(_, array)| is_read(array.role));
        let names: Vec<Ident> = dimensions.chain(operands.map(|(id, _)| self.arrays[&id].clone())).collect();
        quote!(#(let #names = #names;)*)
    }

    /// How the range is cut.
    fn cut(&mut self, parallel: &Parallel) -> TokenStream {
        let helpers = &self.options.parallel.clone();
        let (begin, end) = (self.expr(&parallel.begin), self.expr(&parallel.end));
        let policy = parallel.policy();
        let chunks_for = match policy.count {
            Count::Copies => "_per_thread",
            Count::AppendingBounded => "_appending_bounded",
            Count::Appending => "_appending",
            Count::Writing => "",
        };
        let aligned = match parallel.aligned {
            None => TokenStream::new(),
            Some(array) => {
                self.namer.enter();
                let place = ident(&self.namer.name("place"));
                self.namer.leave();
                let name = &self.arrays[&array];
                quote!(.aligned(&|#place| #name[#place] == #name[#place - 1]))
            }
        };
        let name = match policy.weights {
            Weights::Even => "even",
            Weights::Work => "by_work",
            Weights::WorkAndPlaces => "weighted",
        };
        let cut = if self.kernel.deterministic {
            let (fixed, name) = (self.fixed(parallel), ident(name));
            quote!(#helpers::Fixed::#fixed.#name)
        } else {
            let name = ident(&format!("{name}{chunks_for}"));
            quote!(#helpers::Chunks::#name)
        };
        let before = parallel.work.as_ref().map(|work| {
            let closure = self.closure(work.place, &work.before);
            quote!(, &#closure)
        });
        quote!(let chunks = #cut(#begin, #end #before)#aligned;)
    }

    /// What says for which chunks a range is cut that are the same on any number of threads.
    fn fixed(&self, parallel: &Parallel) -> TokenStream {
        let copied = parallel.sharing.iter().filter(|(_, sharing)| matches!(sharing, Sharing::Private(_)));
        let lengths: Vec<TokenStream> = copied
            .map(|(array, _)| {
                let name = &self.arrays[array];
                quote!(#name.len())
            })
            .collect();
        match (parallel.policy().count, &lengths[..]) {
            (Count::Copies, [first, rest @ ..]) => quote!(copying(#first #(+ #rest)*)),
            (Count::AppendingBounded, _) => quote!(appending_bounded()),
            (Count::Appending, _) => quote!(appending()),
            (Count::Copies | Count::Writing, _) => quote!(writing()),
        }
    }

    fn closure(&mut self, parameter: VariableId, value: &Expr) -> TokenStream {
        self.namer.enter();
        let name = self.declare_variable(parameter);
        let value = self.expr(value);
        self.namer.leave();
        quote!(|#name| #value)
    }

    fn share(&mut self, array: ArrayId, sharing: &Sharing, whole: &Ident, part: &Ident) -> TokenStream {
        match sharing {
            Sharing::Owned { place, start } => {
                let closure = self.closure(*place, start);
                let whole = self.borrowed(array, whole);
                quote!(let #part = chunks.owned(#whole, &#closure);)
            }
            Sharing::Private(operator) => {
                let element = self.array_element(array).expect("copies are of values");
                let identity = self.identity(*operator, Type::of(element));
                let whole = self.borrowed(array, whole);
                quote!(let #part = chunks.private(#whole, #identity);)
            }
            Sharing::Segmented { place, start, length, operator, anew } => {
                let element = self.array_element(array).expect("segments are of values");
                let identity = self.identity(*operator, Type::of(element));
                let (start, length) = (self.closure(*place, start), self.expr(length));
                let whole = self.borrowed(array, whole);
                let segmented = ident(if *anew { "segmented_anew" } else { "segmented" });
                quote!(let #part = chunks.#segmented(#whole, &#start, #length, #identity);)
            }
            Sharing::Joined { positions_of: None } => quote!(let #part = chunks.joined(#whole);),
            Sharing::Joined { positions_of: Some(_) } => {
                let element = element(self.kernel.array(array).element);
                quote!(let #part = chunks.joined_positions::<#element>();)
            }
        }
    }

    /// The factors of a length, which together may be too much.
    fn shape(&mut self, length: &Expr) -> Vec<TokenStream> {
        match length {
            Expr::Binary(BinaryOperator::Multiply, one, other) => [self.shape(one), self.shape(other)].concat(),
            length => vec![self.expr(length)],
        }
    }

    /// An array that is written, as an argument.
    fn borrowed(&self, array: ArrayId, name: &Ident) -> TokenStream {
        let is_local = self.kernel.array(array).role == ArrayRole::Local;
        let is_owned = is_local && !self.slices.contains(&array);
        if is_owned || self.taken.contains(&array) { quote!(&mut #name) } else { quote!(#name) }
    }

    fn identity(&mut self, operator: ReduceOperator, ty: Type) -> TokenStream {
        match ty {
            Type::Element(element) => literal(operator.identity(element).expect(REDUCED)),
            Type::Bool => {
                let value = operator.identity(ElementType::Bool).expect(REDUCED).is_one();
                quote!(#value)
            }
            Type::Index => self.expr(&Expr::Index(operator.index_identity().expect(REDUCED))),
        }
    }

    /// Says how elements of an array are combined with others, one by one.
    fn combine(&self, array: ArrayId, operator: ReduceOperator) -> TokenStream {
        let element = self.array_element(array);
        // References have a minimum of their own.
        let is_compared = operator.row().domain == Domain::Ordered;
        let current = if is_compared { quote!((*into)) } else { quote!(into) };
        let update =
            self.update(&quote!(*into), &current, operator, self.kernel.array(array).element.ty(), &quote!(*from));
        let element = ident(element.map_or("usize", ElementType::name));
        quote! {
            let combine = |into: &mut [#element], from: &[#element]| {
                for (into, from) in into.iter_mut().zip(from) { #update }
            };
        }
    }

    fn join(&self, parts: &[Part]) -> TokenStream {
        let mut tokens = TokenStream::new();
        let part_of = |array: ArrayId| parts.iter().find(|part| part.array == array).map(|part| &part.part);
        for Part { sharing, whole, part, .. } in parts {
            if let Sharing::Joined { positions_of: Some(children) } = sharing {
                let children = part_of(*children).expect("positions are joined beside what they point into");
                tokens.extend(quote!(#part.join(#whole, &#children.lengths());));
            }
        }
        for Part { array, sharing, whole, part } in parts {
            match sharing {
                Sharing::Owned { .. } | Sharing::Joined { positions_of: Some(_) } => {}
                Sharing::Joined { positions_of: None } => tokens.extend(quote!(#part.join(#whole);)),
                Sharing::Private(operator) | Sharing::Segmented { operator, .. } => {
                    let combine = self.combine(*array, *operator);
                    tokens.extend(quote!(#combine #part.combine(&combine);));
                }
            }
        }
        tokens
    }
}

/// What the verifier sees to.
const REDUCED: &str = "what is reduced has an identity";

/// An array that chunks share, and the name of what they share it through.
struct Part {
    array: ArrayId,
    sharing: Sharing,
    whole: Ident,
    part: Ident,
}

/// A variable that chunks reduce into, and the name of what they leave their results in.
struct Total {
    variable: VariableId,
    operator: ReduceOperator,
    total: Ident,
    part: Ident,
}

impl Printer<'_> {
    /// `place = lesser(place, value)`, for a place that never holds NaN.
    fn update_ordered(
        &self,
        place: &TokenStream,
        operator: ReduceOperator,
        value: &TokenStream,
    ) -> Option<TokenStream> {
        let helper = ident(spelling::of_ordered(operator)?);
        let helpers = &self.options.parallel;
        Some(quote!(#place = #helpers::#helper(#place, #value);))
    }

    /// `place = place operator value`; `current` is the place as the receiver of a method.
    fn update(
        &self,
        place: &TokenStream,
        current: &TokenStream,
        operator: ReduceOperator,
        ty: Type,
        value: &TokenStream,
    ) -> TokenStream {
        match spelling::reduce(operator, ty) {
            Reduction::Operator(operator) => {
                let operator: TokenStream = format!("{operator}=").parse().expect("operators are tokens");
                quote!(#place #operator #value;)
            }
            Reduction::Helper(name) => {
                let (helpers, name) = (&self.options.parallel, ident(name));
                quote!(#place = #helpers::#name(#place, #value);)
            }
            Reduction::Method(method) => {
                let method = ident(method);
                quote!(#place = #current.#method(#value);)
            }
            Reduction::Defined(element) => {
                let function = &self.defined[&(operator.name(), element)];
                function.is_used.set(true);
                let name = &function.name;
                quote!(#place = #name(#place, #value);)
            }
        }
    }
}

/// The factors of a product of rounded numbers that is added to a sum.
pub(super) fn factors(operator: ReduceOperator, element: Option<ElementType>, value: &Expr) -> Option<(&Expr, &Expr)> {
    match value {
        Expr::Binary(BinaryOperator::Multiply, one, other)
            if operator == ReduceOperator::Add && element.is_some_and(ElementType::is_float) =>
        {
            Some((one, other))
        }
        _ => None,
    }
}

/// Whether an expression loads from an array.
pub(super) fn reads(value: &Expr, array: ArrayId) -> bool {
    let mut reads = false;
    value.for_each(&mut |inner| reads |= matches!(inner, Expr::Load(id, _) if *id == array));
    reads
}
