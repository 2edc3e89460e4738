//! TCP connections of the calling thread's network namespace (`/proc/net/tcp`, `/proc/net/tcp6`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::error::{Error, Result};

/// `TCP_ESTABLISHED` (`include/net/tcp_states.h`).
const ESTABLISHED: &str = "01";

/// Addresses of an established connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// The address here.
    pub local: IpAddr,
    /// The address there.
    pub remote: IpAddr,
}

/// All established connections.
///
/// # Errors
/// /proc cannot be read.
pub fn established() -> Result<Vec<Connection>> {
    let mut found = Vec::new();
    for table in ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"] {
        match std::fs::read_to_string(table) {
            Ok(text) => found.extend(text.lines().skip(1).filter_map(parse)),
            // A kernel without IPv6.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(Error::from_io("read connections from", table, &e)),
        }
    }
    Ok(found)
}

/// A line: number, local, remote, state, ...
fn parse(line: &str) -> Option<Connection> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let (local, remote) = (address(words.next()?)?, address(words.next()?)?);
    (words.next()? == ESTABLISHED).then_some(Connection { local, remote })
}

/// `0100007F:1F90`: 32-bit words as the machine has them, then the port.
fn address(text: &str) -> Option<IpAddr> {
    let (digits, _port) = text.split_once(':')?;
    let word = |at: usize| {
        let word = u32::from_str_radix(digits.get(at..at + 8)?, 16).ok()?;
        Some(word.to_ne_bytes())
    };
    match digits.len() {
        8 => Some(Ipv4Addr::from(word(0)?).into()),
        32 => {
            let mut octets = [0; 16];
            for (place, at) in octets.chunks_mut(4).zip((0..32).step_by(8)) {
                place.copy_from_slice(&word(at)?);
            }
            Some(Ipv6Addr::from(octets).to_canonical())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn connections_are_found_until_they_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let about = listener.local_addr().unwrap();
        let _one = TcpStream::connect(about).unwrap();
        let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let found = established().unwrap();
        assert!(found.contains(&Connection {
            local: here,
            remote: here
        }));
    }

    #[test]
    fn only_established_connections_count() {
        if u32::from_ne_bytes([1, 0, 0, 0]) != 1 {
            return;
        }
        let line = |state: &str| {
            format!(
                "  0: 0A00020F:0016 0202000A:D431 {state} 00000000:00000000 00:00000000 00000000"
            )
        };
        let found = parse(&line("01")).unwrap();
        assert_eq!(found.remote, IpAddr::V4(Ipv4Addr::new(10, 0, 2, 2)));
        assert_eq!(parse(&line("0A")), None);
        let mapped = "0000000000000000FFFF00000202000A:0016";
        assert_eq!(address(mapped), Some("10.0.2.2".parse().unwrap()));
        assert_eq!(address("garbage"), None);
    }
}
