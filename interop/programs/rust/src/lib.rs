//! What the client programs share: the records, the verbs, the object at the end. Each library is one file in `bin/`.

pub mod endurance;
pub mod library;
pub mod program;
pub mod promise;
pub mod report;
pub mod transactions;
pub mod until;
pub mod verbs;

pub type Failure = Box<dyn std::error::Error + Send + Sync>;
pub type Result<T> = std::result::Result<T, Failure>;
