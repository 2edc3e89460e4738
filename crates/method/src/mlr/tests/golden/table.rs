const TABLE: [Row; 39] = [
    Row {
        preset: Quick,
        router: "ideal",
        ends: "ndr: 777.0 kfps .. 792.9 kfps by Dut, lossless in 3 of 3, loss 0.000 %; 10 trials, 0 voided, 10 s",
    },
    Row {
        preset: Quick,
        router: "above the tester's ceiling",
        ends: "ndr: 1.600 Mfps .. none by Tester, lossless in 3 of 3, loss 0.000 % (no load was too high for the DUT); 3 trials, 0 voided, 3 s",
    },
    Row {
        preset: Quick,
        router: "below the minimum",
        ends: "ndr: none down to 10.0 kfps (no load was low enough for the DUT); 4 trials, 0 voided, 4 s",
    },
    Row {
        preset: Quick,
        router: "just above the minimum",
        ends: "ndr: 10.5 kfps .. 10.7 kfps by Dut, lossless in 3 of 3, loss 0.000 %; 10 trials, 0 voided, 10 s",
    },
    Row {
        preset: Quick,
        router: "a ring of 4096",
        ends: "ndr: 781.1 kfps .. 797.0 kfps by Dut, lossless in 3 of 3, loss 0.000 %; 10 trials, 0 voided, 10 s",
    },
    Row {
        preset: Quick,
        router: "noise of 5 %",
        ends: "ndr: 734.7 kfps .. 749.7 kfps by Dut, lossless in 3 of 3, loss 0.000 %; 16 trials, 0 voided, 16 s",
    },
    Row {
        preset: Quick,
        router: "1 frame in 10 million lost",
        ends: "ndr: 777.0 kfps .. 792.9 kfps by Dut, lossless in 3 of 3, loss 0.000 %; 10 trials, 0 voided, 10 s",
    },
    Row {
        preset: Quick,
        router: "1 frame in a million lost",
        ends: "ndr: 697.6 kfps .. 711.9 kfps by Dut, lossless in 3 of 5, loss 0.000 %; 25 trials, 0 voided, 25 s",
    },
    Row {
        preset: Quick,
        router: "the machine stalls in 3 of 10 seconds",
        ends: "ndr: 781.1 kfps .. 797.0 kfps by Dut, lossless in 3 of 3, loss 0.000 %; 13 trials, 3 voided, 13 s",
    },
    Row {
        preset: Quick,
        router: "the machine stalls in 9 of 10 seconds",
        ends: "ndr: 10.0 kfps .. none by Disturbed, lossless in 3 of 3, loss 0.000 % (no load was too high for the DUT); 75 trials, 68 voided, 75 s",
    },
    Row {
        preset: Quick,
        router: "the router pauses unseen in 2 of 10 seconds",
        ends: "ndr: 781.1 kfps .. 797.0 kfps by Dut, lossless in 3 of 4, loss 0.000 %; 11 trials, 0 voided, 11 s",
    },
    Row {
        preset: Quick,
        router: "a tester that ends at 1 Mfps",
        ends: "ndr: 1.000 Mfps .. none by Disturbed, lossless in 3 of 3, loss 0.000 % (no load was too high for the DUT); 16 trials, 0 voided, 16 s",
    },
    Row {
        preset: Quick,
        router: "a tester that ends at 1 Mfps, a weaker router",
        ends: "ndr: 777.0 kfps .. 791.2 kfps by Dut, lossless in 3 of 3, loss 0.000 %; 12 trials, 0 voided, 12 s",
    },
    Row {
        preset: Quick,
        router: "a tester that ends below the minimum",
        ends: "ndr: the lowest load, 10.0 kfps, could not be offered: the tester left 5000 of 10000 frames unsent (50.00 %) (no load was low enough for the DUT); 6 trials, 0 voided, 6 s",
    },
    Row {
        preset: Csit,
        router: "ideal",
        ends: "ndr: 777.0 kfps .. 780.9 kfps by Dut, lossless in 11 of 11, loss 0.000 %; pdr 0.5 %: 777.0 kfps .. 780.9 kfps by Dut, lossless in 11 of 11, loss 0.000 %; 27 trials, 0 voided, 27 s",
    },
    Row {
        preset: Csit,
        router: "above the tester's ceiling",
        ends: "ndr: 1.600 Mfps .. none by Tester, lossless in 11 of 11, loss 0.000 % (no load was too high for the DUT); pdr 0.5 %: 1.600 Mfps .. none by Tester, lossless in 11 of 11, loss 0.000 % (no load was too high for the DUT); 11 trials, 0 voided, 11 s",
    },
    Row {
        preset: Csit,
        router: "below the minimum",
        ends: "ndr: none down to 10.0 kfps (no load was low enough for the DUT); pdr 0.5 %: none down to 10.0 kfps (no load was low enough for the DUT); 12 trials, 0 voided, 12 s",
    },
    Row {
        preset: Csit,
        router: "a ring of 4096",
        ends: "ndr: 781.1 kfps .. 785.0 kfps by Dut, lossless in 11 of 11, loss 0.000 %; pdr 0.5 %: 785.0 kfps .. 789.0 kfps by Dut, lossless in 11 of 11, loss 0.500 %; 35 trials, 0 voided, 35 s",
    },
    Row {
        preset: Csit,
        router: "noise of 5 %",
        ends: "ndr: 755.3 kfps .. 759.1 kfps by Dut, lossless in 11 of 15, loss 0.000 %; pdr 0.5 %: 759.1 kfps .. 763.0 kfps by Dut, lossless in 11 of 19, loss 0.189 %; 61 trials, 0 voided, 61 s",
    },
    Row {
        preset: Csit,
        router: "1 frame in a million lost",
        ends: "ndr: 739.0 kfps .. 742.7 kfps by Dut, lossless in 11 of 18, loss 0.000 %; pdr 0.5 %: 777.0 kfps .. 780.9 kfps by Dut, lossless in 11 of 11, loss 0.000 %; 74 trials, 0 voided, 74 s",
    },
    Row {
        preset: Csit,
        router: "the machine stalls in 3 of 10 seconds",
        ends: "ndr: 781.1 kfps .. 785.0 kfps by Dut, lossless in 11 of 11, loss 0.000 %; pdr 0.5 %: 785.0 kfps .. 789.0 kfps by Dut, lossless in 11 of 11, loss 0.500 %; 46 trials, 11 voided, 46 s",
    },
    Row {
        preset: Csit,
        router: "the router pauses unseen in 2 of 10 seconds",
        ends: "ndr: 781.1 kfps .. 785.0 kfps by Dut, lossless in 11 of 12, loss 0.000 %; pdr 0.5 %: 785.0 kfps .. 789.0 kfps by Dut, lossless in 11 of 14, loss 0.500 %; 39 trials, 0 voided, 39 s",
    },
    Row {
        preset: Csit,
        router: "a tester that ends at 1 Mfps",
        ends: "ndr: 1.000 Mfps .. none by Disturbed, lossless in 11 of 11, loss 0.000 % (no load was too high for the DUT); pdr 0.5 %: 1.000 Mfps .. none by Disturbed, lossless in 11 of 11, loss 0.000 % (no load was too high for the DUT); 24 trials, 0 voided, 24 s",
    },
    Row {
        preset: Rfc2544,
        router: "ideal",
        ends: "ndr: 777.0 kfps .. 784.8 kfps by Dut, lossless in 1 of 1, loss 0.000 %; 7 trials, 0 voided, 138 s",
    },
    Row {
        preset: Rfc2544,
        router: "above the tester's ceiling",
        ends: "ndr: 1.600 Mfps .. none by Tester, lossless in 1 of 1, loss 0.000 % (no load was too high for the DUT); 3 trials, 0 voided, 69 s",
    },
    Row {
        preset: Rfc2544,
        router: "below the minimum",
        ends: "ndr: none down to 10.0 kfps (no load was low enough for the DUT); 2 trials, 0 voided, 2 s",
    },
    Row {
        preset: Rfc2544,
        router: "a ring of 4096",
        ends: "ndr: 773.3 kfps .. 781.1 kfps by Dut, lossless in 1 of 1, loss 0.000 %; 7 trials, 0 voided, 86 s",
    },
    Row {
        preset: Rfc2544,
        router: "noise of 5 %",
        ends: "ndr: 757.3 kfps .. 764.9 kfps by Dut, lossless in 1 of 1, loss 0.000 %; 6 trials, 0 voided, 78 s",
    },
    Row {
        preset: Rfc2544,
        router: "1 frame in 10 million lost",
        ends: "ndr: 163.6 kfps .. 165.3 kfps by Dut, lossless in 1 of 1, loss 0.000 %; 23 trials, 0 voided, 1046 s",
    },
    Row {
        preset: Rfc2544,
        router: "the machine stalls in 3 of 10 seconds",
        ends: "ndr: 773.3 kfps .. 781.1 kfps by Dut, lossless in 1 of 1, loss 0.000 %; 7 trials, 0 voided, 86 s",
    },
    Row {
        preset: Rfc2544,
        router: "the router pauses unseen in 2 of 10 seconds",
        ends: "ndr: 203.2 kfps .. 205.2 kfps by Dut, lossless in 1 of 1, loss 0.000 %; 23 trials, 0 voided, 1046 s",
    },
    Row {
        preset: Rfc2544,
        router: "a tester that ends at 1 Mfps",
        ends: "ndr: 1.000 Mfps .. none by Disturbed, lossless in 1 of 1, loss 0.000 % (no load was too high for the DUT); 16 trials, 0 voided, 338 s",
    },
    Row {
        preset: Quick,
        router: "a ring of 4096, begun at its rate",
        ends: "ndr: 769.2 kfps .. 784.9 kfps by Dut, lossless in 3 of 3, loss 0.000 %; 7 trials, 0 voided, 7 s",
    },
    Row {
        preset: Quick,
        router: "noise of 5 %, begun at its rate",
        ends: "ndr: 753.8 kfps .. 769.2 kfps by Dut, lossless in 3 of 3, loss 0.000 %; 8 trials, 0 voided, 8 s",
    },
    Row {
        preset: Quick,
        router: "loss that comes and goes with load",
        ends: "ndr: 500.1 kfps .. 630.2 kfps by Trials, lossless in 3 of 3, loss 0.000 % (no load was known to be too high by then); 25 trials, 0 voided, 25 s",
    },
    Row {
        preset: Csit,
        router: "a ring of 4096, begun at its rate",
        ends: "ndr: 780.9 kfps .. 784.8 kfps by Dut, lossless in 11 of 11, loss 0.000 %; pdr 0.5 %: 784.8 kfps .. 788.8 kfps by Dut, lossless in 11 of 11, loss 0.473 %; 40 trials, 0 voided, 40 s",
    },
    Row {
        preset: Csit,
        router: "loss that comes and goes with load",
        ends: "ndr: 546.1 kfps .. 548.8 kfps by Dut, lossless in 11 of 20, loss 0.000 %; pdr 0.5 %: 1.203 Mfps .. 1.209 Mfps by Dut, lossless in 11 of 11, loss 0.100 %; 245 trials, 0 voided, 245 s",
    },
    Row {
        preset: Rfc2544,
        router: "a ring of 4096, begun at its rate",
        ends: "ndr: 777.0 kfps .. 784.8 kfps by Dut, lossless in 1 of 1, loss 0.000 %; 4 trials, 0 voided, 70 s",
    },
    Row {
        preset: Rfc2544,
        router: "loss that comes and goes with load",
        ends: "ndr: 449.2 kfps .. 453.8 kfps by Dut, lossless in 1 of 1, loss 0.000 %; 17 trials, 0 voided, 155 s",
    },
];
