//! The size of a file is a UInt64.

use uaforge::ns0::server::FileTypeHandle;

fn size(file: &FileTypeHandle) {
    file.size().set("12 bytes");
}

fn main() {}
