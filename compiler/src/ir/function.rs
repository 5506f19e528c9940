//! The functions of values: one table of their names and of what they are.

use super::numbers::Real;
use super::{ElementType, Literal};

macro_rules! functions {
    ($($(#[$doc:meta])* $function:ident $name:literal $method:ident $arity:tt;)*) => {
        /// Functions of values.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Function {
            $($(#[$doc])* $function,)*
        }

        impl Function {
            /// All functions.
            pub const ALL: [Function; [$($arity),*].len()] = [$(Function::$function),*];

            /// The name in the language.
            pub fn name(self) -> &'static str {
                match self {
                    $(Function::$function => $name,)*
                }
            }

            /// The method of floating point numbers in Rust.
            pub fn method(self) -> &'static str {
                match self {
                    $(Function::$function => stringify!($method),)*
                }
            }

            /// How many values it takes.
            pub fn arity(self) -> usize {
                match self {
                    $(Function::$function => $arity,)*
                }
            }

            /// Its value; `None` for another number of arguments than it takes.
            pub fn of_f64(self, arguments: &[f64]) -> Option<f64> {
                match (self, arguments) {
                    $((Function::$function, arguments) => functions!(@call f64 $method $arity arguments),)*
                }
            }

            /// Its value; `None` for another number of arguments than it takes.
            pub fn of_f32(self, arguments: &[f32]) -> Option<f32> {
                match (self, arguments) {
                    $((Function::$function, arguments) => functions!(@call f32 $method $arity arguments),)*
                }
            }
        }
    };
    (@call $type:ident min 2 $arguments:ident) => { two($arguments, $type::minimum_number) };
    (@call $type:ident max 2 $arguments:ident) => { two($arguments, $type::maximum_number) };
    (@call $type:ident asinh 1 $arguments:ident) => { one($arguments, $type::arsinh) };
    (@call $type:ident acosh 1 $arguments:ident) => { one($arguments, $type::arcosh) };
    // Of complex numbers alone.
    (@call $type:ident re 1 $arguments:ident) => { no_value($arguments) };
    (@call $type:ident im 1 $arguments:ident) => { no_value($arguments) };
    (@call $type:ident conj 1 $arguments:ident) => { no_value($arguments) };
    (@call $type:ident complex 2 $arguments:ident) => { no_value($arguments) };
    (@call $type:ident $method:ident 1 $arguments:ident) => { one($arguments, $type::$method) };
    (@call $type:ident $method:ident 2 $arguments:ident) => { two($arguments, $type::$method) };
}
functions! {
    /// The smaller of two; of a number and NaN, the number; -0 is smaller than 0 (`minimumNumber` of IEEE 754-2019).
    Min "min" min 2;
    /// The larger of two; of a number and NaN, the number; 0 is larger than -0.
    Max "max" max 2;
    /// Absolute value.
    Abs "abs" abs 1;
    /// Square root (floating point, complex).
    Sqrt "sqrt" sqrt 1;
    /// Cube root (floating point).
    Cbrt "cbrt" cbrt 1;
    /// Exponential (floating point, complex).
    Exp "exp" exp 1;
    /// Natural logarithm (floating point).
    Ln "ln" ln 1;
    /// Logarithm to base 2 (floating point).
    Log2 "log2" log2 1;
    /// Logarithm to base 10 (floating point).
    Log10 "log10" log10 1;
    /// Power (floating point).
    Pow "pow" powf 2;
    /// Sine (floating point).
    Sin "sin" sin 1;
    /// Cosine (floating point).
    Cos "cos" cos 1;
    /// Tangent (floating point).
    Tan "tan" tan 1;
    /// Arcsine (floating point).
    Asin "asin" asin 1;
    /// Arccosine (floating point).
    Acos "acos" acos 1;
    /// Arctangent (floating point).
    Atan "atan" atan 1;
    /// The angle of the point with the second as its abscissa and the first as its ordinate (floating point).
    Atan2 "atan2" atan2 2;
    /// Hyperbolic sine (floating point).
    Sinh "sinh" sinh 1;
    /// Hyperbolic cosine (floating point).
    Cosh "cosh" cosh 1;
    /// Hyperbolic tangent (floating point).
    Tanh "tanh" tanh 1;
    /// Inverse hyperbolic sine (floating point).
    Asinh "asinh" asinh 1;
    /// Inverse hyperbolic cosine (floating point).
    Acosh "acosh" acosh 1;
    /// Inverse hyperbolic tangent (floating point).
    Atanh "atanh" atanh 1;
    /// The largest whole number that is not larger (floating point).
    Floor "floor" floor 1;
    /// The smallest whole number that is not smaller (floating point).
    Ceil "ceil" ceil 1;
    /// The nearest whole number, halves away from zero (floating point).
    Round "round" round 1;
    /// The whole number without the fraction (floating point).
    Trunc "trunc" trunc 1;
    /// The real part (complex).
    Re "re" re 1;
    /// The imaginary part (complex).
    Im "im" im 1;
    /// The complex conjugate (complex).
    Conj "conj" conj 1;
    /// The complex number of a real and an imaginary part (floating point).
    Complex "complex" complex 2;
}

fn one<T: Copy>(arguments: &[T], function: impl Fn(T) -> T) -> Option<T> {
    match arguments {
        [a] => Some(function(*a)),
        _ => None,
    }
}

fn two<T: Copy>(arguments: &[T], function: impl Fn(T, T) -> T) -> Option<T> {
    match arguments {
        [a, b] => Some(function(*a, *b)),
        _ => None,
    }
}

fn no_value<T>(_: &[T]) -> Option<T> {
    None
}

impl Function {
    /// Whether values of an element type have it.
    pub fn is_defined(self, element: ElementType) -> bool {
        match self {
            Function::Min | Function::Max => element.is_float() || element.is_integer(),
            Function::Abs => element != ElementType::Bool,
            Function::Re | Function::Im | Function::Conj => element.is_complex(),
            Function::Sqrt | Function::Exp => element.is_rounded(),
            _ => element.is_float(),
        }
    }

    /// The type of its value, for arguments of an element type.
    pub fn result(self, element: ElementType) -> ElementType {
        match self {
            Function::Abs | Function::Re | Function::Im => element.part().unwrap_or(element),
            Function::Complex => element.complex().unwrap_or(element),
            _ => element,
        }
    }

    /// The type of arguments that gives a value of an element type.
    pub fn argument(self, result: ElementType) -> ElementType {
        match self {
            Function::Complex => result.part().unwrap_or(result),
            Function::Re | Function::Im => result.complex().unwrap_or(result),
            _ => result,
        }
    }

    /// The function of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name() == name)
    }

    /// Its value for arguments of a floating point type.
    pub(crate) fn of_floats(self, element: ElementType, arguments: &[f64]) -> Option<Literal> {
        let value = match element {
            ElementType::F64 => self.of_f64(arguments)?,
            ElementType::F32 => {
                let arguments: Vec<f32> = arguments.iter().map(|&argument| argument as f32).collect();
                self.of_f32(&arguments)?.into()
            }
            _ => return None,
        };
        Some(Literal::Float(element, value))
    }

    /// Its value for a complex number without an imaginary part, where that is a literal and has none either.
    pub(crate) fn of_complex(self, element: ElementType, real: f64) -> Option<Literal> {
        let part = element.part()?;
        match self {
            Function::Conj => Some(Literal::Float(element, real)),
            Function::Im => Some(part.zero()),
            Function::Re => Some(Literal::Float(part, real)),
            Function::Abs => self.of_floats(part, &[real]),
            Function::Sqrt | Function::Exp => match self.of_floats(part, &[real])? {
                Literal::Float(_, value) if value.is_finite() => Some(Literal::Float(element, value)),
                _ => None,
            },
            _ => None,
        }
    }
}
