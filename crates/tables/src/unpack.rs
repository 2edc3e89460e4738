//! Unpacks a file. Its first octets tell the packer, not its name.

mod zstd;

use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zstd::ZstdFrames;

/// Octets that tell how a file is packed.
const MAGIC_OCTETS: usize = 6;

/// The most an xz file may have us keep of what it unpacked; `xz -9` wants 65 MiB. (zstd's bound is its decoder's:
/// 128 MiB. The others have windows of less than a MiB.)
const XZ_MEMORY_MAX_KIB: u32 = 256 << 10;

/// Routing tables pack to a tenth, at the very best to a hundredth. A file beyond this ratio is meant to exhaust
/// memory or time.
const RATIO_MAX: u64 = 1000;
/// Below this many octets the ratio does no harm.
const RATIO_FROM_OCTETS: u64 = 64 << 20;

/// Octets of a file that were read so far, seen from elsewhere.
pub(super) type Position = Arc<AtomicU64>;

/// What the file unpacks to, and by what; itself if it is not packed.
pub(super) fn unpack<'a>(
    mut file: impl Read + Send + 'a,
    position: Position,
) -> io::Result<(Option<&'static str>, Box<dyn Read + Send + 'a>)> {
    let mut head = [0; MAGIC_OCTETS];
    let held = read_up_to(&mut file, &mut head)?;
    let whole = io::Cursor::new(head).take(held as u64).chain(file);
    let (name, inner): (_, Box<dyn Read + Send + 'a>) = match head {
        [0x1f, 0x8b, ..] => ("gzip", Box::new(flate2::read::MultiGzDecoder::new(whole))),
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] => {
            ("bzip2", Box::new(bzip2::read::MultiBzDecoder::new(whole)))
        }
        [0xfd, b'7', b'z', b'X', b'Z', 0] => (
            "xz",
            Box::new(lzma_rust2::XzReader::new_mem_limit(
                BufReader::new(whole),
                true,
                XZ_MEMORY_MAX_KIB,
            )),
        ),
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            ("zstd", Box::new(ZstdFrames::new(BufReader::new(whole))))
        }
        _ => return Ok((None, Box::new(whole))),
    };
    let unpacked = Unpacked {
        inner,
        name,
        packed: position,
        unpacked: 0,
    };
    Ok((Some(name), Box::new(unpacked)))
}

/// Fills the buffer, or as much of it as there is.
fn read_up_to(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut held = 0;
    while held < buffer.len() {
        match file.read(&mut buffer[held..]) {
            Ok(0) => break,
            Ok(read) => held += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(held)
}

/// The output of a decoder. Its errors say where, and its size is bounded.
struct Unpacked<'a> {
    inner: Box<dyn Read + Send + 'a>,
    name: &'static str,
    packed: Position,
    unpacked: u64,
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self
            .inner
            .read(buffer)
            .map_err(|error| self.explain(&error))?;
        self.unpacked += read as u64;
        let packed = self.packed.load(Ordering::Relaxed);
        if self.unpacked > RATIO_FROM_OCTETS && self.unpacked / RATIO_MAX > packed {
            return Err(self.explain(&io::Error::other(format!(
                "unpacks to over {RATIO_MAX} times its size, as no routing table does"
            ))));
        }
        Ok(read)
    }
}

impl Unpacked<'_> {
    fn explain(&self, error: &io::Error) -> io::Error {
        if error.raw_os_error().is_some() {
            return io::Error::new(error.kind(), error.to_string());
        }
        let what = if error.kind() == io::ErrorKind::UnexpectedEof {
            "cut off".to_owned()
        } else {
            error.to_string()
        };
        let (name, packed) = (self.name, self.packed.load(Ordering::Relaxed));
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{name} data damaged in the first {packed} octets of the file: {what}"),
        )
    }
}

#[cfg(test)]
mod tests;
