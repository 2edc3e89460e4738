//! All tests of this crate that stand outside its code, as one program: linked once.

mod back_to_back;
mod bad_input;
mod calibrate;
mod campaign;
#[cfg(feature = "measure")]
mod campaign_plans;
mod compare;
#[cfg(feature = "measure")]
mod compare_series;
mod cores;
mod doctor;
mod explain;
mod external;
mod fib;
mod fib_scale;
mod generate;
mod help;
mod lasting;
mod latency;
mod limits;
mod loss;
mod one_run;
mod profiles;
mod program;
mod records;
mod recovery;
mod report;
mod reset;
mod rfc2544;
mod safety;
mod show;
mod simulate;
mod table;
mod throughput;
#[cfg(feature = "measure")]
mod top;
mod trial;
mod tune;
mod tune_apply;
mod tune_beds;
#[cfg(feature = "measure")]
mod tune_systemd;
mod tutorial;
mod without_lab;
