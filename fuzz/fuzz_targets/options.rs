#![no_main]

cct_fuzz::target!(OPTIONS);
