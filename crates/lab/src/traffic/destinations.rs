//! Where frames go beyond the DUT: addresses drawn from a table, as the sender's list and the receiver need
//! them. The draw itself is `mpps_method::destinations`.

use ipnet::{Ipv4Net, Ipv6Net};
use mpps_method::destinations::{Address, Draw, Exclusion, Space, TooFew, block_offset};
use mpps_tables::{Table, martians};
use std::sync::Arc;

/// Drawn destinations.
#[derive(Clone, Debug)]
pub struct Destinations {
    /// What they were drawn from, for people: a file's name, or a prefix.
    pub from: String,
    /// Prefixes of the family in it.
    pub prefixes: usize,
    /// How.
    pub draw: Draw,
    /// Different destinations, all of which frames go to if enough of them are sent.
    pub distinct: u64,
    /// The addresses in the order frames take them.
    pub list: Arc<DestinationList>,
    /// Bits of the addresses within a block; 0: each entry of the list is one address.
    pub block_bits: u32,
    /// Where the list repeats addresses: which flow is at each place.
    pub place_flow: Option<Arc<Vec<u32>>>,
}

/// Addresses of one family, as numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DestinationList {
    /// IPv4.
    V4(Vec<u32>),
    /// IPv6.
    V6(Vec<u128>),
}

impl DestinationList {
    /// Entries.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::V4(list) => list.len(),
            Self::V6(list) => list.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What to draw.
#[derive(Clone, Copy, Debug)]
pub struct DrawPlan {
    /// How.
    pub draw: Draw,
    /// How many different ones.
    pub count: u64,
    /// Of IPv6 instead of IPv4.
    pub ipv6: bool,
    /// Flows that take turns: a list that repeats addresses has a whole number of rounds of them.
    pub flows: u32,
    /// Decides which.
    pub seed: u64,
}

/// No router forwards there, whoever has a route: "this network", loopback, multicast, reserved, and the networks of the
/// bed's own addresses with its broadcast address. What is left of 198.18.0.0/15 is a martian, which only a table of
/// `--networks` holds.
const NEVER_V4: [(u32, u8); 7] = [
    (0, 8),
    (127 << 24, 8),
    (224 << 24, 4),
    (240 << 24, 4),
    (0xc612_0000, 16),
    (0xc613_0000, 17),
    (0xc613_ffff, 32),
];
/// The same for IPv6: unspecified and loopback, link local, multicast, the bed's.
const NEVER_V6: [(u128, u8); 4] = [
    (0, 127),
    (0xfe80 << 112, 10),
    (0xff << 120, 8),
    (0x2001_0002 << 96, 49),
];

impl Destinations {
    /// Draws destinations from a table. `from` says for people where the table came from.
    ///
    /// Martian addresses within a shorter prefix are left out; those of a prefix that is martian itself are
    /// not, for whoever kept it in the table means it. The bed's own networks, and what no router
    /// forwards to, are always left out.
    ///
    /// # Errors
    /// The table has fewer of them.
    pub fn draw(table: &Table, from: &str, wish: &DrawPlan) -> Result<Self, TooFew> {
        if wish.ipv6 {
            let net = |net: Ipv6Net| (u128::from(net.network()), net.prefix_len());
            let own: Vec<_> = table.v6.iter().copied().map(net).collect();
            let excluded = exclusions(martians::networks_v6().map(net), &NEVER_V6);
            Self::new(&own, &excluded, from, wish, DestinationList::V6)
        } else {
            let net = |net: Ipv4Net| (u32::from(net.network()), net.prefix_len());
            let own: Vec<_> = table.v4.iter().copied().map(net).collect();
            let excluded = exclusions(martians::networks_v4().map(net), &NEVER_V4);
            Self::new(&own, &excluded, from, wish, DestinationList::V4)
        }
    }

    fn new<A: Address>(
        prefixes: &[(A, u8)],
        exclusions: &[Exclusion<A>],
        from: &str,
        wish: &DrawPlan,
        family: impl Fn(Vec<A>) -> DestinationList,
    ) -> Result<Self, TooFew> {
        let space = if wish.draw == Draw::Missing {
            Space::gaps(prefixes, exclusions)
        } else {
            Space::own(prefixes, exclusions)
        };
        let drawn = wish.draw.from(space, wish.count, wish.seed)?;
        let (distinct, block_bits) = (drawn.in_use(), drawn.block_bits);
        let (list, place_flow) = match drawn.schedule {
            None => (drawn.addresses, None),
            Some(mut schedule) => {
                // Whole rounds of flows: then the place says the flow.
                let rest = schedule.len() % wish.flows.max(1) as usize;
                schedule.truncate((schedule.len() - rest).max(1));
                let address = |&place: &u32| drawn.addresses.get(place as usize).copied();
                let list = schedule.iter().filter_map(address).collect();
                (list, Some(Arc::new(flows_at(&schedule, wish.flows))))
            }
        };
        Ok(Self {
            from: from.to_owned(),
            prefixes: prefixes.len(),
            draw: wish.draw,
            distinct,
            list: Arc::new(family(list)),
            block_bits,
            place_flow,
        })
    }

    /// Places in the order of destinations: the list's, times what each block holds.
    #[must_use]
    pub fn places(&self) -> u64 {
        (self.list.len() as u64) << self.block_bits
    }

    /// Whether a trial may begin at any place: the places of a list that repeats addresses say which flow is where.
    #[must_use]
    pub const fn begins_anywhere(&self) -> bool {
        self.place_flow.is_none()
    }

    /// Entry of the list and number of times it was passed before, at a place; places go round.
    #[must_use]
    pub fn entry_and_lap(&self, place: u64) -> (u32, u32) {
        let place = place % self.places().max(1);
        let entries = (self.list.len() as u64).max(1);
        ((place % entries) as u32, (place / entries) as u32)
    }

    /// The place of an entry of the list after so many laps.
    #[must_use]
    pub fn place(&self, entry: u32, lap: u32) -> u64 {
        u64::from(lap) * self.list.len() as u64 + u64::from(entry)
    }

    /// The destination at a place, as a number; places go round.
    #[must_use]
    pub fn at(&self, place: u64, seed: u64) -> u128 {
        let entries = (self.list.len() as u64).max(1);
        let entry = (place % entries) as usize;
        let first = match self.list.as_ref() {
            DestinationList::V4(list) => list.get(entry).copied().map(u128::from),
            DestinationList::V6(list) => list.get(entry).copied(),
        };
        let offset = block_offset(place / entries, self.block_bits, seed as u32);
        first.unwrap_or(0).wrapping_add(u128::from(offset))
    }

    /// Whether the DUT must drop every frame.
    #[must_use]
    pub fn missing(&self) -> bool {
        self.draw == Draw::Missing
    }
}

fn exclusions<A: Address>(
    martians: impl Iterator<Item = (A, u8)>,
    never: &[(A, u8)],
) -> Vec<Exclusion<A>> {
    let all = |always: bool| move |prefix| Exclusion { prefix, always };
    let never = never.iter().copied().map(all(true));
    martians.map(all(false)).chain(never).collect()
}

/// Numbers the pairs of destination and flow as they first appear.
fn flows_at(schedule: &[u32], flows: u32) -> Vec<u32> {
    let mut numbers = std::collections::HashMap::new();
    let number = |(place, destination): (usize, &u32)| {
        let flow = place as u64 % u64::from(flows.max(1));
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry((*destination, flow)).or_insert(next)
    };
    schedule.iter().enumerate().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn table(prefixes: &[&str]) -> Table {
        Table::from_prefixes(prefixes.iter().map(|text| text.parse().expect("a prefix")))
    }

    fn wish(draw: Draw, count: u64) -> DrawPlan {
        DrawPlan {
            draw,
            count,
            ipv6: false,
            flows: 1,
            seed: 1,
        }
    }

    fn v4(destinations: &Destinations) -> Vec<Ipv4Addr> {
        match destinations.list.as_ref() {
            DestinationList::V4(list) => list.iter().copied().map(Ipv4Addr::from).collect(),
            DestinationList::V6(_) => panic!("IPv4 was asked for"),
        }
    }

    #[test]
    fn what_no_router_forwards_is_never_drawn() {
        let all = table(&["0.0.0.0/0"]);
        let drawn =
            Destinations::draw(&all, "all", &wish(Draw::PerAddress, 200_000)).expect("enough");
        for address in v4(&drawn) {
            let [first, second, ..] = address.octets();
            assert!(
                (1..224).contains(&first) && first != 127 && first != 10,
                "{address}"
            );
            assert!(
                first != 198 || second & 0xfe != 18,
                "{address} is the bed's"
            );
        }
        let missing = Destinations::draw(&all, "all", &wish(Draw::Missing, 1));
        assert!(
            missing
                .expect_err("no gap")
                .to_string()
                .contains("without a route")
        );
    }

    /// A router drops what goes to a broadcast address of its own network, whatever route there is.
    #[test]
    fn the_beds_broadcast_address_is_never_drawn() {
        let upper = table(&["198.19.128.0/17"]);
        let drawn = |count| Destinations::draw(&upper, "half", &wish(Draw::PerAddress, count));
        let all = drawn(32_767).expect("all others");
        assert!(!v4(&all).contains(&Ipv4Addr::new(198, 19, 255, 255)));
        assert!(drawn(32_768).is_err());
    }

    #[test]
    fn a_martian_that_somebody_kept_is_meant() {
        let private = table(&["10.1.0.0/16"]);
        let drawn =
            Destinations::draw(&private, "lab", &wish(Draw::PerPrefix, 65_536)).expect("all");
        assert!(
            v4(&drawn)
                .iter()
                .all(|address| address.octets()[..2] == [10, 1])
        );
        let beds = table(&["198.18.5.0/24"]);
        assert!(Destinations::draw(&beds, "lab", &wish(Draw::PerPrefix, 1)).is_err());
    }

    #[test]
    fn a_repeating_list_has_whole_rounds_of_flows() {
        let some = table(&["20.0.0.0/24", "30.0.0.0/24"]);
        let wish = DrawPlan {
            flows: 3,
            ..wish(Draw::Zipf(1.0), 100)
        };
        let drawn = Destinations::draw(&some, "some", &wish).expect("enough");
        let (list, flows) = (v4(&drawn), drawn.place_flow.expect("repeats"));
        assert_eq!(list.len() % 3, 0);
        assert_eq!(list.len(), flows.len());
        for one in 0..300 {
            for other in 0..300 {
                let same = list[one] == list[other] && one % 3 == other % 3;
                assert_eq!(same, flows[one] == flows[other], "{one} {other}");
            }
        }
    }
}
