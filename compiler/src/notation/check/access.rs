//! Accesses: a tensor of the statement's element type at index variables, those of computed indices and windows included.

use super::value::Values;
use crate::diagnostics::{Diagnostic, codes::notation as codes};
use crate::notation::{Access, IndexVariable, TensorId};
use crate::syntax::{self, ExprKind, Ident, Index};

impl<'s> Values<'_, 's> {
    /// A tensor at index variables. A name that no tensor has is reported elsewhere.
    pub(super) fn access(&mut self, access: &'s syntax::Access) -> Option<Access> {
        let tensor = self.tensor(&access.name.name)?;
        self.indexed(tensor, access)
    }

    /// The same for a tensor that is not read, so that its element type does not matter: a mask, the target.
    pub(super) fn unread(&mut self, access: &'s syntax::Access) -> Option<Access> {
        self.indexed(self.tensor(&access.name.name)?, access)
    }

    fn indexed(&mut self, tensor: TensorId, access: &'s syntax::Access) -> Option<Access> {
        let mut windows = 0;
        let mut indices: Vec<Option<IndexVariable>> = Vec::with_capacity(access.indices.len());
        for index in &access.indices {
            let variable = match index {
                Index::Expr(syntax::Expr { kind: ExprKind::Name(name), .. }) => {
                    self.index_name(name).map(|name| self.indices.resolve(name))
                }
                Index::Expr(expr) => self.computed(expr),
                Index::Range { start, end, span } => {
                    windows += 1;
                    self.window(windows - 1, start, end, *span)
                }
            };
            // The second index of `A(i, i)` is a variable of its own, computed from the first.
            let again = variable.filter(|variable| indices.contains(&Some(*variable)));
            indices.push(match again {
                Some(again) => {
                    let before: Vec<IndexVariable> = indices.iter().copied().flatten().collect();
                    Some(self.indices.copy(again, &before, access.span))
                }
                None => variable,
            });
        }
        let indices = indices.into_iter().collect::<Option<_>>()?;
        Some(Access::new(tensor, indices, access.span))
    }

    pub(super) fn index_name(&mut self, name: &'s Ident) -> Option<&'s Ident> {
        let clash = self.name_clash(name);
        let clear = clash.is_none();
        self.found.extend(clash);
        clear.then_some(name)
    }

    /// An index variable that is called like a tensor.
    pub(super) fn name_clash(&self, name: &Ident) -> Option<Diagnostic> {
        let tensor = self.tensor(&name.name)?;
        let message = format!("`{}` is a tensor and an index variable", name.name);
        let clash = Diagnostic::new(codes::NAME_CLASH, name.span, message)
            .label("used as an index variable")
            .related(self.tensors[tensor.0].span, "a tensor or scalar here")
            .help("give one of them another name");
        Some(clash)
    }
}
