//! The types of expressions: one table of what each node takes and gives.

use super::*;

impl ArrayElement {
    /// The type of what a load gives and a store takes.
    pub fn ty(self) -> Type {
        match self {
            ArrayElement::Index(_) => Type::Index,
            ArrayElement::Value(element) => Type::of(element),
        }
    }

    /// The number of bytes of one element.
    pub fn bytes(self) -> usize {
        match self {
            ArrayElement::Index(width) => width.bytes(),
            ArrayElement::Value(element) => element.bytes(),
        }
    }
}

impl Type {
    /// The type of values of an element type: truth values of tensors are those of conditions, and what is stored only is read as what it
    /// is computed with.
    pub fn of(element: ElementType) -> Type {
        if element == ElementType::Bool { Type::Bool } else { Type::Element(element.computed()) }
    }
}

impl Literal {
    /// Whether its element type can hold it, exactly.
    pub fn is_exact(self) -> bool {
        match self {
            Literal::Float(ElementType::F64 | ElementType::C64, _) => true,
            Literal::Float(ElementType::F32 | ElementType::C32, value) => {
                value.is_nan() || f64::from(value as f32) == value
            }
            Literal::Float(..) => false,
            Literal::Integer(element, _) if element.is_rounded() => false,
            Literal::Integer(element, value) => (element.range().0..=element.range().1).contains(&value),
        }
    }
}

impl Kernel {
    /// The type of an expression whose ids are all declared.
    ///
    /// # Errors
    /// What doesn't fit, in words; never for an expression of a verified kernel.
    pub fn type_of(&self, expr: &Expr) -> Result<Type, String> {
        match expr {
            Expr::Index(_) | Expr::Dimension(_) | Expr::Length(_) => Ok(Type::Index),
            Expr::Bool(_) => Ok(Type::Bool),
            Expr::Literal(literal) if literal.is_exact() => Ok(Type::of(literal.element())),
            Expr::Literal(literal) => Err(format!("`{literal}` is not a value of its type")),
            Expr::Variable(id) => Ok(self.variable(*id).ty),
            Expr::Load(array, index) => {
                self.expect(index, Type::Index)?;
                Ok(self.array(*array).element.ty())
            }
            Expr::Unary(operator, operand) => self.type_of_unary(*operator, operand),
            Expr::Binary(operator, left, right) => self.type_of_binary(*operator, left, right),
            Expr::Call(function, arguments) => self.type_of_call(*function, arguments),
            Expr::Select(condition, one, other) => {
                self.expect(condition, Type::Bool)?;
                let ty = self.type_of(one)?;
                self.expect(other, ty)?;
                Ok(ty)
            }
            Expr::Cast(to, operand) => {
                let from = self.type_of(operand)?;
                if can_cast(from, *to) { Ok(*to) } else { Err(format!("`{from}` can't be cast to `{to}`")) }
            }
            Expr::Search { array, begin, end, value, stride, .. } => {
                if *stride == 0 {
                    return Err(format!("{} is searched without a stride", self.show(array)));
                }
                [begin, end, value].into_iter().try_for_each(|e| self.expect(e, Type::Index))?;
                match self.array(*array).element {
                    ArrayElement::Index(_) => Ok(Type::Index),
                    ArrayElement::Value(_) => Err(format!("{} is searched, but holds values", self.show(array))),
                }
            }
            Expr::Fold(operator, term) => self.type_of_fold(*operator, term),
            Expr::Mask { part, extents } => {
                extents.iter().try_for_each(|e| self.expect(e, Type::Index))?;
                match extents.get(*part) {
                    Some(_) => Ok(Type::Index),
                    None => Err(format!("part {part} of {} is masked", extents.len())),
                }
            }
        }
    }

    /// That an expression is of a type.
    ///
    /// # Errors
    /// As [`Kernel::type_of`], or that it is of another type.
    pub fn expect(&self, expr: &Expr, ty: Type) -> Result<(), String> {
        let found = self.type_of(expr)?;
        if found == ty { Ok(()) } else { Err(format!("`{}` is of type `{found}`, not `{ty}`", self.show(expr))) }
    }

    fn type_of_unary(&self, operator: UnaryOperator, operand: &Expr) -> Result<Type, String> {
        let ty = self.type_of(operand)?;
        let fits = match (operator, ty) {
            (UnaryOperator::Not, Type::Bool) => true,
            (UnaryOperator::Negate, Type::Element(element)) => element.is_signed(),
            _ => false,
        };
        let sign = if operator == UnaryOperator::Not { "!" } else { "-" };
        if fits { Ok(ty) } else { Err(format!("`{sign}` is not defined for `{ty}`")) }
    }

    fn type_of_binary(&self, operator: BinaryOperator, left: &Expr, right: &Expr) -> Result<Type, String> {
        use BinaryOperator::*;
        let ty = self.type_of(left)?;
        self.expect(right, ty)?;
        let is_bool = ty == Type::Bool;
        let is_integer = matches!(ty, Type::Element(element) if element.is_integer());
        let is_complex = matches!(ty, Type::Element(element) if element.is_complex());
        let (fits, result) = match operator {
            Add | Subtract | Multiply | Divide => (!is_bool, ty),
            Remainder => (!is_bool && !is_complex, ty),
            Minimum | Maximum | Gather | Scatter | Rank => (ty == Type::Index, ty),
            Equal | NotEqual => (true, Type::Bool),
            Less | LessEqual | Greater | GreaterEqual => (!is_bool && !is_complex, Type::Bool),
            And | Or => (is_bool, ty),
            BitAnd | BitOr => (is_integer, ty),
        };
        let name = operator.symbol();
        if fits { Ok(result) } else { Err(format!("`{name}` is not defined for `{ty}`")) }
    }

    fn type_of_call(&self, function: Function, arguments: &[Expr]) -> Result<Type, String> {
        let name = function.name();
        let [first, rest @ ..] = arguments else { return Err(format!("`{name}` has no arguments")) };
        if arguments.len() != function.arity() {
            return Err(format!("`{name}` takes {} arguments, not {}", function.arity(), arguments.len()));
        }
        let ty = self.type_of(first)?;
        rest.iter().try_for_each(|argument| self.expect(argument, ty))?;
        let element = match ty {
            Type::Element(element) if function.is_defined(element) => Some(element),
            _ => None,
        };
        if let Some(element) = element {
            Ok(Type::Element(function.result(element)))
        } else {
            Err(format!("`{name}` is not defined for `{ty}`"))
        }
    }
}

/// What Rust's `as` converts, and real to complex. Truth values become integers, never floating point; nothing else
/// becomes a truth value.
fn can_cast(from: Type, to: Type) -> bool {
    let is_bool = |ty| ty == Type::Bool;
    match (from, to) {
        _ if is_bool(to) => is_bool(from),
        (_, Type::Element(ElementType::Bool)) => false,
        (from, Type::Index) if is_bool(from) => true,
        (from, Type::Element(element)) if is_bool(from) => element.is_integer(),
        (Type::Element(from), Type::Element(to)) => to.is_complex() || !from.is_complex(),
        (Type::Element(from), Type::Index) => !from.is_complex(),
        _ => true,
    }
}
