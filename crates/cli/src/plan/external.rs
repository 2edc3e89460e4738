//! `--external`: which ports, whose addresses.

use crate::args::{PortArgs, TrafficArgs};
use anyhow::{Result, bail, ensure};
use mpps_lab::bed::{Dual, DutPlan, ExternalEnd, ExternalPlan, usual_addresses};
use std::net::IpAddr;

/// What the flags put under test: a router of ours without `--external`.
pub fn dut(typed: &PortArgs, traffic: &TrafficArgs) -> Result<DutPlan> {
    let Some(pair) = &typed.external else {
        return Ok(DutPlan::Kernel);
    };
    let Some((out, back)) = pair.split_once(',') else {
        bail!("--external {pair}: give two ports, such as --external eth1,eth2");
    };
    let (out, back) = (out.trim(), back.trim());
    ensure!(
        !out.is_empty() && !back.is_empty() && !back.contains(','),
        "--external {pair}: give two ports, such as --external eth1,eth2"
    );
    ensure!(
        out != back,
        "--external {pair}: the same port twice; give one before the device and one behind it"
    );
    let [
        (mut tester_out, mut device_out),
        (mut tester_in, mut device_in),
    ] = usual_addresses();
    let ipv6 = traffic.ipv6;
    set(
        &mut tester_out,
        "--out-address",
        typed.out_address.as_deref(),
        ipv6,
    )?;
    set(
        &mut tester_in,
        "--in-address",
        typed.in_address.as_deref(),
        ipv6,
    )?;
    let (first, second) = pair_of("--dut-address", typed.dut_address.as_deref())?;
    set(&mut device_out, "--dut-address", first, ipv6)?;
    set(&mut device_in, "--dut-address", second, ipv6)?;
    let (first, second) = pair_of("--dut-mac", typed.dut_mac.as_deref())?;
    Ok(DutPlan::Device(ExternalPlan {
        out: ExternalEnd {
            port: out.to_owned(),
            tester: tester_out,
            device: device_out,
            device_mac: first.map(mac).transpose()?,
        },
        back: ExternalEnd {
            port: back.to_owned(),
            tester: tester_in,
            device: device_in,
            device_mac: second.map(mac).transpose()?,
        },
        ipv6,
        bidirectional: traffic.bidirectional,
    }))
}

/// One or two values with a comma between them.
fn pair_of<'a>(flag: &str, typed: Option<&'a str>) -> Result<(Option<&'a str>, Option<&'a str>)> {
    let mut values = typed
        .into_iter()
        .flat_map(|text| text.split(','))
        .map(str::trim);
    let pair = (values.next(), values.next());
    ensure!(
        values.next().is_none(),
        "{flag} {}: give one value for OUT and one for IN",
        typed.unwrap_or_default()
    );
    Ok(pair)
}

fn set(place: &mut Dual, flag: &str, typed: Option<&str>, ipv6: bool) -> Result<()> {
    let Some(text) = typed else {
        return Ok(());
    };
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V4(v4)) if !ipv6 => place.v4 = v4,
        Ok(IpAddr::V6(v6)) if ipv6 => place.v6 = v6,
        Ok(_) if ipv6 => bail!("{flag} {text}: IPv6 is sent (-6), give an IPv6 address"),
        Ok(_) => bail!("{flag} {text}: IPv4 is sent, give an IPv4 address, or -6"),
        Err(_) => bail!("{flag} {text}: no address; give one such as 198.18.0.1"),
    }
    Ok(())
}

fn mac(text: &str) -> Result<[u8; 6]> {
    let octets: Vec<u8> = text
        .split(':')
        .filter_map(|octet| u8::from_str_radix(octet, 16).ok())
        .collect();
    match <[u8; 6]>::try_from(octets) {
        Ok(mac) if text.split(':').count() == 6 && mac[0] & 1 == 0 => Ok(mac),
        _ => bail!(
            "--dut-mac {text}: no Ethernet address of one port; give one such as 52:54:00:12:34:56"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ethernet_address_is_six_octets_of_one_port() {
        assert_eq!(
            mac("52:54:00:12:34:5f").expect("an address"),
            [0x52, 0x54, 0, 0x12, 0x34, 0x5f]
        );
        for bad in [
            "",
            "52:54:00:12:34",
            "52:54:00:12:34:zz",
            "52:54:00:12:34:56:78",
            "01:00:5e:00:00:01",
        ] {
            let line = mac(bad).expect_err(bad).to_string();
            assert!(line.contains("--dut-mac"), "{line}");
        }
    }

    #[test]
    fn one_or_two_values_and_no_more() {
        assert_eq!(pair_of("--dut-mac", None).expect("none"), (None, None));
        assert_eq!(
            pair_of("--dut-mac", Some("a")).expect("one"),
            (Some("a"), None)
        );
        assert_eq!(
            pair_of("--dut-mac", Some("a, b")).expect("two"),
            (Some("a"), Some("b"))
        );
        assert!(pair_of("--dut-mac", Some("a,b,c")).is_err());
    }
}
