//! The raw file of a record, packed to stand in the page as a link that downloads it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, BufRead, Write};

/// Packed files above this are not kept, octets: a page with one is slow to open on a phone.
const KEPT: usize = 4 << 20;

/// Files above this are not packed at all, octets: it takes seconds.
const PACKED: u64 = 256 << 20;

/// A raw file.
#[derive(Clone, Debug)]
pub struct Raw {
    /// Its size, octets.
    pub octets: u64,
    /// All of it in gzip's format; `None` where that is too large for a page.
    packed: Option<Vec<u8>>,
}

impl Raw {
    /// Packs a file while it is read.
    ///
    /// # Errors
    /// The reader's own.
    pub fn pack(mut reader: impl BufRead) -> io::Result<Self> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        let mut octets = 0;
        loop {
            let part = reader.fill_buf()?;
            let length = part.len();
            if length == 0 {
                break;
            }
            octets += length as u64;
            if packer.get_ref().len() <= KEPT && octets <= PACKED {
                packer.write_all(part)?;
            }
            reader.consume(length);
        }
        let packed = packer.finish()?;
        Ok(Self {
            octets,
            packed: (packed.len() <= KEPT && octets <= PACKED).then_some(packed),
        })
    }

    /// A data link of at most `room` octets. `None` where it would take more.
    #[must_use]
    pub fn link(&self, room: usize) -> Option<String> {
        let packed = self.packed.as_ref()?;
        let fits = packed.len() / 3 * 4 + 64 <= room;
        fits.then(|| format!("data:application/gzip;base64,{}", STANDARD.encode(packed)))
    }
}
