//! A stream of octets with a window on the next ones. The window asked for bounds the memory.

use std::io::{self, Read};

/// Octets asked for at a time.
const CHUNK: usize = 256 << 10;

/// A reader with a window.
pub(super) struct Stream<'a> {
    inner: Box<dyn Read + Send + 'a>,
    /// `buffer[start..end]` is the window; behind it there is room.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Octets before the window.
    offset: u64,
    /// Why there are no more octets: the end, or an error that each later request for more returns.
    ended: Option<Option<io::Error>>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(inner: Box<dyn Read + Send + 'a>) -> Self {
        Self {
            inner,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            offset: 0,
            ended: None,
        }
    }

    /// The next octets: at least `wanted` of them, or all there are before the end. They stay until consumed.
    ///
    /// # Errors
    /// The source failed before `wanted` octets; a request for fewer still gets the octets before the failure.
    pub(super) fn window(&mut self, wanted: usize) -> io::Result<&[u8]> {
        while self.held() < wanted {
            match &self.ended {
                None => self.fill(),
                Some(None) => break,
                Some(Some(error)) => return Err(io::Error::new(error.kind(), error.to_string())),
            }
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// What is held, without reading on.
    pub(super) fn held(&self) -> usize {
        self.end - self.start
    }

    /// Octets consumed so far.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Leaves octets of the window behind.
    pub(super) fn consume(&mut self, octets: usize) {
        let octets = octets.min(self.held());
        self.start += octets;
        self.offset += octets as u64;
    }

    fn fill(&mut self) {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.held());
        if self.buffer.len() - self.end < CHUNK {
            // Zeroed pages from the kernel, not octets written one by one.
            let mut larger = vec![0; (self.buffer.len() * 2).max(self.end + CHUNK)];
            larger[..self.end].copy_from_slice(&self.buffer[..self.end]);
            self.buffer = larger;
        }
        let (read, ended) = loop {
            match self.inner.read(&mut self.buffer[self.end..]) {
                Ok(0) => break (0, Some(None)),
                Ok(read) => break (read, None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break (0, Some(Some(error))),
            }
        };
        self.ended = ended;
        self.end += read;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one octet at a time, then fails or ends.
    struct Dripping(Vec<u8>, bool);

    impl Read for Dripping {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return if self.1 {
                    Err(io::ErrorKind::InvalidData.into())
                } else {
                    Ok(0)
                };
            }
            buffer[0] = self.0.remove(0);
            Ok(1)
        }
    }

    #[test]
    fn a_window_is_what_was_asked_for_or_all_there_is() {
        let mut stream = Stream::new(Box::new(Dripping(vec![1, 2, 3, 4, 5], false)));
        assert_eq!(stream.window(2).expect("two"), [1, 2]);
        stream.consume(1);
        assert_eq!(stream.window(3).expect("three"), [2, 3, 4]);
        assert_eq!(stream.window(9).expect("the end"), [2, 3, 4, 5]);
        stream.consume(9);
        assert_eq!((stream.offset(), stream.held()), (5, 0));
    }

    #[test]
    fn what_came_before_a_failure_can_be_had() {
        let mut stream = Stream::new(Box::new(Dripping(vec![1, 2, 3], true)));
        assert!(stream.window(4).is_err());
        assert_eq!(stream.window(3).expect("held"), [1, 2, 3]);
        stream.consume(2);
        assert!(stream.window(2).is_err() && stream.window(9).is_err());
    }
}
