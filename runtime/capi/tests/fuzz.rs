//! Wrong handles, lengths, numbers and pointers: each call ends with a status, and the library works as before.

use crate::calls::{contents, csr, dense, kernel, made, message};
use spc_c::*;
use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI64, Ordering};

/// A small random number generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.next() as usize % choices.len()]
    }
}

/// How often something that was lent was taken and given back.
static LENT: AtomicI64 = AtomicI64::new(0);

unsafe extern "C" fn release(_: *mut c_void) {
    LENT.fetch_sub(1, Ordering::SeqCst);
}

struct Fuzz {
    random: Random,
    handles: Vec<u64>,
    /// Memory that all arrays lie in, so that a length up to its own is no lie.
    room: Vec<u64>,
    texts: Vec<&'static [u8]>,
}

/// Elements of 8 bytes in the room.
const ROOM: u64 = 64;

impl Fuzz {
    fn handle(&mut self) -> u64 {
        match self.random.next() % 8 {
            0 => self.random.of(&[0, 1, u64::MAX, 0x5bc0_0000_0000]),
            1 => self.random.next() << 20,
            _ => self.handles[self.random.next() as usize % self.handles.len()],
        }
    }

    /// A length that the room has, or one that no memory has.
    fn length(&mut self) -> u64 {
        match self.random.next() % 6 {
            0 => self.random.of(&[u64::MAX, 1 << 63, (1 << 60) + 3, u64::MAX / 8]),
            _ => self.random.next() % 7,
        }
    }

    fn data(&mut self) -> *const c_void {
        let room = self.room.as_ptr();
        match self.random.next() % 8 {
            0 => null(),
            1 => room.cast::<u8>().wrapping_add(1).cast(),
            _ => room.wrapping_add(self.random.next() as usize % 8).cast(),
        }
    }

    fn indices(&mut self) -> Indices {
        let bytes = self.random.of(&[0, 1, 2, 4, 4, 4, 8, 8, 3, u64::MAX]);
        Indices { data: self.data(), length: self.length(), bytes }
    }

    fn values(&mut self) -> Values {
        let element = self.random.of(&[0, 0, 1, 3, 6, 12, 14, 15, -1, i32::MAX, i32::MIN]);
        let length = self.length();
        Values { data: self.data(), length: if element == 14 { length.min(16) } else { length }, element }
    }

    fn text(&mut self) -> *const c_char {
        let text = self.texts[self.random.next() as usize % self.texts.len()];
        if self.random.next().is_multiple_of(12) { null() } else { text.as_ptr().cast() }
    }

    /// One call with what it asks for, right or wrong.
    fn call(&mut self) -> (Status, u64) {
        let (order, mut result) = (self.random.of(&[0, 1, 2, 2, 3, 300, u32::MAX]), 0);
        let shape: Vec<u64> = (0..4).map(|_| self.length()).collect();
        let place = if self.random.next().is_multiple_of(16) { null_mut() } else { &raw mut result };
        let (values, owner) = (self.values(), Owner { object: null_mut(), release: Some(release) });
        let owner = if self.random.next().is_multiple_of(2) { null() } else { &raw const owner };
        let arrays = [self.indices(), self.indices(), self.indices()];
        let shape = if self.random.next().is_multiple_of(16) { null() } else { shape.as_ptr() };
        let (text, handle, mut length) = (self.text(), self.handle(), 0_u64);
        let mut buffer = [0 as c_char; 512];
        let inputs = [self.handle(), self.handle(), self.handle()];
        let count = self.random.next() % 4;
        let status = match self.random.next() % 21 {
            0 => spc_tensor_dense(order, shape, &values, owner, place),
            1 => spc_tensor_csr(self.length(), self.length(), &arrays[0], &arrays[1], &values, owner, place),
            2 => spc_tensor_coo(order, shape, arrays.as_ptr(), &values, owner, place),
            3 => {
                let level = |positions, coordinates| Level { positions, coordinates };
                let levels = [level(arrays[0], arrays[1]), level(arrays[1], arrays[2]), level(arrays[2], arrays[0])];
                let count = self.random.of(&[0, 1, 2, 3, 1 << 40, u64::MAX]);
                spc_tensor_levels(order, shape, text, levels.as_ptr(), count, &values, owner, place)
            }
            4 => spc_tensor_entries(order, shape, text, arrays.as_ptr(), &values, 1, place),
            5 => spc_tensor_convert(handle, text, place),
            6 => spc_tensor_read(text, place),
            7 => spc_tensor_info(handle, null_mut()),
            8 => spc_tensor_shape(handle, &mut length, 1),
            9 => spc_tensor_format(handle, buffer.as_mut_ptr(), self.random.next() % 512, &mut length),
            10 => spc_tensor_level(handle, self.length(), null_mut()),
            11 => spc_tensor_values(handle, null_mut()),
            12 => spc_builder_new(text, place),
            13 => spc_builder_format(handle, text, self.text()),
            14 => spc_builder_extent(handle, text, self.length()),
            15 => spc_kernel_counts(handle, &mut length, &mut result),
            16 => spc_kernel_parameter(handle, self.length(), buffer.as_mut_ptr(), 512, &mut length),
            17 => spc_kernel_text(handle, text, buffer.as_mut_ptr(), 512, &mut length),
            18 => spc_kernel_call(handle, inputs.as_ptr(), count, place, self.random.of(&[1, 1, 0, u64::MAX])),
            19 => spc_kernel_call(self.handles[2], inputs.as_ptr(), self.random.of(&[2, 2, 1, u64::MAX]), place, 1),
            _ => {
                let mut out = [0.0_f64; 8];
                let length = self.random.next() % 9;
                let order = self.random.of(&[0, 1, 1, 2]);
                let target = Target {
                    data: out.as_mut_ptr().cast(),
                    length,
                    element: self.random.of(&[0, 0, 1, 99]),
                    order,
                    shape,
                };
                spc_kernel_call_into(self.handles[2], inputs.as_ptr(), 2, &target, self.random.of(&[1, 0, u64::MAX]))
            }
        };
        // What lends gives back once, if it was taken.
        (status, if place.is_null() || status != Status::Ok { 0 } else { result })
    }
}

#[test]
fn wrong_calls_are_errors() {
    let a = csr(&[0, 1, 3], &[1, 0, 2], &[2.0, 3.0, 4.0], [2, 3]);
    let x = dense(&[3], &[1.0, 10.0, 100.0]);
    let product = kernel("y(i) = A(i, j) * x(j)", &[("A", "csr")]);
    let builder = made(|handle| spc_builder_new(c"y(i) = x(i)".as_ptr(), handle));
    let freed = dense(&[1], &[1.0]);
    assert_eq!(spc_free(freed), Status::Ok);
    let texts: Vec<&[u8]> = vec![
        b"csr\0",
        b"dense\0",
        b"csf\0",
        b"coo\0",
        b"\xff\xfe\0",
        b"\0",
        b"[dense,\0",
        b"y(i) = x(i)\0",
        b"jit\0",
        b"rust\0",
        b"c\0",
        b"/no/such/file.tns\0",
        b"hicoo(2)\0",
        b"[dense, compressed(u64, pos = u64)]\0",
        b"bcsr(2)\0",
    ];
    // Small numbers, so that some arrays are right.
    let room: Vec<u64> = (0..ROOM).map(|place| (place % 3) | ((place % 2) << 32)).collect();
    let mut fuzz = Fuzz { random: Random(7), handles: vec![a, x, product, builder, freed], room, texts };
    let mut seen = [0; Status::ALL.len()];
    for _ in 0..20_000 {
        let (status, made) = fuzz.call();
        assert_ne!(status, Status::Internal, "{}", message());
        seen[status as usize] += 1;
        if made > 1 << 32 {
            fuzz.handles.push(made);
        }
        if fuzz.handles.len() > 40 {
            let victim = fuzz.handles.remove(5);
            assert_eq!(spc_free(victim), Status::Ok);
        }
    }
    for status in
        [Status::Ok, Status::Argument, Status::Handle, Status::Text, Status::Tensor, Status::Call, Status::File]
    {
        assert!(seen[status as usize] > 10, "{status:?} is too rare: {seen:?}");
    }
    let y = made(|handle| spc_kernel_call(product, [a, x].as_ptr(), 2, handle, 1));
    assert_eq!(contents(y), [20.0, 403.0]);
}
