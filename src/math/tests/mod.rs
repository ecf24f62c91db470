//! Checks of the arithmetic against laws and known values.

mod basics;
