//! Values of the library that are owned here, and their way to and from the project's codec.
//!
//! Structures are not built field by field: their binary encoding is what both sides know.

use std::ffi::c_void;

use open62541_sys as ua;
use uaforge_codec::{Decode, Encode, NodeId, StatusCode, Structure, TypeKey};
use uaforge_types::status;

use crate::interop::{decode, encode};

/// A kind of value that the library knows.
#[derive(Clone, Copy)]
pub struct Kind(*const ua::UA_DataType);

impl Kind {
    /// The library's number of a type, such as `UA_TYPES_VARIANT`.
    pub fn of(number: u32) -> Self {
        let first = (&raw const ua::UA_TYPES).cast::<ua::UA_DataType>();
        assert!(number < ua::UA_TYPES_COUNT, "the library has no type {number}");
        // SAFETY: UA_TYPES is a table of UA_TYPES_COUNT descriptions that the library never changes.
        Self(unsafe { first.add(number as usize) })
    }

    /// The type of a structure of the base model.
    pub fn of_structure<T: Structure>() -> Option<Self> {
        let TypeKey { id, .. } = T::DESCRIPTOR.data_type;
        let id =
            Owned::new(Self::of(ua::UA_TYPES_NODEID), &NodeId::from(id.in_namespace(0).to_owned())).ok()?;
        // SAFETY: the pointer is to a NodeId that lives until the end of this function.
        let found = unsafe { ua::UA_findDataType(id.as_ptr().cast()) };
        (!found.is_null()).then_some(Self(found))
    }

    /// The description, as the library's functions take it.
    pub fn as_ptr(self) -> *const ua::UA_DataType {
        self.0
    }

    fn size(self) -> usize {
        // SAFETY: `self.0` points into UA_TYPES.
        usize::from(unsafe { (*self.0).memSize() } as u16)
    }
}

/// A value on the library's heap.
pub struct Owned {
    kind: Kind,
    value: *mut c_void,
}

impl Owned {
    /// The empty value of a kind.
    pub fn empty(kind: Kind) -> Self {
        // SAFETY: the kind is one of the library's own; it gives zeroed memory of its size.
        let value = unsafe { ua::UA_new(kind.as_ptr()) };
        assert!(!value.is_null(), "the library has no memory for {} bytes", kind.size());
        Self { kind, value }
    }

    /// The library's form of a value.
    pub fn new(kind: Kind, value: &impl Encode) -> Result<Self, String> {
        Self::from_bytes(kind, &encode(value).map_err(|error| error.to_string())?)
    }

    /// What the library makes of an encoded value.
    pub fn from_bytes(kind: Kind, bytes: &[u8]) -> Result<Self, String> {
        let owned = Self::empty(kind);
        let input = borrowed(bytes);
        // SAFETY: `input` borrows `bytes` for the call only and is not written to; `owned.value` is a
        // value of `kind`.
        let code = unsafe { ua::UA_decodeBinary(&input, owned.value, kind.as_ptr(), std::ptr::null_mut()) };
        good(code).map_err(|status| format!("the library cannot decode: {status}"))?;
        Ok(owned)
    }

    /// The project's form of the value.
    pub fn get<T: Decode>(&self) -> Result<T, String> {
        // SAFETY: `self.value` is a value of `self.kind`.
        unsafe { get(self.value, self.kind) }
    }

    /// The value, which stays owned here.
    pub fn as_ptr(&self) -> *const c_void {
        self.value
    }

    /// The value, for functions that fill it.
    pub fn as_mut_ptr(&mut self) -> *mut c_void {
        self.value
    }

    /// A bitwise copy, for functions of the library that take structures by value without owning them.
    ///
    /// # Safety
    /// `T` is the C structure of the value's kind, and the copy is not used longer than `self`.
    pub unsafe fn copy<T>(&self) -> T {
        assert_eq!(size_of::<T>(), self.kind.size(), "not the structure of this value");
        // SAFETY: the caller vouches for the type.
        unsafe { self.value.cast::<T>().read() }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the value came from UA_new and is given back once.
        unsafe { ua::UA_delete(self.value, self.kind.as_ptr()) }
    }
}

/// The project's form of a value of the library.
///
/// # Safety
/// `value` points to a value of `kind`.
pub unsafe fn get<T: Decode>(value: *const c_void, kind: Kind) -> Result<T, String> {
    let mut output = ua::UA_ByteString { length: 0, data: std::ptr::null_mut() };
    // SAFETY: the caller vouches for `value`; an empty output lets the library take memory for it.
    let code = unsafe { ua::UA_encodeBinary(value, kind.as_ptr(), &mut output, std::ptr::null_mut()) };
    let bytes = match good(code) {
        // SAFETY: the library filled `length` bytes at `data`.
        Ok(()) if output.length > 0 => unsafe { std::slice::from_raw_parts(output.data, output.length) },
        Ok(()) => &[],
        Err(status) => return Err(format!("the library cannot encode: {status}")),
    };
    let value = decode(bytes).map_err(|error| error.to_string());
    // SAFETY: the bytes are the library's own and are not used any more.
    unsafe { ua::UA_clear((&raw mut output).cast(), Kind::of(ua::UA_TYPES_BYTESTRING).as_ptr()) };
    value
}

/// A string of the library that borrows.
pub fn borrowed(bytes: &[u8]) -> ua::UA_String {
    ua::UA_String { length: bytes.len(), data: bytes.as_ptr().cast_mut() }
}

/// A status code of the library as an error.
pub fn good(code: ua::UA_StatusCode) -> Result<(), String> {
    match StatusCode(code) {
        status if status.is_bad() => {
            Err(status::name(status).map_or_else(|| status.to_string(), str::to_owned))
        }
        _ => Ok(()),
    }
}
