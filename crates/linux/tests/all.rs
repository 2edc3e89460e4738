//! All tests of this crate that stand outside its code, as one program: linked once.

mod clock;
mod interrupt;
mod kthreads;
mod links;
mod moving;
mod netns;
mod packet;
mod routes;
mod scratch;
mod setting;
mod spawn;
mod tc;
