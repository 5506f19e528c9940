//! Statements as C.

use super::helpers::{suffix, wrapping_name};
use super::{Held, Printer, element_name, type_name};
use crate::ir::{
    ArrayElement, ArrayId, BinaryOperator, Combine, ElementType, Expr, ReduceOperator, Size, Statement, Type,
    VariableId,
};

/// Arrays of so many elements are on the stack.
const ON_STACK: u64 = 1024;

impl Printer<'_> {
    /// The statements of a block, in a scope of their own. What it makes is freed at its end.
    pub(super) fn block(&mut self, statements: &[Statement]) {
        self.namer.enter();
        self.made.push(Vec::new());
        for statement in statements {
            self.statement(statement);
        }
        for line in self.made.pop().unwrap_or_default().into_iter().rev() {
            self.line(&line);
        }
        self.namer.leave();
    }

    /// What frees something that the innermost block makes.
    fn free_at_end(&mut self, line: String) {
        self.made.last_mut().expect("statements are in a block").push(line);
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Comment(text) => self.comment(text),
            Statement::Let(variable, value) => {
                let value = self.expr(value);
                let declared = self.kernel.variable(*variable);
                let constant = if declared.mutable { "" } else { "const " };
                let ty = type_name(declared.ty);
                let name = self.declare_variable(*variable);
                self.line(&format!("{constant}{ty} {name} = {value};"));
            }
            Statement::Assign(variable, value) => {
                let name = self.variables[variable].clone();
                match value {
                    Expr::Binary(BinaryOperator::Add, first, step)
                        if **first == Expr::Variable(*variable) && **step == Expr::Index(1) =>
                    {
                        self.line(&format!("{name}++;"));
                    }
                    value => {
                        let value = self.expr(value);
                        self.line(&format!("{name} = {value};"));
                    }
                }
            }
            Statement::Update(variable, operator, value) => {
                let (name, ty) = (self.variables[variable].clone(), self.kernel.variable(*variable).ty);
                let value = self.expr(value);
                let is_ordered = self.ordered.has_variable(*variable);
                self.update(&name, *operator, ty, &value, is_ordered);
            }
            Statement::Store(array, index, value) => {
                let index = self.expr(index);
                let value = self.stored(*array, value);
                let place = self.element(*array, &index);
                self.line(&format!("{place} = {value};"));
            }
            Statement::Reduce(array, index, operator, value) => self.reduce(*array, index, *operator, value),
            Statement::Allocate { array, length, fill } => self.allocate(*array, length, fill),
            Statement::Folds { totals, terms, between } => self.folds(*totals, terms, *between),
            Statement::Fill(array, value) => {
                let (length, value) = (self.length(*array), self.stored(*array, value));
                if self.fill_row(*array, &value) {
                    return;
                }
                let place = self.element(*array, "n");
                self.line(&format!("for (size_t n = 0; n < {length}; n++) {place} = {value};"));
            }
            Statement::View { array, of, begin, length, mutable } => {
                let begin = self.operand(begin);
                let pointer = match self.arrays[of].clone() {
                    // What is looked at twice is computed once.
                    Held::Segments { whole, end, next } if begin != "0" => {
                        let first = self.namer.name("first");
                        self.line(&format!("const size_t {first} = {begin};"));
                        format!("{first} < {end} ? {whole} + {first} : {next} + ({first} - {end})")
                    }
                    _ => self.pointer(*of, &begin),
                };
                let length_text = self.operand(length);
                let constant = if *mutable { "" } else { "const " };
                let ty = element_name(self.kernel.array(*array).element);
                let name = self.declare_array(*array);
                self.line(&format!("{constant}{ty} *{name} = {pointer};"));
                self.set_length(*array, &name, length, length_text);
            }
            Statement::Numbers { array, codes, mask, .. } => {
                self.helpers.of_bits(BinaryOperator::Gather);
                let (codes_text, mask) = (self.pointer(*codes, "0"), self.expr(mask));
                let length = self.length(*codes);
                let name = self.namer.name(&self.kernel.array(*array).name);
                self.line(&format!("const uint64_t {name} = {mask};"));
                self.arrays.insert(*array, Held::Numbers { codes: codes_text, mask: name });
                self.lengths.insert(*array, length);
            }
            Statement::List(array) => {
                let name = self.namer.name(&self.kernel.array(*array).name);
                self.line(&format!("spc_vector {name} = {{0}};"));
                self.arrays.insert(*array, Held::Vector(name.clone()));
                self.free_at_end(format!("free({name}.data);"));
            }
            Statement::Table { table, extent } => {
                let extent = self.shape(extent);
                let name = self.declare_array(*table);
                self.helpers.table(self.keys_of(*table));
                self.line(&format!("spc_table {name} = spc_table_new({extent});"));
                self.free_at_end(format!("spc_table_free(&{name});"));
            }
            // Ranges are searched.
            Statement::Directory { .. } => {}
            Statement::Insert { place, key, keys, table } => {
                let held = self.kernel.array(*keys).element;
                self.helpers.table(held);
                let key = self.stored(*keys, key);
                let (keys, table) = (self.vector(*keys), self.name(*table));
                let place = self.declare_variable(*place);
                self.line(&format!("const size_t {place} = spc_insert_{}(&{table}, &{keys}, {key});", suffix(held)));
            }
            Statement::Sort { keys, places, .. } => {
                let [held, places_held] = [keys, places].map(|array| self.kernel.array(*array).element);
                let sort = self.helpers.sort(held, places_held);
                let (keys, places) = (self.vector(*keys), self.vector(*places));
                self.line(&format!("{sort}(&{keys}, &{places});"));
            }
            Statement::Clear(array) => {
                let vector = self.vector(*array);
                self.line(&format!("{vector}.length = 0;"));
            }
            Statement::Reset { keys, table } => {
                let held = self.kernel.array(*keys).element;
                self.helpers.table(held);
                let (keys, table) = (self.vector(*keys), self.name(*table));
                self.line(&format!("spc_reset_{}(&{table}, &{keys});", suffix(held)));
            }
            Statement::Bitmap { bitmap, extent } => {
                self.helpers.bitmap();
                let extent = self.expr(extent);
                let name = self.declare_array(*bitmap);
                self.line(&format!("spc_bitmap {name} = spc_bitmap_new({extent});"));
                self.free_at_end(format!("spc_bitmap_free(&{name});"));
            }
            Statement::Mark(bitmap, key) => {
                let (name, key) = (self.name(*bitmap), self.expr(key));
                self.line(&format!("spc_mark(&{name}, {key});"));
            }
            Statement::Marked { variable, bitmap, body } => self.marked(*variable, *bitmap, body),
            Statement::Push(array, value) => {
                let push = self.helpers.push(self.kernel.array(*array).element);
                let (value, vector) = (self.stored(*array, value), self.vector(*array));
                self.line(&format!("{push}(&{vector}, {value});"));
            }
            Statement::Extend { array, count, fill } => {
                let extend = self.helpers.extend(self.kernel.array(*array).element);
                let (count, fill, vector) = (self.shape(count), self.stored(*array, fill), self.vector(*array));
                self.line(&format!("{extend}(&{vector}, {count}, {fill});"));
            }
            Statement::For { variable, begin: begin_expr, end: end_expr, vector, body } => {
                let is_innermost = !body.iter().any(|inner| {
                    let mut found = false;
                    inner.for_each(&mut |inner| found |= !inner.blocks().is_empty());
                    found
                });
                if is_innermost && self.row_loop(*variable, [begin_expr, end_expr], body) {
                    return;
                }
                let (begin, end) = (self.expr(begin_expr), self.expr(end_expr));
                if *vector && is_innermost {
                    self.line("#pragma omp simd");
                }
                self.namer.enter();
                let name = self.declare_variable(*variable);
                let last = self.namer.name(&format!("{name}_end"));
                let head = format!("for (size_t {name} = {begin}, {last} = {end}; {name} < {last}; {name}++)");
                // A loop of vectors has one variable.
                let head = match *vector && is_innermost {
                    true => format!("for (size_t {name} = {begin}; {name} < {end}; {name}++)"),
                    false => head,
                };
                self.nest(&head, |printer| printer.block(body));
                self.namer.leave();
            }
            Statement::While(condition, body) => {
                let condition = self.expr(condition);
                self.nest(&format!("while ({condition})"), |printer| printer.block(body));
            }
            Statement::Merge(_) => unreachable!("merges are loops here"),
            Statement::If(branches, otherwise) => {
                for (number, (condition, body)) in branches.iter().enumerate() {
                    let condition = self.expr(condition);
                    let word = if number == 0 { "if" } else { "} else if" };
                    self.line(&format!("{word} ({condition}) {{"));
                    self.inside(body);
                }
                if !otherwise.is_empty() {
                    self.line("} else {");
                    self.inside(otherwise);
                }
                self.line("}");
            }
            Statement::Parallel(parallel) => self.parallel(parallel),
        }
    }

    fn inside(&mut self, body: &[Statement]) {
        self.depth += 1;
        self.block(body);
        self.depth -= 1;
    }

    /// The width of keys that a table has: that of the list that is inserted into by it.
    fn keys_of(&self, table: ArrayId) -> ArrayElement {
        let mut held = self.kernel.array(table).element;
        let mut see = |statement: &Statement| match statement {
            Statement::Insert { keys, table: other, .. } if *other == table => held = self.kernel.array(*keys).element,
            _ => {}
        };
        self.kernel.body.iter().for_each(|statement| statement.for_each(&mut see));
        held
    }

    /// The name of what is no array of elements.
    fn name(&self, array: ArrayId) -> String {
        match &self.arrays[&array] {
            Held::Elements(name) | Held::Vector(name) => name.clone(),
            Held::Segments { whole, .. } => whole.clone(),
            Held::Numbers { mask, .. } => mask.clone(),
        }
    }

    /// An array that grows, as a place.
    fn vector(&self, array: ArrayId) -> String {
        self.name(array)
    }

    fn set_length(&mut self, array: ArrayId, name: &str, length: &Expr, text: String) {
        let mut is_steady = true;
        length.for_each(&mut |expr| {
            is_steady &= match expr {
                Expr::Variable(variable) => !self.kernel.variable(*variable).mutable,
                Expr::Load(..) | Expr::Search { .. } | Expr::Length(_) => false,
                _ => true,
            };
        });
        let text = if is_steady {
            if matches!(length, Expr::Binary(..)) { format!("({text})") } else { text }
        } else {
            let known = self.namer.name(&format!("{name}_length"));
            self.line(&format!("const size_t {known} = {text};"));
            self.counted.push(known.clone());
            known
        };
        self.lengths.insert(array, text);
    }

    /// A length that is a product, of which the factors together may be too much.
    fn shape(&mut self, length: &Expr) -> String {
        match length {
            Expr::Binary(BinaryOperator::Multiply, one, other) => {
                self.helpers.product();
                let (one, other) = (self.shape(one), self.shape(other));
                format!("spc_product({one}, {other})")
            }
            length => self.expr(length),
        }
    }

    fn allocate(&mut self, array: ArrayId, length: &Expr, fill: &Expr) {
        let fill_text = self.stored(array, fill);
        let known = match length {
            Expr::Index(length) => Some(*length),
            Expr::Dimension(id) => match self.kernel.dimension(*id).size {
                Size::Constant(size) => Some(size),
                _ => None,
            },
            _ => None,
        };
        let ty = element_name(self.kernel.array(array).element);
        let is_zero = match fill {
            Expr::Literal(literal) => literal.is_zero() && !fill_text.starts_with('-'),
            Expr::Index(0) | Expr::Bool(false) => true,
            _ => false,
        };
        if let Some(known) = known.filter(|known| (1..=ON_STACK).contains(known)) {
            let name = self.declare_array(array);
            let initial = if is_zero { " = {0}" } else { "" };
            self.line(&format!("{ty} {name}[{known}]{initial};"));
            if !is_zero {
                self.line(&format!("for (size_t n = 0; n < {known}; n++) {name}[n] = {fill_text};"));
            }
            self.lengths.insert(array, known.to_string());
            self.rows.insert(array, known);
            return;
        }
        self.helpers.memory();
        let length = self.shape(length);
        let name = self.declare_array(array);
        let many = self.namer.name(&format!("{name}_length"));
        self.line(&format!("const size_t {many} = {length};"));
        self.line(&format!("{ty} *const {name} = spc_memory({many}, sizeof({ty}));"));
        self.line(&format!("for (size_t n = 0; n < {many}; n++) {name}[n] = {fill_text};"));
        self.lengths.insert(array, many);
        self.free_at_end(format!("free({name});"));
    }

    fn reduce(&mut self, array: ArrayId, index: &Expr, operator: ReduceOperator, value: &Expr) {
        let element = self.kernel.array(array).element;
        let (index, value) = (self.expr(index), self.expr(value));
        let mut place = self.element(array, &index);
        let is_in_segments = matches!(self.arrays[&array], Held::Segments { .. });
        if is_in_segments {
            // What is looked at twice is computed once.
            let (pointer, ty) = (self.pointer(array, &index), element_name(element));
            self.line("{");
            self.depth += 1;
            self.namer.enter();
            let name = self.namer.name("place");
            self.line(&format!("{ty} *const {name} = {pointer};"));
            place = format!("*{name}");
        }
        match element {
            ArrayElement::Value(stored) if stored.is_stored_only() => {
                self.helpers.half();
                let current = format!("spc_f32_of_{}({place})", stored.name());
                let combined = self.combined(operator, Type::Element(ElementType::F32), (&current, &value), false);
                let rounded = self.rounded(array, combined);
                self.line(&format!("{place} = {rounded};"));
            }
            element => {
                let is_ordered = self.ordered.has_array(array);
                self.update(&place, operator, element.ty(), &value, is_ordered);
            }
        }
        if is_in_segments {
            self.namer.leave();
            self.depth -= 1;
            self.line("}");
        }
    }

    pub(super) fn update(&mut self, place: &str, operator: ReduceOperator, ty: Type, value: &str, is_ordered: bool) {
        let is_integer = matches!(ty, Type::Element(element) if element.is_integer());
        let is_complex = matches!(ty, Type::Element(element) if element.is_complex());
        match operator.combine(ty) {
            Some(Combine::Operator(binary @ (BinaryOperator::Add | BinaryOperator::Multiply)))
                if !(is_integer && wrapping_name(binary).is_some() || is_complex) =>
            {
                self.line(&format!("{place} {}= {value};", binary.symbol()));
            }
            _ => {
                let combined = self.combined(operator, ty, (place, value), is_ordered);
                self.line(&format!("{place} = {combined};"));
            }
        }
    }

    /// Totals of several runs, by a function of its own.
    fn folds(&mut self, totals: ArrayId, terms: &Expr, between: Option<ArrayId>) {
        let Expr::Fold(operator, term) = terms else { unreachable!("verified: totals of terms") };
        let mut folded = self.folded(*operator, term);
        let held = element_name(self.kernel.array(totals).element);
        let count = self.length(totals);
        let into = self.pointer(totals, "0");
        let text = if let Some(positions) = between {
            let one = self.fold_function(*operator, &folded);
            let given: Vec<String> = (0..folded.parameters.len()).map(|place| format!("p{place}")).collect();
            let value =
                self.rounded(totals, format!("{one}({}, positions[row], positions[row + 1])", given.join(", ")));
            let positions_type = element_name(self.kernel.array(positions).element);
            folded.parameters.push(format!("const {positions_type} *restrict positions"));
            let positions = self.pointer(positions, "0");
            folded.arguments.push(positions);
            format!("    for (size_t row = 0; row < count; row++) totals[row] = {value};\n")
        } else {
            let places = self.length(term.factors()[0].run());
            let ty = type_name(folded.ty);
            let current = match self.kernel.array(totals).element {
                ArrayElement::Value(stored) if stored.is_stored_only() => {
                    self.helpers.half();
                    format!("spc_f32_of_{}(totals[turn])", stored.name())
                }
                _ => "totals[turn]".to_owned(),
            };
            let step = self.fold_loop(*operator, &folded, ["place", "place + 1"]);
            let (identity, result) =
                (self.rounded(totals, folded.identity.clone()), self.rounded(totals, "total".to_owned()));
            // One step of the loop over terms.
            let step: String = step.lines().filter(|line| !line.starts_with('#')).collect();
            let step = step.replace("for (size_t n = place; n < place + 1; n++) ", "");
            folded.parameters.push("size_t places".to_owned());
            folded.arguments.push(places);
            format!(
                "    for (size_t turn = 0; turn < count; turn++) totals[turn] = {identity};
    for (size_t first = 0; first < places; first += count) {{
#pragma omp simd
        for (size_t turn = 0; turn < count; turn++) {{
            const size_t n = first + turn;
            {ty} total = {current};
            {step}
            totals[turn] = {result};
        }}
    }}
"
            )
        };
        let parameters = folded.parameters.join(", ");
        let text =
            format!("static inline void NAME({parameters}, {held} *restrict totals, size_t count) {{\n{text}}}\n");
        let name = self.helpers.add_fold(&text);
        let mut arguments = folded.arguments;
        arguments.extend([into, count]);
        self.line(&format!("{name}({});", arguments.join(", ")));
    }

    /// The keys of a set: word by word.
    fn marked(&mut self, variable: VariableId, bitmap: ArrayId, body: &[Statement]) {
        let set = self.name(bitmap);
        self.namer.enter();
        let [above, lines, line, keys] = ["above", "lines", "line", "keys"].map(|wish| self.namer.name(wish));
        let key = self.declare_variable(variable);
        self.nest(&format!("for (size_t {above} = 0; {above} < {set}.words; {above}++)"), |printer| {
            printer.line(&format!("uint64_t {lines} = {set}.summary[{above}];"));
            printer.line(&format!("{set}.summary[{above}] = 0;"));
            printer.nest(&format!("while ({lines} != 0)"), |printer| {
                printer.line(&format!("const size_t {line} = 64 * {above} + spc_take_bit(&{lines});"));
                printer.line(&format!("uint64_t {keys} = {set}.bits[{line}];"));
                printer.line(&format!("{set}.bits[{line}] = 0;"));
                printer.nest(&format!("while ({keys} != 0)"), |printer| {
                    printer.line(&format!("const size_t {key} = 64 * {line} + spc_take_bit(&{keys});"));
                    printer.block(body);
                });
            });
        });
        self.namer.leave();
    }

    /// Two walks side by side.
    pub(super) fn comment(&mut self, text: &str) {
        for line in text.lines() {
            // A comment that ends with a backslash goes on in the next line.
            self.line(&format!("// {}", line.replace('\\', "/")));
        }
    }
}
