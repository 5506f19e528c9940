//! What each function does, and what it says of mistakes.

use spc_c::*;
use std::ffi::{CStr, CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) fn text(text: &str) -> CString {
    CString::new(text).unwrap()
}

pub(crate) fn message() -> String {
    // SAFETY: the library's own string.
    unsafe { CStr::from_ptr(spc_message()) }.to_str().unwrap().to_owned()
}

#[track_caller]
pub(crate) fn made(call: impl FnOnce(*mut u64) -> Status) -> u64 {
    let mut handle = 0;
    let status = call(&mut handle);
    assert_eq!(status, Status::Ok, "{}", message());
    handle
}

pub(crate) fn indices<T>(array: &[T]) -> Indices {
    Indices { data: array.as_ptr().cast(), length: array.len() as u64, bytes: size_of::<T>() as u64 }
}

pub(crate) fn values<T>(array: &[T], element: i32) -> Values {
    Values { data: array.as_ptr().cast(), length: array.len() as u64, element }
}

pub(crate) fn csr(positions: &[u32], columns: &[u32], entries: &[f64], shape: [u64; 2]) -> u64 {
    let (positions, columns, entries) = (indices(positions), indices(columns), values(entries, 0));
    made(|handle| spc_tensor_csr(shape[0], shape[1], &positions, &columns, &entries, null(), handle))
}

pub(crate) fn dense(shape: &[u64], entries: &[f64]) -> u64 {
    let entries = values(entries, 0);
    made(|handle| spc_tensor_dense(shape.len() as u32, shape.as_ptr(), &entries, null(), handle))
}

pub(crate) fn kernel(line: &str, formats: &[(&str, &str)]) -> u64 {
    let builder = made(|handle| spc_builder_new(text(line).as_ptr(), handle));
    for (tensor, format) in formats {
        assert_eq!(spc_builder_format(builder, text(tensor).as_ptr(), text(format).as_ptr()), Status::Ok);
    }
    assert_eq!(spc_builder_backend(builder, c"interpreter".as_ptr()), Status::Ok);
    let kernel = made(|handle| spc_kernel_compile(builder, handle));
    assert_eq!(spc_free(builder), Status::Ok);
    kernel
}

pub(crate) fn contents(tensor: u64) -> Vec<f64> {
    let mut found = Values { data: null(), length: 0, element: -1 };
    assert_eq!(spc_tensor_values(tensor, &mut found), Status::Ok);
    assert_eq!(found.element, 0);
    // SAFETY: the library says that so many lie there.
    unsafe { std::slice::from_raw_parts(found.data.cast::<f64>(), found.length as usize) }.to_vec()
}

fn told(ask: impl Fn(*mut std::ffi::c_char, u64, *mut u64) -> Status) -> String {
    let mut length = 0;
    assert_eq!(ask(null_mut(), 0, &mut length), Status::Ok, "{}", message());
    let mut buffer = vec![b'!'; length as usize + 1];
    assert_eq!(ask(buffer.as_mut_ptr().cast(), length, null_mut()), Status::Argument);
    assert!(buffer.iter().all(|byte| *byte == b'!'));
    assert_eq!(ask(buffer.as_mut_ptr().cast(), length + 1, null_mut()), Status::Ok);
    CString::from_vec_with_nul(buffer).unwrap().into_string().unwrap()
}

#[test]
fn a_product_has_a_sparse_result_with_arrays_to_read() {
    let a = csr(&[0, 1, 3], &[1, 0, 2], &[2.0, 3.0, 4.0], [2, 3]);
    let b = csr(&[0, 1, 2, 3], &[0, 1, 0], &[1.0, 5.0, 7.0], [3, 2]);
    let product = kernel("C(i, j) = A(i, k) * B(k, j)", &[("A", "csr"), ("B", "csr"), ("C", "csr")]);
    let c = made(|handle| spc_kernel_call(product, [a, b].as_ptr(), 2, handle, 1));
    assert_eq!(contents(c), [10.0, 31.0]);
    assert_eq!(told(|buffer, capacity, length| spc_tensor_format(c, buffer, capacity, length)), "[dense, compressed]");
    let mut info = Info { element: -1, order: 0, levels: 0, entries: 0, values: 0, bytes: 0 };
    assert_eq!(spc_tensor_info(c, &mut info), Status::Ok);
    assert_eq!((info.element, info.order, info.levels, info.entries, info.values), (0, 2, 2, 2, 2));
    let none = Indices { data: null(), length: 0, bytes: 0 };
    let mut level = Level { positions: none, coordinates: none };
    assert_eq!(spc_tensor_level(c, 1, &mut level), Status::Ok);
    assert_eq!((level.positions.length, level.positions.bytes, level.coordinates.length), (3, 4, 2));
    assert_eq!(spc_tensor_level(c, 2, &mut level), Status::Argument);
    let mut shape = [0; 2];
    assert_eq!(spc_tensor_shape(c, shape.as_mut_ptr(), 1), Status::Argument);
    assert_eq!(spc_tensor_shape(c, shape.as_mut_ptr(), 2), Status::Ok);
    assert_eq!(shape, [2, 2]);
    let back = made(|handle| spc_tensor_convert(c, c"dense".as_ptr(), handle));
    assert_eq!(contents(back), [0.0, 10.0, 31.0, 0.0]);
    for handle in [a, b, c, back, product] {
        assert_eq!(spc_free(handle), Status::Ok);
    }
}

#[test]
fn indices_are_of_either_width_with_or_without_a_sign_and_checked() {
    let (positions, columns, entries) = ([0_i64, 1, 3], [1_i64, 0, 2], [2.0, 3.0, 4.0]);
    let (at, of, with) = (indices(&positions), indices(&columns), values(&entries, 0));
    let a = made(|handle| spc_tensor_csr(2, 3, &at, &of, &with, null(), handle));
    let wide = "[dense, compressed(u64, pos = u64)]";
    assert_eq!(told(|buffer, capacity, length| spc_tensor_format(a, buffer, capacity, length)), wide);
    let product = kernel("y(i) = A(i, j) * x(j)", &[("A", wide)]);
    let x = dense(&[3], &[1.0, 10.0, 100.0]);
    let y = made(|handle| spc_kernel_call(product, [a, x].as_ptr(), 2, handle, 1));
    assert_eq!(contents(y), [20.0, 403.0]);
    let of = indices(&[1_i32, -1, 2]);
    let at = indices(&[0_i32, 1, 3]);
    let mut none = 7;
    assert_eq!(spc_tensor_csr(2, 3, &at, &of, &with, null(), &mut none), Status::Tensor);
    assert!(none == 7 && message().contains("4294967295"), "{}", message());
}

#[test]
fn coordinates_sorted_or_not() {
    let (rows, columns, depth) = ([0_u32, 0, 1], [0_u32, 2, 1], [1_u32, 0, 3]);
    let coordinates = [indices(&rows), indices(&columns), indices(&depth)];
    let with = values(&[1.0, 2.0, 3.0], 0);
    let shape = [2, 3, 4];
    let x = made(|handle| spc_tensor_coo(3, shape.as_ptr(), coordinates.as_ptr(), &with, null(), handle));
    let sum = kernel("y(k) = X(i, j, k)", &[("X", "coo")]);
    let y = made(|handle| spc_kernel_call(sum, &x, 1, handle, 1));
    assert_eq!(contents(y), [2.0, 1.0, 0.0, 3.0]);
    let turned = [indices(&depth), indices(&columns), indices(&rows)];
    let mut none = 0;
    assert_eq!(spc_tensor_coo(3, [4, 3, 2].as_ptr(), turned.as_ptr(), &with, null(), &mut none), Status::Tensor);
    let turned =
        made(|handle| spc_tensor_entries(3, [4, 3, 2].as_ptr(), c"csf".as_ptr(), turned.as_ptr(), &with, 0, handle));
    assert_eq!(contents(turned), [2.0, 1.0, 3.0]);
}

#[test]
fn arrays_that_are_lent_are_released_once_and_not_before_the_last_that_has_them() {
    static RELEASED: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn release(object: *mut c_void) {
        RELEASED.fetch_add(object as usize, Ordering::SeqCst);
    }
    let owner = Owner { object: std::ptr::dangling_mut::<c_void>(), release: Some(release) };
    let (positions, columns, entries) = (vec![0_u32, 1, 3], vec![1_u32, 0, 2], vec![2.0, 3.0, 4.0]);
    let (at, of, with) = (indices(&positions), indices(&columns), values(&entries, 0));
    let mut none = 0;
    assert_eq!(spc_tensor_csr(3, 3, &at, &of, &with, &owner, &mut none), Status::Tensor);
    assert_eq!(RELEASED.load(Ordering::SeqCst), 0, "what failed has taken nothing");
    let a = made(|handle| spc_tensor_csr(2, 3, &at, &of, &with, &owner, handle));
    let mut found = Values { data: null(), length: 0, element: -1 };
    assert_eq!(spc_tensor_values(a, &mut found), Status::Ok);
    assert_eq!(found.data, entries.as_ptr().cast(), "without a copy");
    let scale = kernel("B(i, j) = 2 * A(i, j)", &[("A", "csr"), ("B", "csr")]);
    let b = made(|handle| spc_kernel_call(scale, &a, 1, handle, 1));
    assert_eq!(spc_free(a), Status::Ok);
    assert_eq!(RELEASED.load(Ordering::SeqCst), 0, "the result has the same columns");
    assert_eq!(contents(b), [4.0, 6.0, 8.0]);
    assert_eq!(spc_free(b), Status::Ok);
    assert_eq!(RELEASED.load(Ordering::SeqCst), 1);
    assert_eq!((spc_free(a), spc_free(b), RELEASED.load(Ordering::SeqCst)), (Status::Handle, Status::Handle, 1));
}

#[test]
fn truth_values_are_copied() {
    static RELEASED: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn release(_: *mut c_void) {
        RELEASED.fetch_add(1, Ordering::SeqCst);
    }
    let owner = Owner { object: null_mut(), release: Some(release) };
    let mut bytes = [1_u8, 0, 1];
    let tensor = |bytes: &[u8], result| spc_tensor_dense(1, [3].as_ptr(), &values(bytes, 12), &owner, result);
    let a = made(|handle| tensor(&bytes, handle));
    assert_eq!(RELEASED.load(Ordering::SeqCst), 1, "nothing has the bytes any longer");
    bytes.fill(200);
    let mut found = Values { data: null(), length: 0, element: -1 };
    assert_eq!(spc_tensor_values(a, &mut found), Status::Ok);
    // SAFETY: the library says that so many lie there.
    let copied = unsafe { std::slice::from_raw_parts(found.data.cast::<u8>(), found.length as usize) };
    assert_eq!((copied, found.element), (&[1, 0, 1][..], 12));
    assert_eq!(tensor(&bytes, &mut 0), Status::Argument);
    assert!(message().contains("truth value 0 is the byte 200"), "{}", message());
    assert_eq!((RELEASED.load(Ordering::SeqCst), spc_free(a)), (1, Status::Ok));
}

#[test]
fn results_go_into_arrays_that_share_nothing() {
    let a = csr(&[0, 1, 3], &[1, 0, 2], &[2.0, 3.0, 4.0], [2, 3]);
    static X: [f64; 3] = [1.0, 10.0, 100.0];
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    let owner = Owner { object: null_mut(), release: Some(nothing) };
    let with = values(&X, 0);
    let x = made(|handle| spc_tensor_dense(1, [3].as_ptr(), &with, &owner, handle));
    let both = kernel("fn f(A: csr, x: dense) -> (y: dense, s: f64) { y(i) = A(i, j) * x(j); s = A(i, j); }", &[]);
    let (mut y, mut s) = ([7.0; 2], 7.0_f64);
    let target = |data: *mut f64, length, shape: &'static [u64]| Target {
        data: data.cast(),
        length,
        element: 0,
        order: shape.len() as u32,
        shape: shape.as_ptr(),
    };
    let targets = [target(y.as_mut_ptr(), 2, &[2]), target(&mut s, 1, &[])];
    assert_eq!(spc_kernel_call_into(both, [a, x].as_ptr(), 2, targets.as_ptr(), 2), Status::Ok, "{}", message());
    assert_eq!((y, s), ([20.0, 403.0], 9.0));
    let overlapping = [target(X.as_ptr().cast_mut(), 2, &[2]), target(&mut s, 1, &[])];
    assert_eq!(spc_kernel_call_into(both, [a, x].as_ptr(), 2, overlapping.as_ptr(), 2), Status::Argument);
    let short = [target(y.as_mut_ptr(), 1, &[1]), target(&mut s, 1, &[])];
    assert_eq!(spc_kernel_call_into(both, [a, x].as_ptr(), 2, short.as_ptr(), 2), Status::Call, "{}", message());
    assert_eq!(spc_kernel_call_into(both, [a, x].as_ptr(), 2, short.as_ptr(), 1), Status::Call);
    assert_eq!(y, [20.0, 403.0]);
}

#[test]
fn truth_values_are_copied_from_bytes_and_to_them() {
    static RELEASED: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" fn release(_: *mut c_void) {
        RELEASED.fetch_add(1, Ordering::SeqCst);
    }
    let owner = Owner { object: null_mut(), release: Some(release) };
    let mut bytes = [1_u8, 0, 1];
    let with = Values { data: bytes.as_mut_ptr().cast(), length: 3, element: 12 };
    let x = made(|handle| spc_tensor_dense(1, [3].as_ptr(), &with, &owner, handle));
    bytes[0] = 200;
    std::hint::black_box(&bytes);
    let count = kernel("fn f(x: bool dense) -> n: f64 { n += select(x(i), 1.0, 0.0); }", &[]);
    let n = made(|handle| spc_kernel_call(count, &x, 1, handle, 1));
    assert_eq!((contents(n), RELEASED.load(Ordering::SeqCst)), (vec![2.0], 1));
    let mut none = 0;
    assert_eq!(spc_tensor_dense(1, [3].as_ptr(), &with, null(), &mut none), Status::Argument);
    assert!(message().contains("200"), "{}", message());
    // What a target held before is of no matter.
    let not = kernel("fn f(x: bool dense) -> y: bool dense { y(i) = !x(i); }", &[]);
    let mut y = [7_u8; 3];
    let target = Target { data: y.as_mut_ptr().cast(), length: 3, element: 12, order: 1, shape: [3].as_ptr() };
    assert_eq!(spc_kernel_call_into(not, &x, 1, &target, 1), Status::Ok, "{}", message());
    assert_eq!(y, [0, 1, 0]);
}

#[test]
fn mistakes_in_texts_are_shown_where_they_are() {
    let builder = made(|handle| spc_builder_new(c"y(i) = A(i, j) + x(j".as_ptr(), handle));
    let mut none = 0;
    assert_eq!(spc_kernel_compile(builder, &mut none), Status::Text);
    assert!(message().contains('^'), "{}", message());
    let product = kernel("y(i) = A(i, j) * x(j)", &[("A", "csr")]);
    let told_of =
        |place| told(|buffer, capacity, length| spc_kernel_parameter(product, place, buffer, capacity, length));
    assert_eq!(
        [told_of(0), told_of(1), told_of(2)],
        ["A: f64 [dense, compressed]", "x: f64 [dense]", "y: f64 [dense]"]
    );
    let text_of = |what: &str| {
        let what = text(what);
        told(|buffer, capacity, length| spc_kernel_text(product, what.as_ptr(), buffer, capacity, length))
    };
    assert!(text_of("rust").contains("fn ") && text_of("c").contains("#include"));
    assert_eq!((text_of("backend"), text_of("warnings")), ("interpreter".to_owned(), String::new()));
    let (mut inputs, mut results) = (0, 0);
    assert_eq!(spc_kernel_counts(product, &mut inputs, &mut results), Status::Ok);
    assert_eq!((inputs, results), (2, 1));
    let x = dense(&[3], &[1.0, 2.0, 3.0]);
    assert_eq!(spc_kernel_call(product, [x, x].as_ptr(), 2, &mut none, 1), Status::Call);
    assert!(message().contains("`A` is declared with 2 modes"), "{}", message());
}

#[test]
fn files_are_read_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = text(folder.path().join("a.mtx").to_str().unwrap());
    let a = csr(&[0, 1, 3], &[1, 0, 2], &[2.0, 3.0, 4.0], [2, 3]);
    assert_eq!(spc_tensor_write(a, path.as_ptr()), Status::Ok);
    let b = made(|handle| spc_tensor_read(path.as_ptr(), handle));
    assert_eq!(contents(b), [2.0, 3.0, 4.0]);
    let mut none = 0;
    assert_eq!(spc_tensor_read(c"/nowhere/a.mtx".as_ptr(), &mut none), Status::File);
    assert!(message().contains("/nowhere/a.mtx"), "{}", message());
}

#[test]
fn many_threads_use_and_free_the_same_handles() {
    let a = csr(&[0, 1, 3], &[1, 0, 2], &[2.0, 3.0, 4.0], [2, 3]);
    let product = kernel("y(i) = A(i, j) * x(j)", &[("A", "csr")]);
    let shared = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for number in 0..4 {
            let shared = &shared;
            scope.spawn(move || {
                for _ in 0..50 {
                    let x = dense(&[3], &[1.0, 10.0, 100.0]);
                    let y = made(|handle| spc_kernel_call(product, [a, x].as_ptr(), 2, handle, 1));
                    assert_eq!(contents(y), [20.0, 403.0]);
                    shared.lock().unwrap().push(x);
                    // Another thread may have freed it: then it is an error, of this thread alone.
                    let victim = shared.lock().unwrap().pop();
                    assert!(victim.is_none_or(|victim| spc_free(victim) == Status::Ok));
                    assert_ne!(spc_free(x + (number << 40)), Status::Ok);
                }
            });
        }
    });
}
