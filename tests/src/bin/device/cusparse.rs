//! NVIDIA's cuSPARSE beside our kernels: the same matrices in the same process, timed by the same events.
//!
//! The library is looked for when the program starts, and is not linked. Of bindings, those of `cudarc` end the program where a
//! function is missing, and would be compiled for everybody who runs kernels on a GPU: the few functions that are called here stand
//! in one table.
//!
//! Rows are compressed, dense matrices row-major, indices 32 bits wide. Each algorithm that the library has for an operation is
//! prepared as it asks for (buffers and preprocessing are not timed) and measured; the fastest counts. What a product of two
//! sparse matrices allocates is timed, as it is for ours.

use crate::kernels::Operation;
use crate::median;
use libloading::Library;
use spc::cuda::{Gpu, Stream};
use spc::execute::device::{Device, Memory};
use spc::tensor::{AnyTensor, IndexArray, Values};
use std::ffi::{CStr, OsStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::time::Duration;

const NAMES: [&str; 3] = ["libcusparse.so.12", "libcusparse.so", "libcusparse.so.11"];

const REMEDIES: &str = "install the CUDA toolkit and set CUDA_HOME; or `pip install nvidia-cusparse-cu12` and name its libcusparse.so.12 in \
                        SPC_CUSPARSE; or put the folder with libcusparse.so.12 into LD_LIBRARY_PATH";

/// An object of the library, or an address on the device.
type Object = *mut c_void;

/// The type of a function with these parameters. All but the one that makes texts return a status.
macro_rules! function {
    ($($argument:ty),*) => { unsafe extern "C" fn($($argument),*) -> i32 };
}

/// Says how large a buffer is to be.
type Sizes = function!(Object, i32, i32, *const c_void, Object, Object, *const c_void, Object, i32, i32, *mut usize);

/// Works with a buffer.
type Step = function!(Object, i32, i32, *const c_void, Object, Object, *const c_void, Object, i32, i32, Object);

/// Says how large a buffer is to be, or works with it, for a product of two sparse matrices.
type Stage = function!(
    Object,
    i32,
    i32,
    *const c_void,
    Object,
    Object,
    *const c_void,
    Object,
    i32,
    i32,
    Object,
    *mut usize,
    Object
);

/// The functions of a product for which the library wants a buffer and prepares, and how it takes the second operand.
struct Product {
    size: Sizes,
    prepare: Step,
    multiply: Step,
    second: i32,
}

macro_rules! functions {
    ($($name:ident: $type:ty = $symbol:literal;)*) => {
        /// What is called of the library.
        struct Functions {
            $($name: $type,)*
            text: unsafe extern "C" fn(i32) -> *const c_char,
        }

        impl Functions {
            fn of(library: &Library) -> Result<Self, String> {
                let missing = |error: libloading::Error| format!("this cuSPARSE can't be used: {error}");
                // SAFETY: the functions have these parameters in versions 11 and 12 of the library, and are not called here.
                unsafe {
                    Ok(Self {
                        $($name: *library.get(concat!($symbol, "\0").as_bytes()).map_err(missing)?,)*
                        text: *library.get(b"cusparseGetErrorString\0").map_err(missing)?,
                    })
                }
            }
        }
    };
}
functions! {
    create: function!(*mut Object) = "cusparseCreate";
    destroy: function!(Object) = "cusparseDestroy";
    set_stream: function!(Object, Object) = "cusparseSetStream";
    version: function!(Object, *mut i32) = "cusparseGetVersion";
    create_csr: function!(*mut Object, i64, i64, i64, Object, Object, Object, i32, i32, i32, i32) = "cusparseCreateCsr";
    create_vector: function!(*mut Object, i64, Object, i32) = "cusparseCreateDnVec";
    create_matrix: function!(*mut Object, i64, i64, i64, Object, i32, i32) = "cusparseCreateDnMat";
    destroy_csr: function!(Object) = "cusparseDestroySpMat";
    destroy_vector: function!(Object) = "cusparseDestroyDnVec";
    destroy_matrix: function!(Object) = "cusparseDestroyDnMat";
    spmv_size: function!(Object, i32, *const c_void, Object, Object, *const c_void, Object, i32, i32, *mut usize) = "cusparseSpMV_bufferSize";
    spmv: function!(Object, i32, *const c_void, Object, Object, *const c_void, Object, i32, i32, Object) = "cusparseSpMV";
    spmm_size: Sizes = "cusparseSpMM_bufferSize";
    spmm_prepare: Step = "cusparseSpMM_preprocess";
    spmm: Step = "cusparseSpMM";
    sddmm_size: Sizes = "cusparseSDDMM_bufferSize";
    sddmm_prepare: Step = "cusparseSDDMM_preprocess";
    sddmm: Step = "cusparseSDDMM";
    spgemm_create: function!(*mut Object) = "cusparseSpGEMM_createDescr";
    spgemm_destroy: function!(Object) = "cusparseSpGEMM_destroyDescr";
    spgemm_estimate: Stage = "cusparseSpGEMM_workEstimation";
    spgemm_compute: Stage = "cusparseSpGEMM_compute";
    spgemm_copy: Step = "cusparseSpGEMM_copy";
    size: function!(Object, *mut i64, *mut i64, *mut i64) = "cusparseSpMatGetSize";
    set_arrays: function!(Object, Object, Object, Object) = "cusparseCsrSetPointers";
    create_kind: function!(*mut Object) = "cusparseCreateMatDescr";
    destroy_kind: function!(Object) = "cusparseDestroyMatDescr";
    add_size: function!(
        Object, i32, i32, *const c_void, Object, i32, Object, Object, Object, *const c_void, Object, i32, Object, Object, Object,
        Object, Object, Object, Object, *mut usize
    ) = "cusparseDcsrgeam2_bufferSizeExt";
    add_count: function!(
        Object, i32, i32, Object, i32, Object, Object, Object, i32, Object, Object, Object, Object, *mut i32, Object
    ) = "cusparseXcsrgeam2Nnz";
    add: function!(
        Object, i32, i32, *const c_void, Object, i32, Object, Object, Object, *const c_void, Object, i32, Object, Object, Object,
        Object, Object, Object, Object, Object
    ) = "cusparseDcsrgeam2";
}

// Numbers of the library's header.
const INDICES_32: i32 = 2;
const FROM_ZERO: i32 = 0;
const AS_IT_IS: i32 = 0;
const TRANSPOSED: i32 = 1;
const ROW_MAJOR: i32 = 2;
const SINGLE: i32 = 0;
const DOUBLE: i32 = 1;

/// An algorithm by its name here and its number there.
type Algorithm = (&'static str, i32);

const SPMV: &[Algorithm] = &[("default", 0), ("csr 1", 2), ("csr 2", 3)];
const SPMM: &[Algorithm] = &[("default", 0), ("csr 1", 4), ("csr 2", 6), ("csr 3", 12)];
const DEFAULT: &[Algorithm] = &[("default", 0)];

/// The library, with a stream of its own on the device.
pub(crate) struct Cusparse {
    functions: Functions,
    handle: Object,
    stream: Stream,
    /// What the functions are in.
    _library: Library,
}

/// An algorithm, and what it takes or why it does not run.
type Tried = (&'static str, Result<Duration, String>);

/// What it takes for an operation, and makes.
pub(crate) struct Peer {
    /// Of the fastest algorithm.
    pub(crate) median: Duration,
    /// All that were tried.
    pub(crate) algorithms: Vec<Tried>,
    /// The values of the result; of a sparse product the sum of each row.
    pub(crate) values: Values,
    /// How many entries the result has.
    pub(crate) entries: usize,
}

impl Cusparse {
    /// Finds the library: in `SPC_CUSPARSE`, in the CUDA toolkit, where the system's loader looks.
    pub(crate) fn open(gpu: &Gpu) -> Result<Self, String> {
        let mut places: Vec<PathBuf> = std::env::var_os("SPC_CUSPARSE").into_iter().map(PathBuf::from).collect();
        let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os);
        let below = |home: &OsStr| NAMES.map(|name| Path::new(home).join("lib64").join(name));
        places.extend(homes.flat_map(|home| below(&home)));
        places.extend(NAMES.map(PathBuf::from).into_iter().chain(below(OsStr::new("/usr/local/cuda"))));
        // SAFETY: a library of that name is NVIDIA's, or what the user has named; loading it has no effect but its own start.
        let library = places.iter().find_map(|place| unsafe { Library::new(place) }.ok());
        let library = library.ok_or_else(|| format!("cuSPARSE was not found; {REMEDIES}"))?;
        let functions = Functions::of(&library)?;
        // The device's context is that of this thread from here on.
        let stream = gpu.stream().map_err(|error| error.to_string())?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: there is a place for the handle.
        functions.done("starts", unsafe { (functions.create)(&raw mut handle) })?;
        let this = Self { functions, handle, stream, _library: library };
        let own = std::ptr::with_exposed_provenance_mut(this.stream.handle());
        // SAFETY: the stream stays as long as the handle.
        this.functions.done("takes a stream", unsafe { (this.functions.set_stream)(handle, own) })?;
        Ok(this)
    }

    /// Its version, as 12503 of 12.5.3.
    pub(crate) fn version(&self) -> i32 {
        let mut version = 0;
        // SAFETY: there is a place for the number.
        unsafe { (self.functions.version)(self.handle, &raw mut version) };
        version
    }

    /// Measures an operation on the inputs of one of our kernels, whose result says the shape.
    pub(crate) fn measure(
        &self,
        operation: Operation,
        inputs: &[&AnyTensor],
        result: &AnyTensor,
        repeat: usize,
    ) -> Result<Peer, String> {
        match (operation, inputs) {
            (Operation::SpMv, [x, vector]) => self.spmv(x, vector, result, repeat),
            (Operation::SpMm, [x, dense]) => self.spmm(x, dense, result, repeat),
            (Operation::Sddmm, [x, rows, columns]) => self.sddmm(x, rows, columns, repeat),
            (Operation::SpGemm, [x, z]) => self.spgemm(x, z, repeat),
            (Operation::Add, [x, z]) => self.sum(x, z, repeat),
            _ => Err("these are other inputs".to_owned()),
        }
    }

    fn spmv(&self, x: &AnyTensor, vector: &AnyTensor, result: &AnyTensor, repeat: usize) -> Result<Peer, String> {
        let (f, numbers) = (&self.functions, Numbers::of(x));
        let (x, vector, made) = (self.csr(x)?, self.brought(vector)?, self.room(result.values().bytes())?);
        let (from, to) = (self.vector(&vector, &numbers)?, self.vector(&made, &numbers)?);
        let (one, zero) = (numbers.one(), numbers.zero());
        let each = |(_, algorithm): Algorithm| {
            let mut bytes = 0;
            // SAFETY: the objects are there until the end of this function, and the numbers are of the type that is said.
            let asked = unsafe {
                let (x, from, to, bytes) = (x.object.raw, from.raw, to.raw, &raw mut bytes);
                (f.spmv_size)(self.handle, AS_IT_IS, one, x, from, zero, to, numbers.kind, algorithm, bytes)
            };
            f.done("sizes a buffer", asked)?;
            let buffer = self.room(bytes)?;
            self.times(repeat, &|| {
                // SAFETY: as above; the buffer is as large as the library asks for.
                let status = unsafe {
                    let (x, from, to, buffer) = (x.object.raw, from.raw, to.raw, buffer.pointer());
                    (f.spmv)(self.handle, AS_IT_IS, one, x, from, zero, to, numbers.kind, algorithm, buffer)
                };
                f.done("multiplies", status)
            })
        };
        let (median, algorithms) = fastest(SPMV, each)?;
        let values = self.values(&made, &numbers)?;
        Ok(Peer { median, algorithms, entries: values.len(), values })
    }

    fn spmm(&self, x: &AnyTensor, dense: &AnyTensor, result: &AnyTensor, repeat: usize) -> Result<Peer, String> {
        let (f, numbers) = (&self.functions, Numbers::of(x));
        let shapes = (dense.shape().to_vec(), result.shape().to_vec());
        let (x, dense, made) = (self.csr(x)?, self.brought(dense)?, self.room(result.values().bytes())?);
        let (from, to) = (self.matrix(&dense, &shapes.0, &numbers)?, self.matrix(&made, &shapes.1, &numbers)?);
        let functions = Product { size: f.spmm_size, prepare: f.spmm_prepare, multiply: f.spmm, second: AS_IT_IS };
        let (median, algorithms) = self.fastest(SPMM, &functions, [&x.object, &from, &to], &numbers, repeat)?;
        let values = self.values(&made, &numbers)?;
        Ok(Peer { median, algorithms, entries: values.len(), values })
    }

    /// Products of rows where the matrix has entries. The library leaves out the matrix's own values: they are multiplied in here.
    fn sddmm(&self, x: &AnyTensor, rows: &AnyTensor, columns: &AnyTensor, repeat: usize) -> Result<Peer, String> {
        let (f, numbers) = (&self.functions, Numbers::of(x));
        let own: Vec<f64> = (0..x.values().len()).map(|place| x.values().get_f64(place)).collect();
        let shapes = (rows.shape().to_vec(), columns.shape().to_vec());
        let (to, rows, columns) = (self.csr(x)?, self.brought(rows)?, self.brought(columns)?);
        let (left, right) = (self.matrix(&rows, &shapes.0, &numbers)?, self.matrix(&columns, &shapes.1, &numbers)?);
        let functions = Product { size: f.sddmm_size, prepare: f.sddmm_prepare, multiply: f.sddmm, second: TRANSPOSED };
        let (median, algorithms) = self.fastest(DEFAULT, &functions, [&left, &right, &to.object], &numbers, repeat)?;
        let products = self.values(&to.values, &numbers)?;
        let values: Vec<f64> = own.iter().enumerate().map(|(place, own)| products.get_f64(place) * own).collect();
        Ok(Peer { median, algorithms, entries: values.len(), values: values.into() })
    }

    /// What a product of two objects into a third takes, by the fastest of some algorithms.
    fn fastest(
        &self,
        algorithms: &[Algorithm],
        functions: &Product,
        [first, second, made]: [&Descriptor; 3],
        numbers: &Numbers,
        repeat: usize,
    ) -> Result<(Duration, Vec<Tried>), String> {
        let (first, second, made, kind) = (first.raw, second.raw, made.raw, numbers.kind);
        let (handle, one, zero, taken) = (self.handle, numbers.one(), numbers.zero(), functions.second);
        fastest(algorithms, |(_, algorithm): Algorithm| {
            let mut bytes = 0;
            // SAFETY: the objects are there until the end of this function, and the numbers are of the type that is said.
            let asked = unsafe {
                let bytes = &raw mut bytes;
                (functions.size)(handle, AS_IT_IS, taken, one, first, second, zero, made, kind, algorithm, bytes)
            };
            self.functions.done("sizes a buffer", asked)?;
            let buffer = self.room(bytes)?;
            let step = |function: Step| {
                let buffer = buffer.pointer();
                // SAFETY: as above; the buffer is as large as the library asks for.
                unsafe { function(handle, AS_IT_IS, taken, one, first, second, zero, made, kind, algorithm, buffer) }
            };
            self.functions.done("prepares", step(functions.prepare))?;
            self.times(repeat, &|| self.functions.done("multiplies", step(functions.multiply)))
        })
    }

    fn spgemm(&self, x: &AnyTensor, z: &AnyTensor, repeat: usize) -> Result<Peer, String> {
        let numbers = Numbers::of(x);
        let (rows, columns) = (x.shape()[0], z.shape()[1]);
        let positions = self.room((rows + 1) * 4)?;
        let (x, z) = (self.csr(x)?, self.csr(z)?);
        self.rows_made(&positions, &numbers, repeat, &|algorithm| {
            self.product(&x, &z, &positions, [rows, columns], &numbers, algorithm)
        })
    }

    /// What it takes to make a sparse matrix, by what gives its values and how many entries it has.
    fn rows_made<'a>(
        &self,
        positions: &Held<'_>,
        numbers: &Numbers,
        repeat: usize,
        make: &dyn Fn(i32) -> Result<(Held<'a>, usize), String>,
    ) -> Result<Peer, String> {
        let last = std::cell::RefCell::new(None);
        let each = |(_, algorithm): Algorithm| {
            self.times(repeat, &|| {
                // What the last run has made goes first: there may be room for one alone.
                *last.borrow_mut() = None;
                *last.borrow_mut() = Some(make(algorithm)?);
                Ok(())
            })
        };
        let (median, algorithms) = fastest(DEFAULT, each)?;
        let (values, entries) = last.into_inner().ok_or("nothing was made")?;
        let values = self.values(&values, numbers)?;
        let bounds: Vec<i32> = self.read(positions)?;
        let sum = |row: &[i32]| (row[0]..row[1]).map(|place| values.get_f64(place as usize)).sum();
        let sums = bounds.windows(2).map(sum).collect::<Vec<f64>>().into();
        Ok(Peer { median, algorithms, values: sums, entries })
    }

    /// A product of sparse matrices, as the library says to make one: its values, and how many entries it has.
    fn product(
        &self,
        x: &Csr<'_>,
        z: &Csr<'_>,
        positions: &Held<'_>,
        [rows, columns]: [usize; 2],
        numbers: &Numbers,
        algorithm: i32,
    ) -> Result<(Held<'_>, usize), String> {
        let f = &self.functions;
        let nothing = std::ptr::null_mut();
        let shape = [rows as i64, columns as i64, 0];
        let made = self.object(f.destroy_csr, &|made| {
            let (kind, [rows, columns, none]) = (numbers.kind, shape);
            // SAFETY: there is a place for the object, and room for the positions of so many rows.
            unsafe {
                let positions = positions.pointer();
                (f.create_csr)(
                    made, rows, columns, none, positions, nothing, nothing, INDICES_32, INDICES_32, FROM_ZERO, kind,
                )
            }
        })?;
        // SAFETY: there is a place for the object.
        let work = self.object(f.spgemm_destroy, &|work| unsafe { (f.spgemm_create)(work) })?;
        let (one, zero, kind) = (numbers.one(), numbers.zero(), numbers.kind);
        let (x, z, c) = (x.object.raw, z.object.raw, made.raw);
        let mut buffers = Vec::new();
        for stage in [f.spgemm_estimate, f.spgemm_compute] {
            let mut bytes = 0;
            let call = |bytes: *mut usize, buffer: Object| {
                // SAFETY: the objects are there until the end of this function; a buffer is as large as the library has asked for.
                let status = unsafe {
                    stage(self.handle, AS_IT_IS, AS_IT_IS, one, x, z, zero, c, kind, algorithm, work.raw, bytes, buffer)
                };
                f.done("multiplies", status)
            };
            call(&raw mut bytes, nothing)?;
            let buffer = self.room(bytes)?;
            call(&raw mut bytes, buffer.pointer())?;
            buffers.push(buffer);
        }
        let [mut rows, mut columns, mut entries] = [0; 3];
        // SAFETY: there are places for the numbers.
        f.done("counts", unsafe { (f.size)(c, &raw mut rows, &raw mut columns, &raw mut entries) })?;
        let count = usize::try_from(entries).map_err(|_| "a product of no size")?;
        let (coordinates, values) = (self.room(count * 4)?, self.room(count * numbers.width)?);
        // SAFETY: there is room for so many entries in each.
        let set = unsafe { (f.set_arrays)(c, positions.pointer(), coordinates.pointer(), values.pointer()) };
        f.done("takes arrays", set)?;
        // SAFETY: as above, and the arrays are there.
        let copied =
            unsafe { (f.spgemm_copy)(self.handle, AS_IT_IS, AS_IT_IS, one, x, z, zero, c, kind, algorithm, work.raw) };
        f.done("copies", copied)?;
        Ok((values, count))
    }

    /// A sum of sparse matrices of double precision.
    fn sum(&self, x: &AnyTensor, z: &AnyTensor, repeat: usize) -> Result<Peer, String> {
        let numbers = Numbers::of(x);
        let shape = [x.shape()[0] as i32, x.shape()[1] as i32];
        let positions = self.room((x.shape()[0] + 1) * 4)?;
        let (x, z) = (self.csr(x)?, self.csr(z)?);
        let f = &self.functions;
        // SAFETY: there is a place for the object.
        let kind = self.object(f.destroy_kind, &|made| unsafe { (f.create_kind)(made) })?;
        self.rows_made(&positions, &numbers, repeat, &|_| self.summed(&x, &z, &positions, shape, &kind))
    }

    /// A sum as the library says to make one: its values, and how many entries it has.
    fn summed(
        &self,
        x: &Csr<'_>,
        z: &Csr<'_>,
        positions: &Held<'_>,
        [rows, columns]: [i32; 2],
        kind: &Descriptor,
    ) -> Result<(Held<'_>, usize), String> {
        let (f, kind, one, nothing) = (&self.functions, kind.raw, (&raw const ONE.1).cast(), std::ptr::null_mut());
        let count = |of: &Csr<'_>| (of.values.bytes / 8) as i32;
        let (of_x, of_z) = (count(x), count(z));
        let arrays = |of: &Csr<'_>| (of.values.pointer(), of.positions.pointer(), of.coordinates.pointer());
        let ((xv, xp, xc), (zv, zp, zc), made) = (arrays(x), arrays(z), positions.pointer());
        let (mut bytes, mut entries) = (0, 0);
        // SAFETY: the arrays are those of valid matrices of this shape, and there is a place for the number.
        let asked = unsafe {
            (f.add_size)(
                self.handle,
                rows,
                columns,
                one,
                kind,
                of_x,
                xv,
                xp,
                xc,
                one,
                kind,
                of_z,
                zv,
                zp,
                zc,
                kind,
                nothing,
                made,
                nothing,
                &raw mut bytes,
            )
        };
        f.done("sizes a buffer", asked)?;
        let buffer = self.room(bytes)?;
        // SAFETY: as above; the buffer is as large as the library asks for, and there is room for the positions of so many rows.
        let counted = unsafe {
            let (entries, buffer) = (&raw mut entries, buffer.pointer());
            (f.add_count)(
                self.handle,
                rows,
                columns,
                kind,
                of_x,
                xp,
                xc,
                kind,
                of_z,
                zp,
                zc,
                kind,
                made,
                entries,
                buffer,
            )
        };
        f.done("counts", counted)?;
        let entries = usize::try_from(entries).map_err(|_| "a sum of no size")?;
        let (coordinates, values) = (self.room(entries * 4)?, self.room(entries * 8)?);
        // SAFETY: as above, and there is room for so many entries.
        let added = unsafe {
            let (to, at, buffer) = (values.pointer(), coordinates.pointer(), buffer.pointer());
            (f.add)(
                self.handle,
                rows,
                columns,
                one,
                kind,
                of_x,
                xv,
                xp,
                xc,
                one,
                kind,
                of_z,
                zv,
                zp,
                zc,
                kind,
                to,
                made,
                at,
                buffer,
            )
        };
        f.done("adds", added)?;
        Ok((values, entries))
    }

    // Memory and objects.

    fn room(&self, bytes: usize) -> Result<Held<'_>, String> {
        let memory = self.stream.allocate(bytes, "cuSPARSE")?;
        Ok(Held { stream: &self.stream, memory, bytes })
    }

    fn bytes(&self, bytes: &[u8]) -> Result<Held<'_>, String> {
        let held = self.room(bytes.len())?;
        self.stream.write(held.memory, bytes)?;
        Ok(held)
    }

    /// The values of a dense tensor.
    fn brought(&self, tensor: &AnyTensor) -> Result<Held<'_>, String> {
        self.bytes(tensor.values().as_bytes())
    }

    fn csr(&self, matrix: &AnyTensor) -> Result<Csr<'_>, String> {
        let indices = |array: Option<&IndexArray>| {
            let array = array.filter(|array| array.as_u32().is_some()).ok_or("the matrix is no csr of 32 bits")?;
            self.bytes(array.as_bytes())
        };
        let (positions, coordinates) = (indices(matrix.positions(1))?, indices(matrix.coordinates(1))?);
        let values = self.brought(matrix)?;
        let kind = Numbers::of(matrix).kind;
        let [rows, columns] = [matrix.shape()[0] as i64, matrix.shape()[1] as i64];
        let f = &self.functions;
        let object = self.object(f.destroy_csr, &|made| {
            let arrays = (positions.pointer(), coordinates.pointer(), values.pointer());
            let nnz = matrix.nnz() as i64;
            // SAFETY: there is a place for the object; the arrays are those of a valid matrix of this shape.
            unsafe {
                (f.create_csr)(
                    made, rows, columns, nnz, arrays.0, arrays.1, arrays.2, INDICES_32, INDICES_32, FROM_ZERO, kind,
                )
            }
        })?;
        Ok(Csr { object, values, positions, coordinates })
    }

    fn vector(&self, held: &Held<'_>, numbers: &Numbers) -> Result<Descriptor, String> {
        let length = (held.bytes / numbers.width) as i64;
        let f = &self.functions;
        // SAFETY: there is a place for the object, and so many elements are held.
        self.object(f.destroy_vector, &|made| unsafe { (f.create_vector)(made, length, held.pointer(), numbers.kind) })
    }

    fn matrix(&self, held: &Held<'_>, shape: &[usize], numbers: &Numbers) -> Result<Descriptor, String> {
        let [rows, columns] = [shape[0] as i64, shape[1] as i64];
        let f = &self.functions;
        // SAFETY: there is a place for the object, and so many elements are held.
        self.object(f.destroy_matrix, &|made| unsafe {
            (f.create_matrix)(made, rows, columns, columns, held.pointer(), numbers.kind, ROW_MAJOR)
        })
    }

    fn object(
        &self,
        destroy: unsafe extern "C" fn(Object) -> i32,
        make: &dyn Fn(*mut Object) -> i32,
    ) -> Result<Descriptor, String> {
        let mut raw = std::ptr::null_mut();
        self.functions.done("describes an operand", make(&raw mut raw))?;
        Ok(Descriptor { raw, destroy })
    }

    /// How long some work takes, several times.
    fn times(&self, repeat: usize, work: &dyn Fn() -> Result<(), String>) -> Result<Duration, String> {
        let times: Result<Vec<Duration>, String> =
            (0..repeat.max(1)).map(|_| self.stream.timed(&mut || work())).collect();
        times.map(|times| median(&times))
    }

    /// As many elements as there are.
    fn read<T: bytemuck::Pod>(&self, held: &Held<'_>) -> Result<Vec<T>, String> {
        let mut elements = vec![T::zeroed(); held.bytes / size_of::<T>()];
        self.stream.read(held.memory, bytemuck::cast_slice_mut(&mut elements))?;
        Ok(elements)
    }

    fn values(&self, held: &Held<'_>, numbers: &Numbers) -> Result<Values, String> {
        match numbers.width {
            4 => self.read::<f32>(held).map(Values::from),
            _ => self.read::<f64>(held).map(Values::from),
        }
    }
}

impl Drop for Cusparse {
    fn drop(&mut self) {
        // SAFETY: the handle was created, and is not used any more.
        unsafe { (self.functions.destroy)(self.handle) };
    }
}

impl Functions {
    fn done(&self, what: &str, status: i32) -> Result<(), String> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: the text of a status is the library's own, and ends with zero.
        let text = unsafe { CStr::from_ptr((self.text)(status)) };
        Err(format!("cuSPARSE {what}: {}", text.to_string_lossy()))
    }
}

/// The times of all algorithms, and the least.
fn fastest(
    algorithms: &[Algorithm],
    each: impl Fn(Algorithm) -> Result<Duration, String>,
) -> Result<(Duration, Vec<Tried>), String> {
    let all: Vec<Tried> = algorithms.iter().map(|&algorithm| (algorithm.0, each(algorithm))).collect();
    let least = all.iter().filter_map(|(_, time)| time.as_ref().ok()).min().copied();
    let errors = || all.iter().filter_map(|(_, time)| time.as_ref().err()).next().cloned();
    least.map(|least| (least, all.clone())).ok_or_else(|| errors().unwrap_or_default())
}

/// What the library is told of elements.
struct Numbers {
    kind: i32,
    width: usize,
}

impl Numbers {
    fn of(tensor: &AnyTensor) -> Self {
        let width = tensor.element().bytes();
        Self { kind: if width == 4 { SINGLE } else { DOUBLE }, width }
    }

    /// Where a one is.
    fn one(&self) -> *const c_void {
        if self.width == 4 { (&raw const ONE.0).cast() } else { (&raw const ONE.1).cast() }
    }

    fn zero(&self) -> *const c_void {
        (&raw const ZERO).cast()
    }
}

static ONE: (f32, f64) = (1.0, 1.0);
/// In any type.
static ZERO: f64 = 0.0;

/// Memory of the device, until it is dropped.
struct Held<'a> {
    stream: &'a Stream,
    memory: Memory,
    bytes: usize,
}

impl Held<'_> {
    fn pointer(&self) -> Object {
        std::ptr::with_exposed_provenance_mut(self.memory.0 as usize)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.stream.free(self.memory);
    }
}

/// What the library knows an operand by.
struct Descriptor {
    raw: Object,
    destroy: unsafe extern "C" fn(Object) -> i32,
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: the object was created, and is not used any more.
        unsafe { (self.destroy)(self.raw) };
    }
}

/// A matrix on the device.
struct Csr<'a> {
    object: Descriptor,
    values: Held<'a>,
    positions: Held<'a>,
    coordinates: Held<'a>,
}
