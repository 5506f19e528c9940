//! The members of an archive.

use std::borrow::Cow;
use std::io::Read;

use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder, ZipSliceArchive};

use super::corrupt;
use crate::io::entries::shown;
use crate::io::{ReadError, ReadErrorKind, npy};
use crate::memory;

/// How a zip file with members begins; one without any has only the second.
const MAGIC: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// The header of an array is within so many bytes.
const START: u64 = 1 << 16;

/// More members than any archive of arrays has.
const MOST: usize = 1 << 16;

/// An archive, and its members by name.
pub(super) struct Archive<'file> {
    archive: ZipSliceArchive<&'file [u8]>,
    members: Vec<Member>,
    /// The names of members that are no arrays.
    others: Vec<String>,
}

struct Member {
    /// Without `.npy`.
    name: String,
    compression: CompressionMethod,
    /// What the archive says of the length.
    length: u64,
    at: ZipArchiveEntryWayfinder,
}

pub(super) fn check_magic(head: &[u8]) -> Result<(), ReadError> {
    if MAGIC.iter().any(|magic| head.starts_with(magic)) {
        return Ok(());
    }
    let start = crate::io::entries::quote(&head[..head.len().min(8)]);
    Err(ReadError::new(ReadErrorKind::Header, format!("begins with {start}: a .npz file is a zip archive")))
}

fn damaged(error: rawzip::Error) -> ReadError {
    corrupt(format!("the archive is damaged ({error}): get the file again"))
}

impl<'file> Archive<'file> {
    pub(super) fn of(file: &'file [u8]) -> Result<Self, ReadError> {
        check_magic(file)?;
        let archive = ZipArchive::from_slice(file).map_err(damaged)?;
        let (mut members, mut others) = (Vec::new(), Vec::new());
        let mut entries = archive.entries();
        while let Some(entry) = entries.next_entry().map_err(damaged)? {
            let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
            let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else {
                others.push(name);
                continue;
            };
            let (compression, length) = (entry.compression_method(), entry.uncompressed_size_hint());
            if members.len() == MOST || members.iter().any(|member: &Member| member.name == name) {
                return Err(corrupt(format!("the archive has `{}` twice, or more than {MOST} arrays", shown(&name))));
            }
            members.push(Member { name, compression, length, at: entry.wayfinder() });
        }
        Ok(Self { archive, members, others })
    }

    /// The names of the arrays.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.name.as_str())
    }

    /// The names of the arrays, and of members that are none.
    pub(super) fn all_names(&self) -> impl Iterator<Item = &str> {
        self.names().chain(self.others.iter().map(String::as_str))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names().any(|other| other == name)
    }

    /// The bytes of an array's `.npy` file.
    pub(super) fn member(&self, name: &str) -> Result<Cow<'file, [u8]>, ReadError> {
        let missing = || corrupt(format!("the archive has no array `{}`", shown(name)));
        let member = self.members.iter().find(|member| member.name == name).ok_or_else(missing)?;
        let entry = self.archive.get_entry(member.at).map_err(damaged)?;
        let in_member = |error: std::io::Error| corrupt(format!("the array `{}` is damaged ({error})", shown(name)));
        match member.compression {
            CompressionMethod::STORE => {
                let data = self.stored(member)?;
                std::io::copy(&mut entry.verifying_reader(data), &mut std::io::sink()).map_err(in_member)?;
                Ok(Cow::Borrowed(data))
            }
            CompressionMethod::DEFLATE => {
                // No length is trusted: deflate makes at most 1032 bytes of one.
                let data = entry.data();
                let most = (data.len() as u64).saturating_mul(1032).saturating_add(64);
                if member.length > most {
                    return Err(corrupt(format!("the array `{}` can't have {} bytes", shown(name), member.length)));
                }
                self.check_length(member)?;
                let length = usize::try_from(member.length).unwrap_or(usize::MAX);
                let mut bytes = memory::try_room(length.saturating_add(1))?;
                let mut reader = entry.verifying_reader(DeflateDecoder::new(data));
                (&mut reader).take(member.length.saturating_add(1)).read_to_end(&mut bytes).map_err(in_member)?;
                if bytes.len() as u64 != member.length {
                    return Err(corrupt(format!("the array `{}` has other than {} bytes", shown(name), member.length)));
                }
                Ok(Cow::Owned(bytes))
            }
            other => {
                let message =
                    format!("the array `{}` is compressed by {other:?}: save it by `numpy.savez`", shown(name));
                Err(ReadError::new(ReadErrorKind::NotSupported, message))
            }
        }
    }

    /// As many of the first bytes of an array's `.npy` file as say what it is.
    pub(super) fn start(&self, name: &str) -> Result<Cow<'file, [u8]>, ReadError> {
        match self.members.iter().find(|member| member.name == name) {
            Some(member) if member.compression == CompressionMethod::DEFLATE => {
                self.unpacked_start(member).map(Cow::Owned)
            }
            _ => self.member(name),
        }
    }

    /// The first bytes of a member that is compressed.
    fn unpacked_start(&self, member: &Member) -> Result<Vec<u8>, ReadError> {
        let entry = self.archive.get_entry(member.at).map_err(damaged)?;
        let mut start = Vec::new();
        let read = DeflateDecoder::new(entry.data()).take(START).read_to_end(&mut start);
        read.map_err(|error| corrupt(format!("the array `{}` is damaged ({error})", shown(&member.name))))?;
        Ok(start)
    }

    /// Refuses a member of another length than its header says, before it is unpacked.
    fn check_length(&self, member: &Member) -> Result<(), ReadError> {
        if member.length <= START {
            return Ok(());
        }
        let start = self.unpacked_start(member)?;
        npy::element_of(&start).map_err(|error| {
            ReadError::new(error.kind(), format!("the array `{}`: {}", shown(&member.name), error.message()))
        })?;
        match npy::total(&start) {
            Some(total) if total as u64 == member.length => Ok(()),
            _ => {
                let (name, length) = (shown(&member.name), member.length);
                Err(corrupt(format!(
                    "the array `{name}` has {length} bytes, which is not what its header says: get the file again"
                )))
            }
        }
    }

    /// The bytes of a member that is not compressed.
    fn stored(&self, member: &Member) -> Result<&'file [u8], ReadError> {
        let entry = self.archive.get_entry(member.at).map_err(damaged)?;
        let (begin, end) = entry.compressed_data_range();
        let file: &'file [u8] = self.archive.get_ref();
        let range = usize::try_from(begin).ok().zip(usize::try_from(end).ok());
        let data = range.and_then(|(begin, end)| file.get(begin..end));
        data.ok_or_else(|| corrupt(format!("the array `{}` is cut short", shown(&member.name))))
    }
}
