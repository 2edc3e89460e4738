const TABLE: [Row; 32] = [
    Row {
        preset: Quick,
        router: "ideal",
        ends: "ndr: 777.0 kfps .. 784.8 kfps by dut, loss 0.000 %; 6 trials, 0 voided, 6 s",
    },
    Row {
        preset: Quick,
        router: "above the tester's ceiling",
        ends: "ndr: 1.600 Mfps .. none by tester, loss 0.000 % (no load was too high for the DUT); 1 trials, 0 voided, 1 s",
    },
    Row {
        preset: Quick,
        router: "below the minimum",
        ends: "ndr: none down to 10.0 kfps (no load was low enough for the DUT); 3 trials, 0 voided, 3 s",
    },
    Row {
        preset: Quick,
        router: "just above the minimum",
        ends: "ndr: 10.5 kfps .. 10.6 kfps by dut, loss 0.000 %; 6 trials, 0 voided, 6 s",
    },
    Row {
        preset: Quick,
        router: "a ring of 4096",
        ends: "ndr: 781.1 kfps .. 789.0 kfps by dut, loss 0.000 %; 6 trials, 0 voided, 6 s",
    },
    Row {
        preset: Quick,
        router: "noise of 5 %",
        ends: "ndr: 756.8 kfps .. 764.4 kfps by dut, loss 0.000 %; 6 trials, 0 voided, 6 s",
    },
    Row {
        preset: Quick,
        router: "1 frame in 10 million lost",
        ends: "ndr: 777.0 kfps .. 784.8 kfps by dut, loss 0.000 %; 6 trials, 0 voided, 6 s",
    },
    Row {
        preset: Quick,
        router: "1 frame in a million lost",
        ends: "ndr: 777.0 kfps .. 784.8 kfps by dut, loss 0.000 %; 6 trials, 0 voided, 6 s",
    },
    Row {
        preset: Quick,
        router: "the machine stalls in 3 of 10 trials",
        ends: "ndr: 781.1 kfps .. 789.0 kfps by dut, loss 0.000 %; 8 trials, 2 voided, 8 s",
    },
    Row {
        preset: Quick,
        router: "the machine stalls in 9 of 10 trials",
        ends: "ndr: more than half of the trials were disturbed, the last because CPU 1 stood still for 30 ms (bound 10 ms): measure when the machine is quieter (no load was low enough for the DUT); 19 trials, 16 voided, 19 s",
    },
    Row {
        preset: Quick,
        router: "the router pauses unseen in 2 of 10 trials",
        ends: "ndr: 781.1 kfps .. 789.0 kfps by dut, loss 0.000 %; 6 trials, 0 voided, 6 s",
    },
    Row {
        preset: Quick,
        router: "a tester that ends at 1 Mfps",
        ends: "ndr: 1.000 Mfps .. none by tester, loss 0.000 % (no load was too high for the DUT); 13 trials, 0 voided, 13 s",
    },
    Row {
        preset: Quick,
        router: "a tester that ends at 1 Mfps, a weaker router",
        ends: "ndr: 777.0 kfps .. 784.8 kfps by dut, loss 0.000 %; 8 trials, 0 voided, 8 s",
    },
    Row {
        preset: Quick,
        router: "a tester that ends below the minimum",
        ends: "ndr: the lowest load, 10.0 kfps, could not be offered: the tester left 5000 of 10000 frames unsent (50.00 %) (no load was low enough for the DUT); 6 trials, 0 voided, 6 s",
    },
    Row {
        preset: Csit,
        router: "ideal",
        ends: "ndr: 777.0 kfps .. 780.9 kfps by dut, loss 0.000 %; pdr 0.5 %: 777.0 kfps .. 780.9 kfps by dut, loss 0.000 %; 27 trials, 0 voided, 27 s",
    },
    Row {
        preset: Csit,
        router: "above the tester's ceiling",
        ends: "ndr: 1.600 Mfps .. none by tester, loss 0.000 % (no load was too high for the DUT); pdr 0.5 %: 1.600 Mfps .. none by tester, loss 0.000 % (no load was too high for the DUT); 11 trials, 0 voided, 11 s",
    },
    Row {
        preset: Csit,
        router: "below the minimum",
        ends: "ndr: none down to 10.0 kfps (no load was low enough for the DUT); pdr 0.5 %: none down to 10.0 kfps (no load was low enough for the DUT); 12 trials, 0 voided, 12 s",
    },
    Row {
        preset: Csit,
        router: "a ring of 4096",
        ends: "ndr: 781.1 kfps .. 785.0 kfps by dut, loss 0.000 %; pdr 0.5 %: 785.0 kfps .. 789.0 kfps by dut, loss 0.500 %; 35 trials, 0 voided, 35 s",
    },
    Row {
        preset: Csit,
        router: "noise of 5 %",
        ends: "ndr: 753.0 kfps .. 756.8 kfps by dut, loss 0.000 %; pdr 0.5 %: 760.6 kfps .. 764.4 kfps by dut, loss 0.459 %; 138 trials, 0 voided, 138 s",
    },
    Row {
        preset: Csit,
        router: "1 frame in a million lost",
        ends: "ndr: 748.0 kfps .. 751.0 kfps by dut, loss 0.000 %; pdr 0.5 %: 777.0 kfps .. 780.9 kfps by dut, loss 0.000 %; 96 trials, 0 voided, 96 s",
    },
    Row {
        preset: Csit,
        router: "the machine stalls in 3 of 10 trials",
        ends: "ndr: 781.1 kfps .. 785.0 kfps by dut, loss 0.000 %; pdr 0.5 %: 785.0 kfps .. 789.0 kfps by dut, loss 0.500 %; 46 trials, 11 voided, 46 s",
    },
    Row {
        preset: Csit,
        router: "the router pauses unseen in 2 of 10 trials",
        ends: "ndr: 781.1 kfps .. 785.0 kfps by dut, loss 0.000 %; pdr 0.5 %: 785.0 kfps .. 789.0 kfps by dut, loss 0.500 %; 37 trials, 0 voided, 37 s",
    },
    Row {
        preset: Csit,
        router: "a tester that ends at 1 Mfps",
        ends: "ndr: 1.000 Mfps .. none by tester, loss 0.000 % (no load was too high for the DUT); pdr 0.5 %: 1.000 Mfps .. none by tester, loss 0.000 % (no load was too high for the DUT); 23 trials, 0 voided, 23 s",
    },
    Row {
        preset: Rfc2544,
        router: "ideal",
        ends: "ndr: 777.0 kfps .. 784.8 kfps by dut, loss 0.000 %; 7 trials, 0 voided, 138 s",
    },
    Row {
        preset: Rfc2544,
        router: "above the tester's ceiling",
        ends: "ndr: 1.600 Mfps .. none by tester, loss 0.000 % (no load was too high for the DUT); 3 trials, 0 voided, 69 s",
    },
    Row {
        preset: Rfc2544,
        router: "below the minimum",
        ends: "ndr: none down to 10.0 kfps (no load was low enough for the DUT); 2 trials, 0 voided, 2 s",
    },
    Row {
        preset: Rfc2544,
        router: "a ring of 4096",
        ends: "ndr: 773.3 kfps .. 781.1 kfps by dut, loss 0.000 %; 7 trials, 0 voided, 86 s",
    },
    Row {
        preset: Rfc2544,
        router: "noise of 5 %",
        ends: "ndr: 734.3 kfps .. 741.7 kfps by dut, loss 0.000 %; 9 trials, 0 voided, 102 s",
    },
    Row {
        preset: Rfc2544,
        router: "1 frame in 10 million lost",
        ends: "ndr: 139.3 kfps .. 140.7 kfps by dut, loss 0.000 %; 22 trials, 0 voided, 1038 s",
    },
    Row {
        preset: Rfc2544,
        router: "the machine stalls in 3 of 10 trials",
        ends: "ndr: 773.3 kfps .. 781.1 kfps by dut, loss 0.000 %; 9 trials, 2 voided, 102 s",
    },
    Row {
        preset: Rfc2544,
        router: "the router pauses unseen in 2 of 10 trials",
        ends: "ndr: 773.3 kfps .. 781.1 kfps by dut, loss 0.000 %; 7 trials, 0 voided, 86 s",
    },
    Row {
        preset: Rfc2544,
        router: "a tester that ends at 1 Mfps",
        ends: "ndr: 1.000 Mfps .. none by tester, loss 0.000 % (no load was too high for the DUT); 15 trials, 0 voided, 278 s",
    },
];
