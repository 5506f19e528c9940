//! What generated functions call and CUDA does not have: printed in front of them, where it is used.

use super::element;
use crate::format::interleave::MOVES;
use crate::ir::{ArrayElement, BinaryOperator, Combine, Domain, ElementType, Function, ReduceOperator, Type};
use std::collections::BTreeSet;

/// The types by names that say their size.
const TYPES: &[(&str, &str)] = &[
    ("u8", "unsigned char"),
    ("u16", "unsigned short"),
    ("u32", "unsigned int"),
    ("u64", "unsigned long long"),
    ("i8", "signed char"),
    ("i16", "short"),
    ("i32", "int"),
    ("i64", "long long"),
    ("f16", "unsigned short"),
    ("bf16", "unsigned short"),
    ("f32", "float"),
    ("f64", "double"),
];

/// The functions that were asked for, with their names: each comes after those that it calls.
#[derive(Default)]
pub(super) struct Helpers {
    functions: Vec<(String, String)>,
}

impl Helpers {
    /// Names of types and functions, for code that uses them.
    pub(super) fn text(&self, code: &str) -> String {
        let functions: Vec<&str> = self.functions.iter().map(|(_, text)| text.as_str()).collect();
        let functions = functions.join("\n");
        let is_used = |name: &str| words_of([code, &functions]).contains(name);
        let complex = [("c32", "f32"), ("c64", "f64")].into_iter().filter(|(name, _)| is_used(name));
        let complex: Vec<String> = complex
            .map(|(name, part)| include_str!("complex.cu").replace("NAME", name).replace("PART", part))
            .collect();
        let complex = complex.join("\n");
        let words = words_of([code, &functions, &complex]);
        let mut text = String::new();
        for (name, meaning) in TYPES.iter().filter(|(name, _)| words.contains(name)) {
            text += &format!("typedef {meaning} {name};\n");
        }
        text += "\n";
        for part in [complex, functions] {
            if !part.is_empty() {
                text += &part;
                text += "\n";
            }
        }
        text
    }

    pub(super) fn add(&mut self, name: String, text: impl FnOnce(&str) -> String) -> String {
        if self.functions.iter().all(|(other, _)| *other != name) {
            let text = text(&name);
            self.functions.push((name.clone(), text));
        }
        name
    }

    /// What another lane has of a variable: that whose number differs by `offset`, by one of CUDA's ways to say so.
    pub(super) fn shuffled(&mut self, way: &str, mates: &str, ty: Type, name: &str) -> String {
        match ty {
            Type::Bool => format!("(bool)__shfl_{way}_sync({mates}, (int){name}, offset)"),
            Type::Element(element) if element.bytes() < 4 => {
                format!("({element})__shfl_{way}_sync({mates}, (int){name}, offset)")
            }
            Type::Element(element) if element.is_complex() => {
                let ty = element.name();
                let helper = self.add(format!("shuffle_{way}_{ty}"), |helper| {
                    format!(
                        "static __device__ {ty} {helper}(u32 mates, {ty} value, int offset) {{
    return {{__shfl_{way}_sync(mates, value.re, offset), __shfl_{way}_sync(mates, value.im, offset)}};
}}
"
                    )
                });
                format!("{helper}({mates}, {name}, offset)")
            }
            Type::Index | Type::Element(_) => format!("__shfl_{way}_sync({mates}, {name}, offset)"),
        }
    }

    /// What the lanes of a warp have of elements, of which neighbours may have the same: combined, and `update` for each.
    pub(super) fn meet(&mut self, operator: ReduceOperator, held: ArrayElement, update: &str) -> String {
        let ty = element(held);
        let other = self.shuffled("down", "0xffffffffu", held.ty(), "value");
        let combined = self.combined(operator, held.ty(), "value", "other");
        self.add(format!("meet_{}_{ty}", word(operator)), |name| {
            format!(
                "// Combines what neighbouring lanes have of one element; the first of them updates it.
static __device__ void {name}({ty}* array, u64 place, {ty} value) {{
    const u32 lane = threadIdx.x % 32;
    for (int offset = 1; offset < 32; offset *= 2) {{
        const {ty} other = {other};
        const u64 place_of_other = __shfl_down_sync(0xffffffffu, place, offset);
        if (lane + offset < 32 && place_of_other == place) value = {combined};
    }}
    const u64 before = __shfl_up_sync(0xffffffffu, place, 1);
    if (place != ~0ull && (lane == 0 || before != place)) {update}(&array[place], value);
}}
"
            )
        })
    }

    /// Eight sums, of which each lane of a group has a part: combined, one in each lane.
    pub(super) fn meet_batch(&mut self, operator: ReduceOperator, ty: Type) -> String {
        let word = format!("{}_{}", word(operator), super::type_name(ty));
        let other = self.shuffled("xor", "mates", ty, "given");
        let of_halves = self.combined(operator, ty, "kept", "other");
        let other_whole = self.shuffled("xor", "mates", ty, "value");
        let of_lanes = self.combined(operator, ty, "value", "other");
        let ty = super::type_name(ty);
        self.add(format!("meet_batch_{word}"), |name| {
            format!(
                "// Combines the parts that lanes of a group have of eight sums: a lane gives one half of them away and gets parts of the other.
static __device__ {ty} {name}({ty} (&parts)[8], u64 lane, u64 width, u32 mates) {{
    int offset = width / 2;
    #pragma unroll
    for (int half = 4; half > 0; half /= 2) {{
        const bool is_upper = lane & offset;
        #pragma unroll
        for (int n = 0; n < half; n++) {{
            const {ty} kept = is_upper ? parts[n + half] : parts[n];
            const {ty} given = is_upper ? parts[n] : parts[n + half];
            const {ty} other = {other};
            parts[n] = {of_halves};
        }}
        offset /= 2;
    }}
    {ty} value = parts[0];
    for (; offset > 0; offset /= 2) {{
        const {ty} other = {other_whole};
        value = {of_lanes};
    }}
    return value;
}}
"
            )
        })
    }

    /// Adds four neighbours to others in the device's memory.
    pub(super) fn add_neighbours(&mut self) -> String {
        self.add("add_f32_by_4".to_owned(), |name| {
            format!(
                "// Adds neighbours to those in memory: at once, where devices can.
static __device__ void {name}(f32* place, f32_by_4 value) {{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1201
    asm volatile(
        \"red.global.add.v4.f32 [%0], {{%1, %2, %3, %4}};\"
        :: \"l\"(__cvta_generic_to_global(place)), \"f\"(value.e[0]), \"f\"(value.e[1]), \"f\"(value.e[2]), \"f\"(value.e[3])
        : \"memory\"
    );
#else
    for (int n = 0; n < 4; n++) atomicAdd(place + n, value.e[n]);
#endif
}}
"
            )
        })
    }

    /// Complex numbers with parts of another type.
    pub(super) fn converted(&mut self, from: ElementType, to: ElementType) -> String {
        let (from, to) = (from.name(), to.name());
        let part = if to == "c32" { "f32" } else { "f64" };
        self.add(format!("{to}_of_{from}"), |name| {
            format!("static __device__ {to} {name}({from} a) {{\n    return {{({part})a.re, ({part})a.im}};\n}}\n")
        })
    }

    /// A function of complex numbers.
    pub(super) fn of_complex(&mut self, function: Function, element: ElementType) -> String {
        let ty = element.name();
        let (part, f) = if element == ElementType::C32 { ("f32", "f") } else { ("f64", "") };
        let infinity = if element == ElementType::C32 {
            "__int_as_float(0x7f800000)"
        } else {
            "__longlong_as_double(0x7ff0000000000000ll)"
        };
        self.add(format!("{}_{ty}", function.name()), |name| match function {
            Function::Sqrt => format!(
                "// The square root with a real part that is not negative.
static __device__ {ty} {name}({ty} a) {{
    if (a.im == 0) {{
        if (!signbit(a.re)) return {{sqrt{f}(a.re), a.im}};
        return {{0, copysign{f}(sqrt{f}(-a.re), a.im)}};
    }}
    if (isinf(a.im)) return {{fabs{f}(a.im), a.im}};
    if (isinf(a.re)) {{
        const {part} rest = isnan(a.im) ? a.im : 0;
        if (a.re > 0) return {{a.re, copysign{f}(rest, a.im)}};
        return {{rest, copysign{f}(a.re, a.im)}};
    }}
    // Squares may be beyond the range of numbers.
    double re = a.re, im = a.im;
    const int half = (int)floor(ilogb(fmax(fabs(re), fabs(im))) / 2.0);
    const bool is_number = !isnan(re) && !isnan(im);
    if (is_number) {{
        re = scalbn(re, -2 * half);
        im = scalbn(im, -2 * half);
    }}
    const double larger = sqrt((hypot(re, im) + fabs(re)) / 2), smaller = fabs(im) / (2 * larger);
    const double first = re < 0 ? smaller : larger, second = copysign(re < 0 ? larger : smaller, im);
    if (!is_number) return {{({part})first, ({part})second}};
    return {{({part})scalbn(first, half), ({part})scalbn(second, half)}};
}}
"
            ),
            Function::Exp => format!(
                "static __device__ {ty} {name}({ty} a) {{
    const {part} infinity = {infinity};
    const bool is_finite = fabs{f}(a.im) < infinity;
    if (a.re == -infinity && !is_finite) return {{0, 0}};
    if (a.re == infinity && (a.im == 0 || !is_finite)) return {{a.re, is_finite ? a.im : a.im - a.im}};
    if (a.re != a.re && a.im == 0) return a;
    const {part} length = exp{f}(a.re);
    if (length == infinity && a.re != infinity) {{
        // The length times a cosine may be within the range.
        const {part} half = exp{f}(a.re / 2);
        return {{half * cos{f}(a.im) * half, half * sin{f}(a.im) * half}};
    }}
    return {{length * cos{f}(a.im), length * sin{f}(a.im)}};
}}
"
            ),
            Function::Abs => {
                format!("static __device__ {part} {name}({ty} a) {{\n    return hypot{f}(a.re, a.im);\n}}\n")
            }
            _ => format!("static __device__ {ty} {name}({ty} a) {{\n    return {{a.re, -a.im}};\n}}\n"),
        })
    }

    /// Where in an ascending array the first element is that is not less than a value.
    pub(super) fn search(&mut self, held: ArrayElement, stride: u64) -> String {
        let ty = element(held);
        if stride != 1 {
            return self.search_side_by_side(ty, stride);
        }
        self.add(format!("search_{ty}"), |name| {
            format!(
                "// The first place in begin..end whose element is not less than value, else end.
static __device__ u64 {name}(const {ty}* array, u64 begin, u64 end, u64 value) {{
    u64 length = end > begin ? end - begin : 0;
    while (length >> 32 != 0) {{
        const u64 half = length / 2;
        const bool less = array[begin + half] < value;
        begin = less ? begin + half + 1 : begin;
        length = less ? length - half - 1 : half;
    }}
    // Most steps are of 32 bits.
    u32 rest = length;
    u32 low = 0;
    while (rest > 0) {{
        const u32 half = rest / 2;
        const bool less = array[begin + low + half] < value;
        low = less ? low + half + 1 : low;
        rest = less ? rest - half - 1 : half;
    }}
    return begin + low;
}}
"
            )
        })
    }

    /// The same, by all lanes of a warp together: each step leaves a part of what the step before has left.
    pub(super) fn find(&mut self, held: ArrayElement) -> String {
        let ty = element(held);
        self.add(format!("find_{ty}"), |name| {
            format!(
                "// The same by a warp: its lanes look at places equally far apart.
static __device__ u64 {name}(const {ty}* array, u64 begin, u64 end, u64 value, u64 lane) {{
    while (begin < end) {{
        const u64 step = (end - begin + 31) / 32;
        const u64 place = begin + lane * step;
        const u32 less = __popc(__ballot_sync(0xffffffffu, place < end && array[place] < value));
        if (step == 1 || less == 0) return begin + less;
        end = min((u64)(begin + less * step), (u64)(end));
        begin += (less - 1) * step + 1;
    }}
    return begin;
}}
"
            )
        })
    }

    /// Which row an entry is of, of a warp whose lanes have neighbouring ones.
    pub(super) fn row_of(&mut self, held: ArrayElement) -> String {
        let (ty, search) = (element(held), self.search(held, 1));
        let word = if ty == "u64" { "u64" } else { "u32" };
        self.add(format!("row_of_{ty}"), |name| {
            format!(
                "// The row of an entry at `place`, from `row` on: each lane has the end of one of the next rows, in ascending order.
static __device__ u64 {name}(const {ty}* positions, u64 row, u64 length, u64 place, u64 lane) {{
    const u64 next = row + 1 + lane;
    const {word} bound = next < length ? positions[next] : ({word})~0ull;
    u32 ended = 0;
    for (u32 step = 16; step > 0; step /= 2) {{
        if (__shfl_sync(0xffffffffu, bound, ended + step - 1) <= place) ended += step;
    }}
    if (__shfl_sync(0xffffffffu, bound, ended) <= place) ended++;
    // More rows than lanes, as where most are empty.
    if (ended == 32) return {search}(positions, min((u64)(row + 32), (u64)(length)), length, place + 1) - 1;
    return row + ended;
}}
"
            )
        })
    }

    /// In every so manieth element.
    fn search_side_by_side(&mut self, ty: &str, stride: u64) -> String {
        self.add(format!("search_{ty}_by_{stride}"), |name| {
            format!(
                "// The first of the places begin, begin + {stride}, ... before end whose element is not less than value, else end.
static __device__ u64 {name}(const {ty}* array, u64 begin, u64 end, u64 value) {{
    u64 low = 0;
    u64 high = (end - begin) / {stride};
    while (low < high) {{
        const u64 middle = low + (high - low) / 2;
        if (array[begin + middle * {stride}] < value) low = middle + 1;
        else high = middle;
    }}
    return begin + low * {stride};
}}
"
            )
        })
    }

    /// The bits of one of some numbers, of which each is below an extent, when those of all are interleaved: the place of a
    /// bit is the number of bits that are lower, or as low and of narrower numbers.
    pub(super) fn mask(&mut self, numbers: usize) -> String {
        self.add(format!("mask_of_{numbers}"), |name| {
            let parameters: Vec<String> = (0..numbers).map(|number| format!("u64 extent{number}")).collect();
            let extents: Vec<String> = (0..numbers).map(|number| format!("extent{number}")).collect();
            let (parameters, extents) = (parameters.join(", "), extents.join(", "));
            format!(
                "// Ones where a number has its bits when those of all are interleaved.
static __device__ u64 {name}(u32 part, {parameters}) {{
    const u64 extents[] = {{{extents}}};
    u32 widths[{numbers}];
    for (u32 number = 0; number < {numbers}; number++) {{
        widths[number] = 0;
        while (widths[number] < 64 && extents[number] > 1ull << widths[number]) widths[number]++;
    }}
    u64 mask = 0;
    for (u32 bit = 0; bit < widths[part]; bit++) {{
        u32 place = 0;
        for (u32 number = 0; number < {numbers}; number++) {{
            const u32 width = widths[number];
            const bool is_before = width < widths[part] || (width == widths[part] && number < part);
            place += width <= bit ? width : bit + is_before;
        }}
        mask |= 1ull << place;
    }}
    return mask;
}}
"
            )
        })
    }

    /// Bits moved from the ones of a mask, or to them; or counted.
    pub(super) fn of_bits(&mut self, operator: BinaryOperator) -> String {
        if operator == BinaryOperator::Rank {
            return self.add("rank".to_owned(), |name| {
                format!(
                    "// How many of the lowest bits are ones.
static __device__ u64 {name}(u64 bits, u64 count) {{
    return __popcll(bits & ((1ull << count) - 1));
}}
"
                )
            });
        }
        let (name, says, from, to) = match operator {
            BinaryOperator::Gather => {
                ("gather_bits", "The bits of a code at the ones of a mask, side by side.", "one", "bit")
            }
            _ => ("scatter_bits", "The lowest bits of a number, at the ones of a mask.", "bit", "one"),
        };
        self.add(name.to_owned(), |name| {
            format!(
                "// {says}
static __device__ u64 {name}(u64 bits, u64 mask) {{
    u64 moved = 0;
    for (u64 bit = 1; mask != 0; bit <<= 1, mask &= mask - 1) {{
        const u64 one = mask & (0 - mask);
        if (bits & {from}) moved |= {to};
    }}
    return moved;
}}
"
            )
        })
    }

    /// Bits gathered from the ones of a mask of which it is known what moves.
    pub(super) fn compress_bits(&mut self) -> String {
        self.add("compress_bits".to_owned(), |name| {
            let steps = || (0..MOVES).map(|step| 1 << step);
            let parameters: Vec<String> = steps().map(|by| format!("u64 by_{by}")).collect();
            let moves: String = steps()
                .map(|by| format!("    bits = ((bits & by_{by}) >> {by}) | (bits & ~by_{by});\n"))
                .collect();
            format!(
                "// The bits of a code at the ones of a mask, side by side: some move by one place, then some by two, and so on.
static __device__ u64 {name}(u64 bits, u64 mask, {parameters}) {{
    bits &= mask;
{moves}    return bits;
}}
",
                parameters = parameters.join(", ")
            )
        })
    }

    /// Integer arithmetic that wraps around: `add`, `sub`, `mul`, `div`, `rem` and `abs`.
    pub(super) fn wrapping(&mut self, operation: &str, element: ElementType) -> String {
        let ty = element.name();
        // What is computed without a sign wraps around.
        let unsigned = if element.bytes() == 8 { "u64" } else { "u32" };
        let is_signed = element.is_signed();
        let infix = |sign: &str| format!("return ({ty})(({unsigned})a {sign} ({unsigned})b);");
        // The least number divided by minus one is not a number of its type.
        let divided = |sign: &str, least: &str| {
            let guard = if is_signed { format!("    if (b == -1) return {least};\n") } else { String::new() };
            format!("if (b == 0) __trap();\n{guard}    return a {sign} b;")
        };
        let body = match operation {
            "add" => infix("+"),
            "sub" => infix("-"),
            "mul" => infix("*"),
            "div" => divided("/", &format!("({ty})(0 - ({unsigned})a)")),
            "rem" => divided("%", "0"),
            _ => format!("return a < 0 ? ({ty})(0 - ({unsigned})a) : a;"),
        };
        let parameters = if operation == "abs" { format!("{ty} a") } else { format!("{ty} a, {ty} b") };
        self.add(format!("{operation}_{ty}"), |name| {
            format!("static __device__ {ty} {name}({parameters}) {{\n    {body}\n}}\n")
        })
    }

    /// The value of an element that is stored in two bytes: `ir/half.rs` says how.
    pub(super) fn read(&mut self, element: ElementType) -> String {
        let value = match element {
            ElementType::F16 => {
                "    const u32 magnitude = (u32)(half & 0x7fff) << 13;
    wide.bits = magnitude;
    wide.value *= 5192296858534827628530496329220096.0f;
    if (magnitude >= 0x0f800000u) wide.bits = magnitude | 0x7f800000u;
    wide.bits |= (u32)(half & 0x8000) << 16;
"
            }
            _ => "    wide.bits = (u32)half << 16;\n",
        };
        let ty = element.name();
        self.add(format!("f32_of_{ty}"), |name| {
            format!(
                "static __device__ f32 {name}({ty} half) {{
    union {{ u32 bits; f32 value; }} wide;
{value}    return wide.value;
}}
"
            )
        })
    }

    /// The element nearest to a value, of two the even one.
    pub(super) fn round(&mut self, element: ElementType) -> String {
        let value = match element {
            ElementType::F16 => {
                "    const u32 sign = wide.bits >> 16 & 0x8000u, magnitude = wide.bits & 0x7fffffffu;
    const u32 payload = magnitude >> 13 & 0x3ffu;
    if (magnitude > 0x7f800000u) return (f16)(sign | 0x7c00u | (payload == 0 ? 1u : payload));
    if (magnitude >= 0x47800000u) return (f16)(sign | 0x7c00u);
    if (magnitude >= 0x38800000u) return (f16)(sign | (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13);
    wide.bits = magnitude;
    wide.value += 0.5f;
    return (f16)(sign | (wide.bits - 0x3f000000u));
"
            }
            _ => {
                "    const u32 upper = wide.bits >> 16;
    if ((wide.bits & 0x7fffffffu) > 0x7f800000u) return (bf16)((upper & 0x7fu) == 0 ? upper | 1u : upper);
    return (bf16)((wide.bits + 0x7fffu + (upper & 1u)) >> 16);
"
            }
        };
        let ty = element.name();
        self.add(format!("{ty}_of_f32"), |name| {
            format!(
                "static __device__ {ty} {name}(f32 value) {{
    union {{ u32 bits; f32 value; }} wide;
    wide.value = value;
{value}}}
"
            )
        })
    }

    /// A floating point number as the nearest integer towards zero that there is: zero for NaN.
    pub(super) fn saturating(&mut self, from: ElementType, to: &str) -> String {
        let from = from.name();
        let element = ElementType::from_name(to).unwrap_or(ElementType::U64);
        let (least, greatest) = element.range();
        let suffix = suffix(element);
        let (beyond, most) = (format!("{}.0", greatest + 1), format!("{greatest}{suffix}"));
        // The least number of a type is no literal of it.
        let lowest = match least {
            0 => "0".to_owned(),
            _ if element.bytes() < 4 => least.to_string(),
            _ => format!("{}{suffix} - 1", least + 1),
        };
        let least = format!("{least}.0");
        self.add(format!("{to}_of_{from}"), |name| {
            format!(
                "static __device__ {to} {name}({from} value) {{
    if (!(value > ({from}){least})) return value != value ? 0 : {lowest};
    return value >= ({from}){beyond} ? {most} : ({to})value;
}}
"
            )
        })
    }

    /// `*place = *place operator value`, for threads that may do so at the same time.
    pub(super) fn atomic(&mut self, operator: ReduceOperator, held: ArrayElement) -> String {
        let ty = element(held);
        if matches!(held, ArrayElement::Value(element) if element.is_complex()) {
            return self.add(format!("atomic_{}_{ty}", word(operator)), |name| {
                format!(
                    "static __device__ void {name}({ty}* place, {ty} value) {{
    atomicAdd(&place->re, value.re);
    atomicAdd(&place->im, value.im);
}}
"
                )
            });
        }
        if let Some((function, cast)) = native(operator, held) {
            if cast.is_empty() {
                return function.to_owned();
            }
            return self.add(format!("atomic_{}_{ty}", word(operator)), |name| {
                format!(
                    "static __device__ void {name}({ty}* place, {ty} value) {{
    {function}(({cast}*)place, ({cast})value);
}}
"
                )
            });
        }
        let combined = self.combined(operator, held.ty(), "(seen_value)", "value");
        let bytes = match held {
            ArrayElement::Index(width) => width.bytes(),
            ArrayElement::Value(element) => element.bytes(),
        };
        self.add(format!("atomic_{}_{ty}", word(operator)), |name| {
            if bytes < 4 { narrow_loop(name, ty, bytes, &combined) } else { loop_of(name, ty, &combined) }
        })
    }

    fn combined(&mut self, operator: ReduceOperator, ty: Type, left: &str, right: &str) -> String {
        match operator.combine(ty).expect("verified reductions are of types that have them") {
            Combine::Operator(BinaryOperator::Minimum) => format!("min({left}, {right})"),
            Combine::Operator(BinaryOperator::Maximum) => format!("max({left}, {right})"),
            Combine::Operator(binary) => match ty {
                Type::Element(element) if element.is_integer() && wrapping_name(binary).is_some() => {
                    let name = wrapping_name(binary).unwrap_or_default();
                    format!("{}({left}, {right})", self.wrapping(name, element))
                }
                _ => format!("{left} {} {right}", operator.name()),
            },
            Combine::Function(function) => {
                let name = function.name();
                match ty {
                    Type::Element(ElementType::F64) => format!("f{name}({left}, {right})"),
                    Type::Element(ElementType::F32) => format!("f{name}f({left}, {right})"),
                    _ => format!("{name}({left}, {right})"),
                }
            }
            Combine::Defined(_) => format!("{}({left}, {right})", defined_name(operator, ty)),
        }
    }
}

/// The operator in the name of a helper.
fn word(operator: ReduceOperator) -> String {
    if operator.is_declared() { defined_name(operator, Type::Index) } else { operator.row().word.to_owned() }
}

/// The name of the function of a declared operator.
pub(super) fn defined_name(operator: ReduceOperator, ty: Type) -> String {
    let ascii = |c: char| if c.is_ascii_alphanumeric() { c.to_string() } else { format!("_{:x}_", u32::from(c)) };
    let name: String = operator.name().chars().map(ascii).collect();
    format!("reduce_{name}_{}", super::type_name(ty))
}

/// The name of an operator of integers that wraps around.
pub(super) fn wrapping_name(operator: BinaryOperator) -> Option<&'static str> {
    Some(match operator {
        BinaryOperator::Add => "add",
        BinaryOperator::Subtract => "sub",
        BinaryOperator::Multiply => "mul",
        BinaryOperator::Divide => "div",
        BinaryOperator::Remainder => "rem",
        _ => return None,
    })
}

/// What a literal of an integer type ends in.
pub(super) fn suffix(element: ElementType) -> &'static str {
    match (element.is_signed(), element.bytes()) {
        (true, 8) => "ll",
        (false, 8) => "ull",
        (false, 4) => "u",
        _ => "",
    }
}

/// The words of texts.
fn words_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
    texts.into_iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_')).collect()
}

/// The atomic operation that CUDA has, and the type that it takes for this one where that differs.
fn native(operator: ReduceOperator, held: ArrayElement) -> Option<(&'static str, &'static str)> {
    let function = operator.row().atomic?;
    let is_sum = operator == ReduceOperator::Add;
    let is_bits = operator.row().domain == Domain::Bits;
    match held {
        ArrayElement::Index(_) if held.bytes() >= 4 => Some((function, "")),
        ArrayElement::Value(element) if element.is_float() => is_sum.then_some((function, "")),
        // What works on bits alone takes no sign.
        ArrayElement::Value(ElementType::I64) if is_sum || is_bits => Some((function, "u64")),
        ArrayElement::Value(element) if element.is_integer() && held.bytes() >= 4 => Some((function, "")),
        _ => None,
    }
}

/// Tries until no other thread came between.
fn loop_of(name: &str, ty: &str, combined: &str) -> String {
    let (word, of_word, to_word) = match ty {
        "f64" => ("u64", "__longlong_as_double((i64)seen)", "(u64)__double_as_longlong"),
        "f32" => ("u32", "__int_as_float((i32)seen)", "(u32)__float_as_int"),
        "i64" | "u64" => ("u64", "(TYPE)seen", "(u64)"),
        _ => ("u32", "(TYPE)seen", "(u32)"),
    };
    let of_word = of_word.replace("TYPE", ty);
    format!(
        "static __device__ void {name}({ty}* place, {ty} value) {{
    {word} seen, now = *(volatile {word}*)place;
    do {{
        seen = now;
        const {ty} seen_value = {of_word};
        now = atomicCAS(({word}*)place, seen, {to_word}({combined}));
    }} while (now != seen);
}}
",
        combined = combined.replace("(seen_value)", "seen_value"),
    )
}

/// The same for a part of a word, the smallest that can be exchanged.
fn narrow_loop(name: &str, ty: &str, bytes: usize, combined: &str) -> String {
    let (mask, low) = if bytes == 1 { ("0xffu", 3) } else { ("0xffffu", 2) };
    // The sign of a number must not reach the bytes beside it.
    let unsigned = ty.replace('i', "u");
    let part = if unsigned == ty { String::new() } else { format!("({unsigned})") };
    format!(
        "static __device__ void {name}({ty}* place, {ty} value) {{
    u32* word = (u32*)((u64)place & ~3ull);
    const u32 shift = 8 * (u32)((u64)place & {low});
    u32 seen, now = *(volatile u32*)word;
    do {{
        seen = now;
        const {ty} seen_value = ({ty})(seen >> shift & {mask});
        const u32 combined = (u32){part}({ty})({combined}) << shift;
        now = atomicCAS(word, seen, (seen & ~({mask} << shift)) | combined);
    }} while (now != seen);
}}
",
        combined = combined.replace("(seen_value)", "seen_value"),
    )
}
