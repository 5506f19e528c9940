//! `E01xx` to `E05xx`: what the checks after parsing find.

use super::{Code, Entry};

/// A tensor, scalar or index variable that nothing declares.
pub const UNKNOWN_NAME: Code = Code(101);
/// Two things of one name.
pub const DUPLICATE_NAME: Code = Code(102);
/// A parameter that no statement reads.
pub const UNUSED_PARAMETER: Code = Code(103);
/// A result that no statement assigns.
pub const RESULT_NOT_ASSIGNED: Code = Code(104);
/// A statement assigns a parameter.
pub const PARAMETER_ASSIGNED: Code = Code(105);
/// A statement reads the tensor that it assigns.
pub const RESULT_READ: Code = Code(106);
/// A function that does not exist.
pub const UNKNOWN_FUNCTION: Code = Code(107);
/// One name for an index variable and a tensor, or for a tensor and a function.
pub const NAME_CLASH: Code = Code(108);
/// A tensor with different numbers of indices.
pub const ORDER_MISMATCH: Code = Code(109);
/// A scalar with indices.
pub const SCALAR_INDEXED: Code = Code(110);
/// A tensor without indices.
pub const MISSING_INDICES: Code = Code(111);
/// An index variable whose extent nothing gives.
pub const UNBOUND_INDEX: Code = Code(112);
/// An explicit sum over a variable that is not its own.
pub const REDUCTION_VARIABLE: Code = Code(113);
/// A mask with an index that the statement lacks.
pub const MASK_INDEX: Code = Code(114);

/// A named format that does not exist.
pub const UNKNOWN_FORMAT: Code = Code(201);
/// A level format that does not exist.
pub const UNKNOWN_LEVEL: Code = Code(202);
/// Wrong arguments of a named format.
pub const FORMAT_ARGUMENTS: Code = Code(203);
/// A property that a level does not have.
pub const LEVEL_PROPERTY: Code = Code(204);
/// A tensor with more or fewer indices than its format has modes.
pub const FORMAT_ORDER: Code = Code(205);
/// A mode that a format does not store, or stores twice.
pub const FORMAT_MODES: Code = Code(206);
/// A name in a format's map that is neither a mode nor an argument.
pub const FORMAT_MAP_NAME: Code = Code(207);
/// `...` where it has no meaning, or missing where it has one.
pub const FORMAT_VARIADIC: Code = Code(208);
/// A coordinate that can't be computed.
pub const FORMAT_COORDINATE: Code = Code(209);
/// A `singleton` level without a level that it can follow.
pub const MISPLACED_SINGLETON: Code = Code(210);

/// A function with too few or too many arguments.
pub const ARGUMENT_COUNT: Code = Code(301);
/// A function or an operator that the element type lacks.
pub const UNDEFINED_FOR_TYPE: Code = Code(302);
/// A literal that the element type can't hold.
pub const LITERAL_OUT_OF_RANGE: Code = Code(303);
/// A truth value where a number must stand.
pub const CONDITION_AS_VALUE: Code = Code(304);
/// A number where a truth value must stand.
pub const VALUE_AS_CONDITION: Code = Code(305);
/// A division by a missing entry.
pub const DIVISION_BY_MISSING: Code = Code(306);
/// A statement that would make a sparse result dense.
pub const DENSE_RESULT: Code = Code(307);
/// An index of a sparse result that no operand has.
pub const SPARSE_BROADCAST: Code = Code(308);

/// Several statements, several results, or `let`.
pub const SEVERAL_STATEMENTS_NOT_YET: Code = Code(401);
/// Index arithmetic, constant indices, windows.
pub const INDEX_ARITHMETIC_NOT_YET: Code = Code(402);
/// One index variable twice in one access.
pub const REPEATED_INDEX_NOT_YET: Code = Code(403);
/// Operands of different element types.
pub const MIXED_ELEMENTS_NOT_YET: Code = Code(404);
/// An element type that kernels can't compute with.
pub const ELEMENT_TYPE_NOT_YET: Code = Code(405);
/// A format that kernels can't read or write.
pub const FORMAT_NOT_YET: Code = Code(406);
/// A mask with an index that several terms sum over.
pub const SUMMED_MASK_NOT_YET: Code = Code(407);
/// A schedule block.
pub const SCHEDULE_NOT_YET: Code = Code(408);

/// A directive that does not exist.
pub const UNKNOWN_DIRECTIVE: Code = Code(501);
/// A directive with wrong arguments.
pub const DIRECTIVE_ARGUMENTS: Code = Code(502);

/// The table.
pub(crate) const ENTRIES: &[Entry] = &[];
