//! Handles: numbers that stand for what the library keeps.

use crate::status::{Failure, Status};
use spc::execute::{Kernel, KernelBuilder};
use spc::tensor::AnyTensor;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock};

/// What a handle stands for. A call holds it as long as it needs it, also if another thread frees the handle meanwhile.
#[derive(Clone)]
pub(crate) enum Object {
    /// A tensor.
    Tensor(Arc<AnyTensor>),
    /// What a kernel is compiled from.
    Builder(Arc<Mutex<KernelBuilder>>),
    /// A kernel.
    Kernel(Arc<Kernel>),
}

impl Object {
    fn kind(&self) -> &'static str {
        match self {
            Object::Tensor(_) => "a tensor",
            Object::Builder(_) => "a builder",
            Object::Kernel(_) => "a kernel",
        }
    }
}

static OBJECTS: LazyLock<RwLock<HashMap<u64, Object>>> = LazyLock::new(RwLock::default);
/// No number is given out twice. Small numbers, which a caller may hand in by mistake, are never handles.
static NEXT: AtomicU64 = AtomicU64::new(0x5bc0_0000_0001);

/// A handle for an object.
pub(crate) fn keep(object: Object) -> u64 {
    let handle = NEXT.fetch_add(1, Ordering::Relaxed);
    OBJECTS.write().unwrap_or_else(PoisonError::into_inner).insert(handle, object);
    handle
}

/// Forgets a handle.
pub(crate) fn forget(handle: u64) -> Result<(), Failure> {
    let taken = OBJECTS.write().unwrap_or_else(PoisonError::into_inner).remove(&handle);
    // What releases arrays may call the library: the table is not locked here.
    taken.map(drop).ok_or_else(|| unknown(handle))
}

fn find(handle: u64) -> Result<Object, Failure> {
    OBJECTS.read().unwrap_or_else(PoisonError::into_inner).get(&handle).cloned().ok_or_else(|| unknown(handle))
}

/// The tensor of a handle.
pub(crate) fn tensor(handle: u64) -> Result<Arc<AnyTensor>, Failure> {
    match find(handle)? {
        Object::Tensor(tensor) => Ok(tensor),
        other => Err(mistaken(handle, &other, "a tensor")),
    }
}

/// The builder of a handle.
pub(crate) fn builder(handle: u64) -> Result<Arc<Mutex<KernelBuilder>>, Failure> {
    match find(handle)? {
        Object::Builder(builder) => Ok(builder),
        other => Err(mistaken(handle, &other, "a builder")),
    }
}

/// The kernel of a handle.
pub(crate) fn kernel(handle: u64) -> Result<Arc<Kernel>, Failure> {
    match find(handle)? {
        Object::Kernel(kernel) => Ok(kernel),
        other => Err(mistaken(handle, &other, "a kernel")),
    }
}

fn unknown(handle: u64) -> Failure {
    let message = match handle {
        0 => "the handle is 0: what was to make it has failed, or was not called".to_owned(),
        _ => format!("there is no handle {handle}: it was freed, or spc did not give it out"),
    };
    Failure::new(Status::Handle, message)
}

fn mistaken(handle: u64, found: &Object, wanted: &str) -> Failure {
    Failure::new(Status::Handle, format!("the handle {handle} is that of {}, but {wanted} is asked for", found.kind()))
}
