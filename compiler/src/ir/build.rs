//! Short ways to declare, and to write expressions. These fold what is constant, so that `0 * n + i` is `i` from the start. What gets
//! too large stays at the largest number: calls with such extents are refused.

use super::{
    Array, ArrayElement, ArrayId, ArrayRole, BinaryOperator, Definition, ElementType, Expr, Kernel, ReduceOperator,
    Sharing, Statement, Type, Variable, VariableId,
};

impl Kernel {
    /// A kernel that declares and does nothing.
    pub(crate) fn empty() -> Self {
        Self {
            name: String::new(),
            documentation: Vec::new(),
            dimensions: Vec::new(),
            bounds: Vec::new(),
            pivots: Vec::new(),
            tensors: Vec::new(),
            arrays: Vec::new(),
            variables: Vec::new(),
            deterministic: false,
            choices: std::collections::BTreeMap::new(),
            body: Vec::new(),
        }
    }

    /// Declares an array. A name that another array has gets a number.
    pub(crate) fn declare_array(&mut self, name: &str, element: ArrayElement, role: ArrayRole) -> ArrayId {
        let id = ArrayId(u32::try_from(self.arrays.len()).expect("few arrays"));
        let mut unique = name.to_owned();
        let mut count = 1;
        while self.arrays.iter().any(|array| array.name == unique) {
            count += 1;
            unique = format!("{name}_{count}");
        }
        self.arrays.push(Array { name: unique, element, role });
        id
    }

    /// Declares a variable.
    pub(crate) fn declare_variable(&mut self, name: &str, ty: Type, mutable: bool) -> VariableId {
        let id = VariableId(u32::try_from(self.variables.len()).expect("few variables"));
        self.variables.push(Variable { name: name.to_owned(), ty, mutable });
        id
    }

    /// What a variable or a parameter that has a mask of interleaved bits is called: after the dimension that they are of.
    pub(crate) fn mask_name(&self, mask: &Expr) -> String {
        let Expr::Mask { part, extents } = mask else { return "bits".to_owned() };
        match extents.get(*part) {
            Some(Expr::Dimension(dimension)) => format!("{}_bits", self.dimension(*dimension).name),
            _ => "bits".to_owned(),
        }
    }

    /// Declares a variable for an index that does not change.
    pub(crate) fn declare_index(&mut self, name: &str) -> VariableId {
        self.declare_variable(name, Type::Index, false)
    }
}

impl Expr {
    /// An operator between two operands.
    pub fn binary(operator: BinaryOperator, left: Expr, right: Expr) -> Expr {
        Expr::Binary(operator, Box::new(left), Box::new(right))
    }

    /// `array[index]`
    pub fn load(array: ArrayId, index: Expr) -> Expr {
        Expr::Load(array, Box::new(index))
    }

    /// `self + other`, both `index`
    pub fn plus(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Index(0), e) | (e, Expr::Index(0)) => e,
            (Expr::Index(a), Expr::Index(b)) => Expr::Index(a.saturating_add(b)),
            (Expr::Binary(BinaryOperator::Subtract, a, less), more) if *less == more => *a,
            (a, b) => Expr::binary(BinaryOperator::Add, a, b),
        }
    }

    /// `self - other`, both `index`
    pub fn minus(self, other: Expr) -> Expr {
        match (self, other) {
            (e, Expr::Index(0)) => e,
            (Expr::Index(a), Expr::Index(b)) if a >= b => Expr::Index(a - b),
            (a, b) => Expr::binary(BinaryOperator::Subtract, a, b),
        }
    }

    /// `self * other`, both `index`
    pub fn times(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Index(0), _) | (_, Expr::Index(0)) => Expr::Index(0),
            (Expr::Index(1), e) | (e, Expr::Index(1)) => e,
            (Expr::Index(a), Expr::Index(b)) => Expr::Index(a.saturating_mul(b)),
            (a, b) => Expr::binary(BinaryOperator::Multiply, a, b),
        }
    }

    /// `self == other`
    pub fn equals(self, other: Expr) -> Expr {
        Expr::binary(BinaryOperator::Equal, self, other)
    }

    /// `self < other`
    pub fn less(self, other: Expr) -> Expr {
        Expr::binary(BinaryOperator::Less, self, other)
    }

    /// `self && other`
    pub fn and(self, other: Expr) -> Expr {
        Expr::binary(BinaryOperator::And, self, other)
    }
}

impl Definition {
    /// The operands: [`LEFT`](super::tables::monoid::LEFT) and [`RIGHT`](super::tables::monoid::RIGHT).
    pub(crate) fn variables(element: ElementType) -> Vec<Variable> {
        ["left", "right"].map(|name| Variable { name: name.to_owned(), ty: Type::of(element), mutable: false }).to_vec()
    }

    /// A kernel that declares the operands, so that the value can be printed.
    pub(crate) fn kernel(&self) -> Kernel {
        Kernel { variables: Definition::variables(self.element), ..Kernel::empty() }
    }
}

impl Statement {
    /// Calls `visit` on the operator of each reduction in it.
    pub(crate) fn for_each_operator(&self, visit: &mut dyn FnMut(ReduceOperator)) {
        self.for_each(&mut |statement| match statement {
            Statement::Update(_, operator, _) | Statement::Reduce(_, _, operator, _) => visit(*operator),
            Statement::Parallel(parallel) => {
                let mut parallel = Some(&**parallel);
                while let Some(one) = parallel {
                    one.reductions.iter().for_each(|(_, operator)| visit(*operator));
                    for (_, sharing) in &one.sharing {
                        if let Sharing::Private(operator) | Sharing::Segmented { operator, .. } = sharing {
                            visit(*operator);
                        }
                    }
                    parallel = one.uneven.as_deref();
                }
            }
            _ => {}
        });
    }
}

impl Kernel {
    /// The operators that its text declares and it reduces by, in order of appearance.
    pub(crate) fn declared_operators(&self) -> Vec<ReduceOperator> {
        let mut found = Vec::new();
        let mut add = |operator: ReduceOperator| {
            if operator.is_declared() && !found.contains(&operator) {
                found.push(operator);
            }
        };
        self.tensors.iter().filter_map(|tensor| tensor.listed).for_each(&mut add);
        self.body.iter().for_each(|statement| statement.for_each_operator(&mut add));
        found
    }
}
