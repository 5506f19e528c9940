//! Accesses: a tensor of the statement's element type at index variables.

use super::tensors;
use super::value::Values;
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes};
use crate::notation::{Access, TensorId};
use crate::syntax::{self, ExprKind, Ident, Index};

impl<'s> Values<'_, 's> {
    /// A tensor at index variables. A name that no tensor has is reported elsewhere.
    pub(super) fn access(&mut self, access: &'s syntax::Access) -> Option<Access> {
        let tensor = self.tensor(&access.name.name)?;
        self.check_element(tensor, access.span);
        self.indexed(tensor, access)
    }

    /// The same for a tensor that is not read, so that its element type does not matter: a mask, the target.
    pub(super) fn unread(&mut self, access: &'s syntax::Access) -> Option<Access> {
        self.indexed(self.tensor(&access.name.name)?, access)
    }

    fn indexed(&mut self, tensor: TensorId, access: &'s syntax::Access) -> Option<Access> {
        let names: Vec<Option<&Ident>> = access.indices.iter().map(|index| self.plain_index(index)).collect();
        let names: Vec<&Ident> = names.into_iter().collect::<Option<_>>()?;
        for (place, name) in names.iter().enumerate() {
            if let Some(earlier) = names[..place].iter().find(|earlier| earlier.name == name.name) {
                self.found.push(repeated_index(access, earlier, name));
            }
        }
        let indices = names.into_iter().map(|name| self.indices.resolve(name)).collect();
        Some(Access { tensor, indices, span: access.span })
    }

    fn plain_index(&mut self, index: &'s Index) -> Option<&'s Ident> {
        let (span, what) = match index {
            Index::Expr(syntax::Expr { kind: ExprKind::Name(name), .. }) => return self.index_name(name),
            Index::Expr(expr) if matches!(expr.kind, ExprKind::Number { .. }) => (expr.span, "a constant index"),
            Index::Expr(expr) => (expr.span, "index arithmetic"),
            Index::Range { span, .. } => (*span, "a window"),
        };
        self.found.push(
            Diagnostic::new(codes::INDEX_ARITHMETIC_NOT_YET, span, format!("{what} is not lowered yet"))
                .label("not an index variable")
                .help("every index must be an index variable for now"),
        );
        None
    }

    fn index_name(&mut self, name: &'s Ident) -> Option<&'s Ident> {
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

    /// Reports a tensor of another element type than the statement's.
    pub(super) fn check_element(&mut self, tensor: TensorId, span: Span) {
        let tensor = &self.tensors[tensor.0];
        let refused = tensor.element != self.element && tensors::is_lowered(tensor.element);
        if refused && !self.mixed.contains(&tensor.name) {
            self.mixed.push(tensor.name.clone());
            let (element, expected) = (tensor.element.name(), self.element.name());
            let message = format!("tensors of `{element}` and `{expected}` in one statement are not lowered yet");
            self.found.push(
                Diagnostic::new(codes::MIXED_ELEMENTS_NOT_YET, span, message)
                    .label(format!("`{}` has elements of `{element}`", tensor.name))
                    .help(format!(
                        "`{}` has elements of `{expected}`: give all tensors one element type",
                        self.typed_by
                    )),
            );
        }
    }
}

fn repeated_index(access: &syntax::Access, earlier: &Ident, name: &Ident) -> Diagnostic {
    let message =
        format!("`{}` occurs twice in an access of `{}`, which is not lowered yet", name.name, access.name.name);
    Diagnostic::new(codes::REPEATED_INDEX_NOT_YET, name.span, message)
        .label("occurs again")
        .related(earlier.span, "occurs first here")
        .help("every index of an access must be a different variable for now")
}
