//! Indices for what is written without: `C = A @ B` is `C(i, j) = A(i, k) * B(k, j)`.
//!
//! Where nothing has indices, a name that begins with a capital letter is a matrix and another one a vector, as mathematicians and
//! most programs have it.

use super::{Node, Statement, einsum};

/// Indices in the order in which they are given out.
const INDICES: [&str; 8] = ["i", "j", "k", "l", "m", "n", "p", "q"];

/// Words that are numbers rather than vectors.
const SCALARS: [&str; 8] = ["alpha", "beta", "gamma", "lambda", "mu", "eps", "tau", "scale"];

/// The statement with an index for each mode; `None` where that can't be told.
pub(super) fn with_indices(mut statement: Statement, text: &str) -> Option<Statement> {
    let has_no_target = statement.target == Node::Text(String::new());
    // An einsum says the indices of its result.
    if let Node::Apply(name, parts) = &statement.value
        && name == "einsum"
        && let [Node::Apply(_, indices), value] = &parts[..]
    {
        let indices: Vec<String> = indices.iter().filter_map(name_of).collect();
        let name = match &statement.target {
            Node::Name(name) => name.clone(),
            Node::Text(_) => free_name(indices.len(), value, &indices),
            // Said twice.
            _ => return None,
        };
        return Some(Statement { target: einsum::indexed(&name, &indices), value: value.clone(), ..statement });
    }
    if has_no_indices(&statement.target) && has_no_indices(&statement.value) {
        // In Julia, as in mathematics, `*` is a product of matrices.
        let multiplies = text.contains('\'') || text.contains(".*");
        let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').map(str::to_owned).collect();
        let mut matrices = Matrices { next: 0, words, names: Vec::new(), multiplies };
        let is_foreign =
            has(&statement.value, &|node| matches!(node, Node::Product(..) | Node::Transposed(_) | Node::Power(..)));
        if !is_foreign {
            return None;
        }
        let order = matrices.order(&statement.value);
        let indices: Vec<String> = (0..order).map(|_| matrices.fresh()).collect();
        let name = match &statement.target {
            Node::Name(name) => name.clone(),
            _ => free_name(order, &statement.value, &indices),
        };
        let value = matrices.at(&statement.value, &indices)?;
        if matrices.names.contains(&name) || statement.mask.is_some() {
            return None;
        }
        return Some(Statement { target: einsum::indexed(&name, &indices), value, ..statement });
    }
    if has_no_target {
        return None;
    }
    statement.value = elementwise(&statement.value)?;
    Some(statement)
}

fn name_of(node: &Node) -> Option<String> {
    match node {
        Node::Name(name) => Some(name.clone()),
        _ => None,
    }
}

fn free_name(order: usize, value: &Node, indices: &[String]) -> String {
    einsum::result_name(order, |name| {
        let is_it = |node: &Node| matches!(node, Node::Name(other) | Node::Apply(other, _) if other == name);
        has(value, &is_it) || indices.iter().any(|index| index == name)
    })
}

/// Whether a part of an expression, or it as a whole, is so.
fn has(node: &Node, is_it: &dyn Fn(&Node) -> bool) -> bool {
    is_it(node) || children(node).into_iter().any(|child| has(child, is_it))
}

fn children(node: &Node) -> Vec<&Node> {
    match node {
        Node::Number(_) | Node::Name(_) | Node::Text(_) => Vec::new(),
        Node::Apply(_, arguments) => arguments.iter().collect(),
        Node::Reduce(_, _, operand) | Node::Unary(_, operand) | Node::Transposed(operand) => vec![operand],
        Node::Binary(_, left, right) | Node::Power(left, right) | Node::Product(left, right) => vec![left, right],
    }
}

/// Whether a list follows no name but that of a function.
fn has_no_indices(node: &Node) -> bool {
    let is_function = |name: &str| crate::syntax::functions().any(|function| function == name);
    !has(node, &|node| match node {
        Node::Apply(name, _) => !is_function(name),
        Node::Reduce(..) => true,
        _ => false,
    })
}

/// What has indices: transposed, they are turned round, and a product is one of elements.
fn elementwise(node: &Node) -> Option<Node> {
    let both = |left: &Node, right: &Node| Some((Box::new(elementwise(left)?), Box::new(elementwise(right)?)));
    Some(match node {
        Node::Number(_) | Node::Name(_) => node.clone(),
        Node::Text(_) => return None,
        Node::Apply(name, arguments) => {
            Node::Apply(name.clone(), arguments.iter().map(elementwise).collect::<Option<_>>()?)
        }
        Node::Reduce(name, variables, body) => {
            Node::Reduce(name.clone(), variables.clone(), Box::new(elementwise(body)?))
        }
        Node::Unary(operator, operand) => Node::Unary(operator, Box::new(elementwise(operand)?)),
        Node::Binary(operator, left, right) => {
            let (left, right) = both(left, right)?;
            Node::Binary(if *operator == ".*" { "*" } else { operator }, left, right)
        }
        Node::Product(left, right) => {
            let (left, right) = both(left, right)?;
            Node::Binary("*", left, right)
        }
        Node::Power(base, exponent) => {
            let (base, exponent) = both(base, exponent)?;
            Node::Power(base, exponent)
        }
        Node::Transposed(operand) => match elementwise(operand)? {
            Node::Apply(name, mut indices) if indices.len() < 3 => {
                indices.reverse();
                Node::Apply(name, indices)
            }
            _ => return None,
        },
    })
}

struct Matrices {
    /// How many indices were looked at.
    next: usize,
    /// The words of the text, which are no indices.
    words: Vec<String>,
    /// The tensors that were met.
    names: Vec<String>,
    /// Whether `*` is a product of matrices.
    multiplies: bool,
}

impl Matrices {
    fn fresh(&mut self) -> String {
        loop {
            let place = self.next;
            self.next += 1;
            let index = INDICES.get(place).map_or_else(|| format!("i{place}"), |index| (*index).to_owned());
            if !self.words.contains(&index) {
                return index;
            }
        }
    }

    /// How many indices a value has.
    fn order(&self, node: &Node) -> usize {
        match node {
            Node::Number(_) | Node::Text(_) => 0,
            Node::Name(name) if SCALARS.contains(&name.as_str()) => 0,
            Node::Name(name) => 1 + usize::from(name.starts_with(char::is_uppercase)),
            Node::Transposed(operand) | Node::Unary(_, operand) | Node::Reduce(_, _, operand) => self.order(operand),
            Node::Power(base, exponent) => self.order(base).max(self.order(exponent)),
            Node::Apply(_, arguments) => arguments.iter().map(|argument| self.order(argument)).max().unwrap_or(0),
            Node::Product(left, right) => product_order(self.order(left), self.order(right)),
            Node::Binary("*", left, right) if self.multiplies => product_order(self.order(left), self.order(right)),
            Node::Binary(_, left, right) => self.order(left).max(self.order(right)),
        }
    }

    /// A value at indices.
    fn at(&mut self, node: &Node, indices: &[String]) -> Option<Node> {
        let own = self.order(node);
        // A number, or what is the same for all.
        let indices = if own < indices.len() { (own == 0).then_some(&indices[..0])? } else { indices };
        Some(match node {
            Node::Number(_) => node.clone(),
            Node::Text(_) | Node::Reduce(..) => return None,
            Node::Name(name) => {
                self.names.push(name.clone());
                einsum::indexed(name, indices)
            }
            Node::Transposed(operand) => {
                let turned: Vec<String> = indices.iter().rev().cloned().collect();
                self.at(operand, &turned)?
            }
            Node::Unary(operator, operand) => Node::Unary(operator, Box::new(self.at(operand, indices)?)),
            // Of a matrix that is its inverse.
            Node::Power(_, exponent) if matches!(**exponent, Node::Unary(..)) => return None,
            Node::Power(base, exponent) => {
                Node::Power(Box::new(self.at(base, indices)?), Box::new(self.at(exponent, indices)?))
            }
            Node::Apply(name, arguments) => {
                let arguments = arguments.iter().map(|argument| self.at(argument, indices));
                Node::Apply(name.clone(), arguments.collect::<Option<_>>()?)
            }
            Node::Product(left, right) => self.product(left, right, indices)?,
            Node::Binary("*", left, right) if self.multiplies => self.product(left, right, indices)?,
            Node::Binary(operator, left, right) => {
                let operator = if *operator == ".*" { "*" } else { operator };
                Node::Binary(operator, Box::new(self.at(left, indices)?), Box::new(self.at(right, indices)?))
            }
        })
    }

    /// A product of matrices and vectors at indices.
    fn product(&mut self, left: &Node, right: &Node, indices: &[String]) -> Option<Node> {
        let (a, b) = (self.order(left), self.order(right));
        let (of_left, of_right) = match (a, b) {
            (0, _) | (_, 0) => (indices.to_vec(), indices.to_vec()),
            _ => {
                let summed = self.fresh();
                let (first, last) = indices.split_at(a - 1);
                let of_left = first.iter().cloned().chain([summed.clone()]).collect();
                let of_right = match b {
                    1 => vec![summed],
                    _ => [summed].into_iter().chain(last.iter().cloned()).collect(),
                };
                (of_left, of_right)
            }
        };
        Some(Node::Binary("*", Box::new(self.at(left, &of_left)?), Box::new(self.at(right, &of_right)?)))
    }
}

fn product_order(left: usize, right: usize) -> usize {
    match (left, right) {
        (0, order) | (order, 0) => order,
        (left, right) => left + right - 2,
    }
}
