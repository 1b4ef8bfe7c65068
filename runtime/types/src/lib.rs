//! Generated data types, ids, status codes and services of the OPC UA base model.
