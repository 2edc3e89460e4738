use super::*;
use crate::tests::net;
use ipnet::Ipv4Net;

fn table(prefixes: &[&str]) -> Table {
    Table::from_prefixes(prefixes.iter().map(|prefix| net(prefix)))
}

fn listed(table: &Table) -> Vec<String> {
    table.iter().map(|prefix| prefix.to_string()).collect()
}

/// Every /24 of 16.0.0.0/4: no martians there.
fn many(prefixes: u32) -> Table {
    let all = (0..prefixes).map(|host| Ipv4Net::new((0x1000_0000 + (host << 8)).into(), 24));
    Table::from_prefixes(all.map(|prefix| prefix.expect("a length").into()))
}

#[test]
fn each_class_is_left_out_counted_and_named() {
    let given = table(&[
        "0.0.0.0/0",
        "::/0",
        "10.0.0.0/8",
        "2001:db8::/32",
        "5.6.7.0/24",
        "5.6.7.128/25",
        "5.6.0.0/16",
        "9.9.0.0/16",
        "9.9.9.9/32",
        "9.8.0.0/16",
        "20.0.0.0/8",
        "20.1.0.0/16",
        "21.0.0.0/8",
        "2a00::/32",
    ]);
    let options = ChooseOptions {
        local: vec![net("5.6.7.0/24")],
        logged_in_from: vec!["9.9.9.9".parse().expect("an address")],
        exclude: vec![net("20.1.2.0/24"), net("21.0.0.0/7")],
        ..ChooseOptions::default()
    };
    let chosen = choose(given, &options);
    assert_eq!(
        listed(&chosen.table),
        ["5.6.0.0/16", "9.8.0.0/16", "2a00::/32"]
    );
    let counted: Vec<(Class, u64, u64)> = chosen
        .left_out
        .iter()
        .map(|(class, count)| (class, count.v4, count.v6))
        .collect();
    assert_eq!(
        counted,
        [
            (Class::DefaultRoute, 1, 1),
            (Class::Martian, 1, 1),
            (Class::Local, 2, 0),
            (Class::LoggedInFrom, 2, 0),
            (Class::Excluded, 3, 0)
        ]
    );
    assert_eq!(chosen.left_out.total().total(), 11);
}

#[test]
fn what_is_kept_on_wish_is_kept() {
    let all = ["0.0.0.0/0", "10.0.0.0/8", "2a00::/32", "ff00::/8"];
    let options = ChooseOptions {
        keep_default_route: true,
        keep_martians: true,
        ..ChooseOptions::default()
    };
    assert_eq!(listed(&choose(table(&all), &options).table), all);
    let options = ChooseOptions {
        v4: false,
        ..options
    };
    let chosen = choose(table(&all), &options);
    assert_eq!(listed(&chosen.table), all[2..]);
    assert_eq!(
        chosen.left_out.count(Class::Family),
        Families { v4: 2, v6: 0 }
    );
}

#[test]
fn samples_have_their_size_follow_their_seed_and_nest() {
    let sample = |prefixes, seed| {
        let options = ChooseOptions {
            sample: Some(Sample { prefixes, seed }),
            ..ChooseOptions::default()
        };
        choose(many(10_000), &options)
    };
    let (small, large) = (sample(100, 1), sample(1000, 1));
    assert_eq!((small.table.len(), large.table.len()), (100, 1000));
    assert_eq!(small.left_out.count(Class::NotSampled).total(), 9_900);
    assert!(
        small
            .table
            .iter()
            .all(|prefix| large.table.iter().any(|other| other == prefix))
    );
    assert_eq!(small, sample(100, 1));
    assert_ne!(small.table, sample(100, 2).table);
    assert_eq!(sample(0, 1).table, Table::default());
    assert_eq!(sample(20_000, 1).table, many(10_000));
    // Uniform: of 1000 drawn, 500 lie in the lower half, give or take five standard deviations.
    let half: IpNet = many(10_000).v4[5_000].into();
    let lower = large.table.iter().filter(|prefix| *prefix < half).count();
    assert!(
        (421..=579).contains(&lower),
        "{lower} of 1000 in the lower half"
    );
}

#[test]
fn the_maximum_cuts_in_order_and_after_the_sample() {
    let options = ChooseOptions {
        max: Some(3),
        ..ChooseOptions::default()
    };
    let chosen = choose(
        table(&["1.0.0.0/8", "2.0.0.0/8", "2a00::/32", "2a01::/32"]),
        &options,
    );
    assert_eq!(
        listed(&chosen.table),
        ["1.0.0.0/8", "2.0.0.0/8", "2a00::/32"]
    );
    assert_eq!(
        chosen.left_out.count(Class::BeyondMaximum),
        Families { v4: 0, v6: 1 }
    );
    let options = ChooseOptions {
        sample: Some(Sample {
            prefixes: 50,
            seed: 3,
        }),
        max: Some(20),
        ..ChooseOptions::default()
    };
    let chosen = choose(many(100), &options);
    assert_eq!(chosen.table.len(), 20);
    assert_eq!(chosen.left_out.count(Class::NotSampled).v4, 50);
    assert_eq!(chosen.left_out.count(Class::BeyondMaximum).v4, 30);
}
