//! The raw file of a record, packed to stand in the page as a link that downloads it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::fmt;
use std::io::{self, BufRead, Write};
use std::rc::Rc;

/// Opens a raw file. It is read only when the page knows what room it has.
#[derive(Clone)]
pub struct Raw(Rc<dyn Fn() -> io::Result<Box<dyn BufRead>>>);

impl fmt::Debug for Raw {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Raw")
    }
}

/// A raw file that was read.
#[derive(Clone, Debug)]
pub struct Packed {
    /// Its size, octets.
    pub octets: u64,
    /// Its SHA-256, as `sha256sum` prints it.
    pub sha256: String,
    /// A data link to all of it, in gzip's format; `None` where that is too large for the page.
    pub link: Option<String>,
}

impl Raw {
    /// Of what `open` opens.
    pub fn new(open: impl Fn() -> io::Result<Box<dyn BufRead>> + 'static) -> Self {
        Self(Rc::new(open))
    }

    /// Reads the file. Its link takes at most `room` octets. Packing stops once it would take more.
    ///
    /// # Errors
    /// Those of opening and reading.
    pub fn pack(&self, room: usize) -> io::Result<Packed> {
        let mut reader = (self.0)()?;
        let fits = |packed: &[u8]| packed.len().div_ceil(3) * 4 + 64 <= room;
        let mut packer = Some(GzEncoder::new(Vec::new(), Compression::default()));
        let (mut octets, mut hash) = (0, Sha256::new());
        loop {
            let part = reader.fill_buf()?;
            let length = part.len();
            if length == 0 {
                break;
            }
            octets += length as u64;
            hash.update(part);
            if let Some(packing) = &mut packer {
                packing.write_all(part)?;
            }
            packer = packer.filter(|packing| fits(packing.get_ref()));
            reader.consume(length);
        }
        let packed = packer.map(GzEncoder::finish).transpose()?;
        let packed = packed.filter(|packed| fits(packed));
        let link = |packed| format!("data:application/gzip;base64,{}", STANDARD.encode(packed));
        Ok(Packed {
            octets,
            sha256: hash
                .finalize()
                .iter()
                .map(|octet| format!("{octet:02x}"))
                .collect(),
            link: packed.map(link),
        })
    }
}
