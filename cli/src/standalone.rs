//! Kernels as files that stand for themselves: C or CUDA C++ and a header, libraries, a crate.

use crate::failure::Failure;
use crate::{output, settings};
use spc::execute::standalone::{LibraryKind, c_library, rust_crate};
use spc_compiler::{Compiled, backend};
use std::path::Path;

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// C, and its header beside it.
    Source,
    /// CUDA C++, and its header beside it.
    Cuda(backend::cuda::Options),
    /// A library, and its header beside it.
    Library(LibraryKind),
    /// A crate, in a folder.
    Crate,
}

/// Writes kernels, or prints them where there is no path and one text is enough; the paths that were written.
pub(crate) fn write(form: Form, kernels: &[Compiled], path: Option<&Path>) -> Result<Vec<String>, Failure> {
    let Some(path) = path else {
        let help = match form {
            Form::Source if settings::json() => "where to write the code: `-o k.c`",
            Form::Cuda(_) if settings::json() => "where to write the code: `-o k.cu`",
            Form::Source | Form::Cuda(_) => {
                output::print(&unit(form, kernels)?.source)?;
                return Ok(Vec::new());
            }
            Form::Library(LibraryKind::Static) => "where to write the library: `-o libk.a`",
            Form::Library(LibraryKind::Shared) => "where to write the library: `-o libk.so`",
            Form::Crate => "where to write the crate: `-o FOLDER`",
        };
        return Err(Failure::usage(format!("`-o` must say {help}")));
    };
    match form {
        Form::Crate => write_crate(kernels, path),
        Form::Source | Form::Cuda(_) | Form::Library(_) => {
            let unit = unit(form, kernels)?;
            let header = path.with_extension("h");
            if header == path {
                return Err(Failure::usage("the header gets this name; give the other file another ending: `-o k.c`"));
            }
            match form {
                Form::Library(kind) => {
                    let library = c_library(&unit.source, kind).map_err(|error| Failure::refused(&error))?;
                    spc::io::write_bytes(path, &library)?;
                }
                _ => spc::io::write_text(path, &unit.source)?,
            }
            spc::io::write_text(&header, &unit.header)?;
            Ok([path, &header].map(|path| path.display().to_string()).to_vec())
        }
    }
}

/// A source file and its header.
struct Unit {
    source: String,
    header: String,
}

fn unit(form: Form, kernels: &[Compiled]) -> Result<Unit, Failure> {
    let Form::Cuda(options) = form else {
        let backend::c::Unit { source, header, .. } = backend::c::unit(kernels.iter().map(|compiled| &compiled.kernel));
        return Ok(Unit { source, header });
    };
    let name = |compiled: &Compiled| backend::cuda::host::device_name(&compiled.kernel.name);
    let modules = kernels.iter().map(|compiled| for_device(compiled, Some(&name(compiled)), options));
    let modules = modules.collect::<Result<Vec<_>, _>>()?;
    let names = kernels.iter().map(|compiled| compiled.kernel.name.as_str());
    let backend::cuda::host::Unit { source, header, .. } = backend::cuda::host::unit(names.zip(&modules));
    Ok(Unit { source, header })
}

/// A folder with a crate of its name. One that is there and is no such crate is left alone.
fn write_crate(kernels: &[Compiled], folder: &Path) -> Result<Vec<String>, Failure> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(Failure::usage("the folder's name becomes the crate's: it must begin with a letter"));
    }
    let is_used = folder.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    if is_used && !folder.join("src/kernels.rs").is_file() {
        return Err(Failure::usage(format!("{} has other files in it; name an empty folder", folder.display())));
    }
    let texts: Vec<String> = kernels.iter().map(|compiled| backend::rust::text(&compiled.kernel)).collect();
    let create = std::fs::create_dir_all(folder.join("src"));
    create.map_err(|error| Failure::refused(format!("{} can't be made: {error}", folder.display())))?;
    let mut written = Vec::new();
    for (file, text) in rust_crate(&name, &texts) {
        let path = folder.join(file);
        spc::io::write_text(&path, &text)?;
        written.push(path.display().to_string());
    }
    Ok(written)
}

/// What the CUDA backend makes of a kernel; the names of its functions begin with its own, or with another.
pub(crate) fn for_device(
    compiled: &Compiled,
    name: Option<&str>,
    options: backend::cuda::Options,
) -> Result<backend::cuda::Module, Failure> {
    backend::cuda::module(&compiled.kernel, name, options).map_err(|refusal| {
        let failure =
            Failure::refused(format!("`{}` can't be compiled for CUDA: {}", compiled.kernel.name, refusal.what));
        failure.help(refusal.help)
    })
}
